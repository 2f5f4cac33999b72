import { controllerOf, type KubeObject, type StoredObject } from '@openstack-operator/kube';
import { annotations, digest } from '@openstack-operator/openstack';
import { differences } from '../rollout/normalise.ts';

/** What a cloud is made of at one moment, as far as an upgrade may change it; by `Kind name`. */
export interface Moment {
  readonly templates: Readonly<Record<string, unknown>>;
  readonly pods: readonly {
    readonly uid: string;
    readonly name: string;
    readonly owner: string;
    readonly node: string;
  }[];
  /** uid and digest of the inputs. */
  readonly jobs: Readonly<Record<string, readonly [run: string, inputs: string]>>;
  /** Digests of uid and content; of those that are made from others, of the uid. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What pods mount that is not there: they would not start again. */
  readonly missing: readonly string[];
}

/** What an upgrade did. */
export interface Upgrade {
  /** Workload -> the fields of its pod template that changed. */
  readonly templates: Readonly<Record<string, readonly string[]>>;
  /** Pods that are gone, and why. */
  readonly restarts: readonly { readonly pod: string; readonly owner: string; readonly reason: string | undefined }[];
  /** Jobs that ran again, and why. */
  readonly jobs: readonly { readonly job: string; readonly reason: string | undefined }[];
  /** Secrets that are gone, made anew, or generated anew. */
  readonly secrets: readonly string[];
  readonly missing: readonly string[];
}

const workloads = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** The moment, from all objects of the cluster. */
export function momentOf(objects: readonly StoredObject[], namespace: string): Moment {
  const own = objects.filter(({ metadata }) => metadata.namespace === namespace);
  const owners = new Map(own.map((object) => [object.metadata.uid, object]));
  const workloadOf = (object: StoredObject): StoredObject => {
    const owner = owners.get(controllerOf(object)?.uid ?? '');
    return owner === undefined ? object : workloadOf(owner);
  };
  /** Pods belong to a workload by way of a ReplicaSet; what owns that is a resource of ours. */
  const ownerOf = (pod: StoredObject): string => {
    const owner = owners.get(controllerOf(pod)?.uid ?? '');
    const above = owner?.kind === 'ReplicaSet' ? owners.get(controllerOf(owner)?.uid ?? '') : owner;
    return nameOf(above ?? workloadOf(pod));
  };
  const named = <T>(kinds: readonly string[], of: (object: StoredObject) => T): Record<string, T> =>
    Object.fromEntries(own.filter(({ kind }) => kinds.includes(kind ?? '')).map((one) => [nameOf(one), of(one)]));
  return {
    templates: named(workloads, (object) => (object['spec'] as { template: unknown }).template),
    pods: own
      .filter(({ kind }) => kind === 'Pod')
      .map((pod) => ({
        uid: pod.metadata.uid,
        name: pod.metadata.name,
        owner: ownerOf(pod),
        node: (pod['spec'] as { nodeName?: string }).nodeName ?? '',
      })),
    jobs: named(['Job'], ({ metadata }) => [metadata.uid, metadata.annotations?.[annotations.inputs] ?? '']),
    secrets: named(['Secret'], (object) => digest([object.metadata.uid, isDerived(object) ? '' : object['data']])),
    missing: missing(own),
  };
}

/** Whether a Secret is made from others, and follows them. */
function isDerived({ metadata }: StoredObject): boolean {
  return metadata.annotations?.[annotations.inputs] !== undefined;
}

/** What is different, of what was there before. */
export function upgradeOf(before: Moment, after: Moment): Upgrade {
  const templates = Object.fromEntries(
    Object.entries(before.templates)
      .map(([name, template]) => [name, differences({ template }, { template: after.templates[name] })] as const)
      .filter(([, fields]) => fields.length > 0),
  );
  const alive = new Set(after.pods.map(({ uid }) => uid));
  const jobs = Object.entries(before.jobs).flatMap(([job, [run, inputs]]) => {
    const now = after.jobs[job];
    if (now === undefined || now[0] === run) return [];
    return [{ job, reason: now[1] === inputs ? undefined : 'its inputs changed' }];
  });
  return {
    templates,
    restarts: before.pods
      .filter(({ uid, owner }) => !alive.has(uid) && !owner.startsWith('Job '))
      .map(({ name, owner }) => ({ pod: name, owner, reason: templates[owner]?.join('; ') })),
    jobs,
    secrets: Object.keys(before.secrets).filter((name) => before.secrets[name] !== after.secrets[name]),
    missing: after.missing,
  };
}

/** For people: one line for each thing that the upgrade did. */
export function described({ templates, restarts, jobs, secrets, missing }: Upgrade): string {
  const lines = [
    ...Object.entries(templates).map(
      ([name, fields]) =>
        `pod template of ${name}${name.startsWith('DaemonSet ') ? ' (its pods wait for approval)' : ''}:\n    ${fields.join('\n    ')}`,
    ),
    ...restarts.map(
      ({ pod, owner, reason }) =>
        `pod ${pod} of ${owner} was replaced: ${reason === undefined ? 'NO REASON' : 'its template changed'}`,
    ),
    ...jobs.map(({ job, reason = 'NO REASON' }) => `${job} ran again: ${reason}`),
    ...secrets.map((name) => `${name} is another one`),
    ...missing,
  ];
  return lines.length === 0 ? 'nothing restarts, nothing runs again' : lines.join('\n');
}

interface Volume {
  readonly configMap?: { readonly name?: string; readonly optional?: boolean };
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
}

function missing(own: readonly StoredObject[]): string[] {
  const there = new Set(own.map(nameOf));
  return own
    .filter((object) => object.kind === 'Pod' && object.metadata.deletionTimestamp === undefined && !isOver(object))
    .flatMap((pod) =>
      ((pod['spec'] as { volumes?: readonly Volume[] }).volumes ?? [])
        .flatMap(({ configMap, secret }) => [
          ...(configMap === undefined || configMap.optional === true ? [] : [`ConfigMap ${configMap.name}`]),
          ...(secret === undefined || secret.optional === true ? [] : [`Secret ${secret.secretName}`]),
        ])
        .filter((name) => !there.has(name))
        .map((name) => `${nameOf(pod)} mounts ${name}, which is not there`),
    );
}

/** Pods of finished Jobs stay what they are, and start no more. */
function isOver(pod: StoredObject): boolean {
  const { phase = '' } = (pod['status'] ?? {}) as { phase?: string };
  return ['Succeeded', 'Failed'].includes(phase);
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}
