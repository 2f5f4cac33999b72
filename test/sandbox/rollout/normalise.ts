import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  HTTPRoute,
  Job,
  type KubeObject,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { digest, kinds } from '@openstack-operator/openstack';

/** Built-in kinds whose objects the operator itself makes. */
export const builtIn = [
  ConfigMap,
  Secret,
  Service,
  Deployment,
  StatefulSet,
  DaemonSet,
  PodDisruptionBudget,
  NetworkPolicy,
  PersistentVolumeClaim,
  HTTPRoute,
  Job,
  CronJob,
] as const;

/** All that has to be the same however a rollout went. */
const compared: ReadonlySet<string> = new Set([...builtIn, ...kinds].map(({ kind }) => kind));

/**
 * The final objects of a namespace, without what chance and time decide: uids, versions, timestamps, generated values
 * and digests of these.
 */
export function finalObjects(objects: Iterable<StoredObject>, namespace = 'openstack'): Record<string, unknown> {
  const all = [...objects];
  const entries = all
    .filter(
      ({ kind, metadata }) =>
        compared.has(kind) &&
        metadata.namespace === namespace &&
        metadata.name !== 'kube-root-ca.crt' &&
        // What a schedule has run depends on when one looks.
        !(metadata.ownerReferences ?? []).some((owner) => owner.kind === 'CronJob'),
    )
    .map((object) => [`${object.kind} ${object.metadata.name}`, stated(object)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return withoutAddresses(Object.fromEntries(entries), all);
}

/**
 * With the names of Services for the addresses that the cluster gave them, and ConfigMaps that hold such addresses named
 * after what they hold then.
 */
function withoutAddresses(final: Record<string, unknown>, objects: readonly KubeObject[]): Record<string, unknown> {
  let text = JSON.stringify(final);
  for (const { kind, metadata, spec } of objects) {
    const { clusterIP } = (spec ?? {}) as { clusterIP?: string };
    if (kind !== Service.kind || clusterIP === undefined || clusterIP === 'None') continue;
    const address = new RegExp(`(?<![\\d.])${clusterIP.replaceAll('.', '\\.')}(?![\\d.])`, 'g');
    text = text.replaceAll(address, `address of ${metadata.name}`);
  }
  for (const [title, object] of Object.entries(JSON.parse(text) as Record<string, { data?: unknown }>)) {
    const name = /^ConfigMap (.+)$/.exec(title)?.[1];
    const before = final[title] as { data?: unknown } | undefined;
    if (name === undefined || digest(object.data) === digest(before?.data)) continue;
    text = text.replaceAll(name, name.replace(/[a-z0-9]{10}$/, digest(object.data)));
  }
  return JSON.parse(text) as Record<string, unknown>;
}

function stated(object: KubeObject): unknown {
  const { metadata, kind, status, data, ...rest } = object;
  const conditions = (status as { conditions?: { type: string; status: string; message: string }[] } | undefined)
    ?.conditions;
  // How a claim came to its volume depends on who is first, the provisioner or whoever binds it.
  const binding = /^(?:pv|volume(?:\.beta)?)\.kubernetes\.io\//;
  const annotations = Object.keys(metadata.annotations ?? {})
    .filter((name) => !binding.test(name))
    .sort();
  return scrub({
    ...rest,
    labels: metadata.labels,
    annotations,
    owners: (metadata.ownerReferences ?? []).map((owner) => `${owner.kind} ${owner.name}`),
    data: kind === 'Secret' ? Object.keys(data ?? {}).sort() : data,
    ...(object.apiVersion.startsWith('openstack')
      ? { conditions: conditions?.map(({ type, status, message }) => [type, status, message]) }
      : {}),
  });
}

/** Values that differ from run to run: uids, and digests in the annotations of pod templates. */
function scrub(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null) return value;
  const volatile = new Set([
    'uid',
    'openstack.k8s.io/credentials',
    'controller-uid',
    'batch.kubernetes.io/controller-uid',
    'clusterIP',
    'clusterIPs',
    'volumeName',
  ]);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, volatile.has(key) ? '*' : scrub(inner)]));
}

/** One line for each field of an object that two runs end up with differently. */
export function differences(a: Record<string, unknown>, b: Record<string, unknown>): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().flatMap((name) => {
    if (!(name in a)) return [`${name}: only in the second`];
    if (!(name in b)) return [`${name}: only in the first`];
    return [...fieldDifferences(a[name], b[name], name)];
  });
}

function* fieldDifferences(a: unknown, b: unknown, path: string): Iterable<string> {
  if (digest(a) === digest(b)) return;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    yield `${path}: ${JSON.stringify(a)} != ${JSON.stringify(b)}`;
    return;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    yield* fieldDifferences(a[key], b[key], `${path}.${key}`);
  }
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
