import { subdomain } from './names.ts';
import { objectName } from './references.ts';
import { type Infer, object, type Rule, required, rule, string } from './schema.ts';

/** The API group of cert-manager's own issuers (https://cert-manager.io/docs/reference/api-docs/). */
const certManager = 'cert-manager.io';

/** Kinds of that group. */
const kinds = ['Issuer', 'ClusterIssuer'] as const;

/** An issuer of cert-manager. */
export const issuerRef = object(
  "Issuer of cert-manager that signs the certificates. It has to put the certificate of its authority into its Secrets (ca.crt), as a CA issuer does, and to sign host names of the cluster's own (.svc).",
  {
    name: required(objectName('Name of the issuer.')),
    kind: string('Kind of the issuer: Issuer, in the same namespace, ClusterIssuer, or one of another group.', {
      maxLength: 63,
      form: { pattern: '^[A-Za-z][A-Za-z0-9]*$', expected: 'the name of a kind, such as ClusterIssuer' },
      fallback: kinds[0],
    }),
    group: string('API group of the issuer, of an external one.', {
      maxLength: 253,
      form: subdomain,
      fallback: certManager,
    }),
  },
  {
    rules: [
      rule(
        `(has(self.group) && self.group != '${certManager}') || !has(self.kind) || self.kind in [${kinds.map((kind) => `'${kind}'`).join(', ')}]`,
        `kind has to be ${kinds.join(' or ')}; of another kind, state its group`,
        '.kind',
      ),
    ],
    otherwise: 'the operator signs them',
  },
);

/** How long certificates are valid, in the words of cert-manager. */
export const certificateDuration = string(
  'How long a certificate is valid. It is made anew when two thirds of that are over, and so is one that was made for longer. Programs take up to two minutes to read it.',
  {
    maxLength: 16,
    form: {
      pattern: '^([1-9][0-9]{1,5}m|[1-9][0-9]{0,4}h)$',
      expected: 'minutes, from 10m on, or hours, such as 2160h',
    },
    fallback: '2160h',
  },
);

/** A rule of a field `tls` with both: cert-manager refuses less (its MinimumCertificateDuration). */
export const longEnough = rule(
  "!has(self.issuerRef) || !has(self.duration) || !self.duration.matches('^[1-5][0-9]m$')",
  'cert-manager issues certificates for an hour (1h) or more; state that, or no issuerRef',
  '.duration',
);

/** Seconds of such a field; default: 90 days. */
export function secondsOf(duration = '2160h'): number {
  return Number.parseInt(duration, 10) * (duration.endsWith('h') ? 3600 : 60);
}

/** Its value. */
export type IssuerRef = Infer<typeof issuerRef>;

/** An issuer as cert-manager refers to it. */
export function fullReference({ name, kind = kinds[0], group = certManager }: IssuerRef): Required<IssuerRef> {
  return { name, kind, group };
}

/** Whether the same one is meant; undefined: the operator itself. */
export function isSameIssuer(one: IssuerRef | undefined, other: IssuerRef | undefined): boolean {
  const idOf = (issuer: IssuerRef | undefined) => JSON.stringify(issuer && fullReference(issuer));
  return idOf(one) === idOf(other);
}

const isSame =
  'has(self.issuerRef) == has(oldSelf.issuerRef) && (!has(self.issuerRef) || self.issuerRef == oldSelf.issuerRef)';

/** Rules of a field `tls`: whoever trusts one issuer refuses what another one has signed, and trusts it as long as this says. */
export const issuerStays = {
  whileEnabled: rule(
    `!has(oldSelf.enabled) || !oldSelf.enabled || (${isSame})`,
    'tls.issuerRef cannot change while tls.enabled is true; set tls.enabled to false first, wait until all that connect are Ready, then change it',
    '.issuerRef',
  ),
  whileStated: rule(
    isSame,
    'tls.issuerRef cannot change while tls is stated; lead clients back first: tls.enabled false, then no tls, each time until all resources are Ready',
    '.issuerRef',
  ),
} as const satisfies Readonly<Record<string, Rule>>;
