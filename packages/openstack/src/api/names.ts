import { type Form, type Rule, rule } from './schema.ts';

/**
 * How long names may be, so that every child's name fits where Kubernetes is strictest: 63 characters for Services,
 * Jobs and label values, 52 for StatefulSets (their pods carry `<name>-<revision>` as a label) and CronJobs (Jobs get
 * `<name>-<minute>`). A control plane's children are named `<name>-<kind>`, the longest of which is `-cephstorage`.
 */
export const nameLength = {
  /** `<name>-fernet-rotation` (a CronJob) and `<name>-<cell>-novncproxy` (a Service) still fit. */
  service: 36,
  controlPlane: 24,
  /** Cells and node groups, which stand between two other parts of a name. */
  part: 15,
} as const;

/** The form of a DNS label that may start a Service's name (RFC 1035: a letter first). */
export const label: Form = {
  pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
  expected: "a name of a-z, 0-9 and '-' that begins with a letter, such as edge-1",
};

/** The form of names in MariaDB, RabbitMQ and Keystone. */
export const accountName: Form = {
  pattern: '^[A-Za-z0-9_][-A-Za-z0-9_]*$',
  expected: "a name of letters, digits, '_' and '-'",
};

/** The form of an object's name, and of a host name (RFC 1123 subdomain). */
export const subdomain: Form = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  expected: 'a name in lower case such as cloud.example.com, without https://',
};

/** Rules at the root of an object of `kind`: the name is short enough and starts as a Service's name must. */
export function nameRules(kind: string, maximum: number): Rule[] {
  return [
    rule(
      `self.metadata.name.size() <= ${maximum}`,
      `the name of this ${kind} is too long: at most ${maximum} characters leave room for the names of the objects that are made from it`,
      '.metadata.name',
    ),
    rule(
      `self.metadata.name.matches('${label.pattern}')`,
      `the name of this ${kind} has to begin with a letter and contain only a-z, 0-9 and '-': Services are named after it`,
      '.metadata.name',
    ),
  ];
}
