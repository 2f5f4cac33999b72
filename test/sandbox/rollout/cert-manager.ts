import {
  CustomResourceDefinition,
  defineKind,
  type KubeObject,
  Secret,
  type StoredObject,
  seededRandom,
  sleep,
} from '@openstack-operator/kube';
import { generateValues } from '../../../packages/operator/src/secrets/values.ts';
import type { Cloud } from './cloud.ts';
import { definition } from './definition.ts';

const group = 'cert-manager.io';
export const Certificate = defineKind(`${group}/v1`, 'Certificate', 'certificates');

/** Serves the kind of cert-manager, whatever objects of it say: what its own definition takes, test/kubernetes/foreign knows. */
export async function serveCertManager(cloud: Cloud): Promise<void> {
  const { version, kind, plural } = Certificate;
  const client = cloud.rehearsal.sandbox.client();
  await cloud.settle(client.create(CustomResourceDefinition, definition(group, version, kind, plural)));
}

/** What a Certificate asks for. */
interface Asked {
  readonly secretName: string;
  readonly secretTemplate: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
  readonly dnsNames?: readonly string[];
  readonly commonName?: string;
  readonly issuerRef: { readonly name: string };
}

/** Values of a Secret, as texts. */
type Values = Readonly<Record<string, string>>;

/** Issuers by name, and whether they put the certificate of their authority into Secrets; what has no such name is not found. */
export type Issuers = Readonly<Record<string, { readonly tellsAuthority: boolean }>>;

const issuedBy = `${group}/issuer-name`;

/**
 * Does what cert-manager does, every second: signs what is asked for and not there, or there of another issuer, and says so
 * in the Certificate.
 */
export function runCertManager(cloud: Cloud, issuers: Issuers): void {
  const client = cloud.rehearsal.sandbox.client();
  const random = seededRandom(7);
  const authorities = new Map<string, Values>();
  const make = (generators: Parameters<typeof generateValues>[0], known: Values = {}) =>
    generateValues(generators, known, { random, now: cloud.clock.now() });
  const authorityOf = (name: string): Values => {
    const key = { 'ca.key': { type: 'privateKey' } } as const;
    const certificate = {
      type: 'certificate',
      key: 'ca.key',
      commonName: name,
      seconds: 3650 * 86_400,
      authority: true,
    } as const;
    const made = authorities.get(name) ?? make({ ...key, 'ca.crt': certificate });
    authorities.set(name, made);
    return made;
  };
  const sign = ({ dnsNames = [], commonName = '', issuerRef }: Asked): Values => {
    const signedBy = { certificate: 'ca.crt', key: 'ca.key' };
    const asked = {
      type: 'certificate',
      key: 'tls.key',
      commonName,
      dnsNames,
      seconds: 90 * 86_400,
      signedBy,
    } as const;
    const { 'ca.key': _key, ...values } = make(
      { 'tls.key': { type: 'privateKey' }, 'tls.crt': asked },
      authorityOf(issuerRef.name),
    );
    return values;
  };
  const tell = async ({ metadata }: StoredObject, status: 'True' | 'False', message: string) => {
    const condition = { type: 'Ready', status, reason: 'Ready', message, observedGeneration: metadata.generation };
    const patch = { status: { conditions: [condition] } };
    const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
    await client.patch(Certificate, ref, 'merge', patch, { subresource: 'status' });
  };
  const issue = async (certificate: StoredObject) => {
    const asked = certificate['spec'] as Asked;
    const { name } = asked.issuerRef;
    const issuer = issuers[name];
    if (issuer === undefined) {
      await tell(certificate, 'False', `Issuer ${name} not found`);
      return;
    }
    const there = cloud.get('Secret', asked.secretName);
    const { 'tls.crt': shown = '' } = (there?.['data'] ?? {}) as Values;
    const isIssued = shown !== '' && there?.metadata.annotations?.[issuedBy] === name;
    if (!isIssued) {
      const { 'ca.crt': authority = '', ...own } = sign(asked);
      const { labels = {}, annotations = {} } = asked.secretTemplate;
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: asked.secretName,
          namespace: certificate.metadata.namespace ?? '',
          labels,
          annotations: { ...annotations, [issuedBy]: name },
        },
        stringData: { ...own, ...(issuer.tellsAuthority ? { 'ca.crt': authority } : {}) },
      } as const;
      await client.apply(Secret, secret, { fieldManager: 'cert-manager', force: true });
    }
    await tell(certificate, 'True', 'Certificate is up to date and has not expired');
  };
  const run = async () => {
    for (;;) {
      await sleep(cloud.clock, 1000);
      for (const certificate of cloud.list('Certificate')) await issue(certificate);
    }
  };
  run().catch((error: unknown) => {
    throw error;
  });
}
