import { apiVersionOf, type Client, type Kind, type KubeObject, type ObjectMeta } from '@openstack-operator/kube';

/** The namespace of the user who is measured. */
export const neighbour = 'neighbour';

/** As the operator labels what it makes; users may label theirs alike, and it follows those as well. */
export const managed = { 'app.kubernetes.io/managed-by': 'openstack-operator' };

/** Objects that are created at once. */
const CREATIONS = 8;

/** An object, in the neighbour's namespace unless `metadata` names another; `fields` are the others, such as `spec`. */
export function manifest(
  kind: Kind,
  name: string,
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<ObjectMeta> = {},
): KubeObject {
  return {
    ...fields,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { namespace: neighbour, ...metadata, name },
  };
}

/** So many things made, a few at once; `one` gets their indices, from 0. */
export async function each(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const work = async () => {
    while (begun < count) await one(begun++);
  };
  await Promise.all(Array.from({ length: CREATIONS }, work));
}

/** So many objects of one kind, whose name is the kind and their index; `fieldsOf` are those beside the metadata. */
export async function createMany(
  client: Client,
  kind: Kind,
  count: number,
  fieldsOf: (index: number) => Readonly<Record<string, unknown>>,
  metadata: Readonly<ObjectMeta> = {},
): Promise<void> {
  await each(count, (index) => client.create(kind, manifest(kind, nameOf(kind, index), fieldsOf(index), metadata)));
}

/** The name of one of many: `keystone-0`. */
export function nameOf({ kind }: Kind, index: number): string {
  return `${kind.toLowerCase()}-${index}`;
}

/** A merge patch of an object in the neighbour's namespace. */
export async function change(client: Client, kind: Kind, name: string, patch: unknown): Promise<void> {
  await client.patch(kind, { namespace: neighbour, name }, 'merge', patch);
}

/** A variable with the value of a Secret's key. */
export function variable(name: string, secret: string) {
  return { name, valueFrom: { secretKeyRef: { name: secret, key: 'none' } } };
}

/** Entries by index: `record(2, (i) => [`a${i}`, i])` is `{ a0: 0, a1: 1 }`. */
export function record<T>(count: number, entry: (index: number) => readonly [string, T]): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)));
}

/** Text as the data of a Secret holds it. */
export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
