import { objectsOf, renderAll } from '@openstack-operator/cli';
import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { children, OpenStackControlPlane } from '@openstack-operator/openstack';

/** Objects that may be applied together, and the stages that have to be done before. */
export interface Stage {
  /** `<kind> <resource>: <condition>` of the step that the operator makes of it. */
  readonly name: string;
  readonly after: readonly string[];
  readonly objects: readonly KubeObject[];
}

/**
 * The objects of a cloud that is Ready, as manifests in the order in which somebody would apply them who knows what
 * depends on what: the same order that the operator keeps.
 * @throws Error for an object that belongs to no stage
 */
export function stagesOf(controlPlane: StoredObject, live: readonly StoredObject[]): Stage[] {
  const rendered = renderAll([controlPlane], new Set());
  const known = Map.groupBy(live, (object) => titleOf(object));
  const stagesOfResource = new Map<string, string[]>();
  const drafts = rendered
    .filter(({ resource }) => resource.kind !== OpenStackControlPlane.kind)
    .flatMap(({ resource, composition }) =>
      composition.steps.map((step) => {
        const owner = titleOf(resource);
        const name = `${owner}: ${step.condition}`;
        stagesOfResource.set(owner, [...(stagesOfResource.get(owner) ?? []), name]);
        return { name, owner, resource, step, objects: objectsOf({ steps: [step], complete: true, status: {} }) };
      }),
    );
  const wholeOf = (kind: string) =>
    [...stagesOfResource].filter(([owner]) => owner.startsWith(`${kind} `)).flatMap(([, names]) => names);
  const kindOfField = new Map(children.map(({ field, kind }) => [field, kind]));
  const stages = drafts.map(({ name, owner, resource, step, objects }) => {
    const { after = [] } = children.find(({ kind }) => kind === resource.kind) ?? {};
    return {
      name,
      after: [
        ...step.needs.map((need) => `${owner}: ${need}`),
        ...step.awaits.flatMap(({ kind }) => wholeOf(kind.kind)),
        ...after.flatMap((field) => wholeOf(kindOfField.get(field) ?? '')),
      ],
      objects: objects.flatMap((object) => known.get(titleOf(object)) ?? []).map(manifest),
    };
  });
  const placed = new Set(stages.flatMap(({ objects }) => objects.map(titleOf)));
  const forgotten = [...known.keys()].filter((title) => !placed.has(title));
  if (forgotten.length > 0) throw new Error(`in no stage: ${forgotten.join(', ')}`);
  return stages;
}

/** Kind and name; of a ConfigMap without the digest of its content. */
function titleOf({ kind, metadata: { name = '' } }: KubeObject): string {
  return `${kind} ${kind === 'ConfigMap' ? name.replace(/-[a-z0-9]{10}$/, '') : name}`;
}

/** What a cluster adds to a Job's pods, a Service, a claim: with another volume's marks a claim waits for ever. */
const added =
  /^(?:(?:batch\.kubernetes\.io\/)?(?:controller-uid|job-name)|clusterIPs?|volumeName|(?:pv|volume(?:\.beta)?)\.kubernetes\.io\/.*)$/;

/** An object as a file would have it, without what the cluster said of it. */
function manifest(object: StoredObject): KubeObject {
  const { metadata, status: _status, ...rest } = object;
  const { name, namespace = '', labels = {}, annotations = {} } = metadata;
  const text = JSON.stringify({ ...rest, metadata: { name, namespace, labels, annotations } }, (key, value: unknown) =>
    added.test(key) ? undefined : value,
  );
  const plain = JSON.parse(text) as KubeObject;
  if (plain.kind === 'Job') delete (plain['spec'] as { selector?: unknown }).selector;
  return plain;
}
