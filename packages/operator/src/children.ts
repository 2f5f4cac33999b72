import { type Kind, type ManagedFieldsEntry, type StoredObject } from '@openstack-operator/kube';
import { annotations, fieldManager, kinds, rootNamed } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { hasLetGo, type Policy, policyOf } from './secrets/retention.ts';
import { SupersededError } from './still-meant.ts';

/** What has become of what the children of a control plane are told before anything else. */
export interface Told {
  /** Those that have not let go yet of data that are to stay. */
  readonly retaining: readonly StoredObject[];
  /** Condition of a child -> why it could not be told. */
  readonly failures: ReadonlyMap<string, Error>;
}

/**
 * Tells the children of a control plane what cannot wait: the step of a child may be held back, the child may be switched
 * off, and the control plane may be going. They are to keep their data; and a roll of node agents that was asked for is
 * not wanted any more.
 */
export async function tellChildren(context: OperatorContext): Promise<Told> {
  const { cache, object: resource } = context;
  const root = rootNamed(resource);
  const retaining: StoredObject[] = [];
  const failures = new Map<string, Error>();
  const spec = (resource['spec'] ?? {}) as Policy & Readonly<Record<string, Policy | undefined>>;
  for (const { kind: name, field } of root?.children ?? []) {
    const kind = kinds.find((one) => one.kind === name);
    if (kind === undefined) continue;
    const retains = (spec[field]?.deletionPolicy ?? spec.deletionPolicy) !== 'Delete';
    for (const child of cache.controlledBy(kind, resource)) {
      if (child.metadata.deletionTimestamp !== undefined) continue;
      if (retains && !hasLetGo(context, child)) retaining.push(child);
      try {
        if (retains && policyOf(child) === 'Delete')
          await change(context, kind, child, { spec: { deletionPolicy: 'Retain' } });
        if (isRolled(child) && !isRolled(resource) && (await isOurWord(context, kind, child)))
          await change(context, kind, child, { metadata: { annotations: { [annotations.rollNodeAgents]: null } } });
      } catch (error) {
        if (!(error instanceof Error) || error instanceof SupersededError || context.signal.aborted) throw error;
        failures.set(`${name}Ready`, error);
      }
    }
  }
  return { retaining, failures };
}

function isRolled({ metadata }: StoredObject): boolean {
  return metadata.annotations?.[annotations.rollNodeAgents] === 'true';
}

/** Whether the control plane has passed the annotation on; a user may have set it on the child. The cache holds no field managers. */
async function isOurWord({ client, signal }: OperatorContext, kind: Kind, child: StoredObject): Promise<boolean> {
  const { name, namespace = '' } = child.metadata;
  const { metadata } = await client.get(kind, { name, namespace }, { signal });
  const states = ({ manager, operation, fieldsV1 }: ManagedFieldsEntry) => {
    const { 'f:annotations': notes } = (fieldsV1?.['f:metadata'] ?? {}) as { 'f:annotations'?: object };
    return manager === fieldManager && operation === 'Apply' && `f:${annotations.rollNodeAgents}` in (notes ?? {});
  };
  return (metadata.managedFields ?? []).some(states);
}

/** Under the resourceVersion. */
async function change(
  { client, signal }: OperatorContext,
  kind: Kind,
  child: StoredObject,
  { metadata, ...patch }: { readonly metadata?: object; readonly spec?: object },
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = child.metadata;
  const whole = { ...patch, metadata: { ...metadata, uid, resourceVersion } };
  await client.patch(kind, { name, namespace }, 'merge', whole, { fieldManager, signal });
}
