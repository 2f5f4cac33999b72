import type { KubeObject } from '@openstack-operator/kube';
import { annotations } from '@openstack-operator/openstack';
import { targetOf } from '../wiring/mutant.ts';
import { mutantsOf } from '../wiring/mutants.ts';
import { changedAt } from '../wiring/text-edits.ts';
import type { Failure, TextChange } from './failure.ts';

/** What runs in a namespace, by kind and name: of an immutable ConfigMap the one in use, by its name without the digest. */
export type Objects = ReadonlyMap<string, KubeObject>;

/** The objects of a cloud as mutants know them. */
export function objectsOf(live: readonly KubeObject[]): Objects {
  // A Job that is done may know an earlier one.
  const running = JSON.stringify(live.flatMap(({ kind, spec }) => (kind === 'Job' ? [] : [spec])));
  const rank = ({ metadata }: KubeObject) =>
    `${running.includes(`"${metadata.name}"`) ? 1 : 0} ${metadata.creationTimestamp ?? ''}`;
  const inUseLast = live.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return new Map(
    inUseLast.map((object) => {
      const { kind, name } = targetOf(object);
      const generated = kind === 'Secret' && object.metadata.annotations?.[annotations.inputs] === undefined;
      return [`${kind} ${name}`, generated ? { ...object, generated } : object];
    }),
  );
}

/** The objects that a failure's mistakes change, as they are then. @throws Error for a mistake that cannot be made */
export function mistaken(objects: Objects, failure: Failure): Objects {
  const changed = new Map<string, KubeObject>();
  const change = (name: string, edit: (object: KubeObject) => KubeObject) => {
    const before = changed.get(name) ?? objects.get(name);
    if (before === undefined) throw new Error(`${failure.what}: the cloud has no ${name}`);
    const after = edit(before);
    if (JSON.stringify(after) === JSON.stringify(before)) throw new Error(`${failure.what}: ${name} is not changed`);
    changed.set(name, after);
  };
  for (const id of failure.mutants ?? []) {
    const mutant = known(objects).get(id);
    if (mutant === undefined) throw new Error(`${failure.what}: there is no mutant ${id}`);
    const { target, lie } = mutant;
    if (lie.pretend !== undefined) throw new Error(`${failure.what}: ${id} is about the order of a rollout`);
    change(`${target.kind} ${target.name}`, (object) => changedAt(object, lie.path, lie.change) as KubeObject);
  }
  for (const edit of failure.changes ?? []) {
    const [kind, name] = edit.in.split(' ');
    change(`${kind} ${name}`, (object) => textChanged(object, edit, failure));
  }
  return changed;
}

const mutantsByObjects = new WeakMap<Objects, ReadonlyMap<string, ReturnType<typeof mutantsOf>[number]>>();

function known(objects: Objects) {
  const found =
    mutantsByObjects.get(objects) ?? new Map(mutantsOf(new Map(objects)).map((mutant) => [mutant.id, mutant]));
  mutantsByObjects.set(objects, found);
  return found;
}

function textChanged(object: KubeObject, { in: place, text, becomes }: TextChange, failure: Failure): KubeObject {
  const [kind, , key] = place.split(' ');
  const replaced = (whole: string) => {
    if (!whole.includes(text)) throw new Error(`${failure.what}: ${place} does not contain ${text}: ${whole}`);
    return whole.replaceAll(text, becomes);
  };
  if (key === undefined) return { ...object, spec: JSON.parse(replaced(JSON.stringify(object['spec']))) };
  const data = (object['data'] ?? {}) as Record<string, string>;
  const value = data[key] ?? '';
  const encoded = kind === 'Secret';
  const after = replaced(encoded ? Buffer.from(value, 'base64').toString() : value);
  return { ...object, data: { ...data, [key]: encoded ? Buffer.from(after).toString('base64') : after } };
}
