import { apiVersionOf, defineKind } from '@openstack-operator/kube';
import { fullReference, type IssuerRef } from '../../api/issuer.ts';
import { annotations, labelsOf, retainedFor } from '../names/names.ts';
import type { Context } from './context.ts';
import type { ForeignKind } from './foreign-kinds.ts';
import type { GeneratedSecret, Service } from './service.ts';
import type { Desired } from './step.ts';

const kind = defineKind('cert-manager.io/v1', 'Certificate', 'certificates');

/** Certificates of cert-manager: what every service may state that has certificates. */
export const certificates: ForeignKind = {
  kind,
  servedBy: 'cert-manager (1.21 was checked)',
  done: { condition: 'Ready' },
  follows: 'a CertificateRequest of its name says what it waits for',
};

/** Keys of a Secret that cert-manager fills (https://cert-manager.io/docs/usage/certificate/). */
export const issuedKeys = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

/** A certificate that an issuer of cert-manager signs, and what it is for. */
export interface IssuedCertificate {
  readonly issuer: IssuerRef;
  readonly usage: 'server auth' | 'client auth';
  /** How long it is valid. */
  readonly seconds: number;
  readonly dnsNames?: readonly string[];
  /** For what has no host name. At most 64 characters (RFC 5280, ub-common-name). */
  readonly commonName?: string;
}

/** What is said of a key that the Secret does not have although its Certificate is Ready. */
export const lackingOf = ({ issuer }: IssuedCertificate): string =>
  `${fullReference(issuer).kind} ${issuer.name} does not put it there; name an issuer in tls.issuerRef that does, such as a CA issuer`;

/** A duration as Go writes it, and cert-manager with it. */
const durationOf = (seconds: number): string =>
  `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${Math.floor(seconds) % 60}s`;

/**
 * What cert-manager is asked for. It fills the Secret of the same name, which the operator makes: so that goes with the
 * resource, as cert-manager's own do not. One that cert-manager makes first is taken over.
 */
export function certificateObject(
  service: Pick<Service, 'name'>,
  { resource, namespace, name, named }: Context,
  { suffix }: Pick<GeneratedSecret, 'suffix'>,
  { issuer, usage, seconds, dnsNames, commonName }: IssuedCertificate,
): Desired {
  const labels = labelsOf(service.name, name);
  return {
    verb: 'apply',
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: named(suffix), namespace, labels },
      spec: {
        secretName: named(suffix),
        secretTemplate: { labels, annotations: { [annotations.adopt]: retainedFor(resource) } },
        duration: durationOf(seconds),
        // As those of the operator.
        renewBefore: durationOf(seconds / 3),
        privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' },
        usages: ['digital signature', usage],
        ...(dnsNames === undefined ? {} : { dnsNames }),
        ...(commonName === undefined ? {} : { commonName }),
        issuerRef: fullReference(issuer),
      },
    },
  };
}
