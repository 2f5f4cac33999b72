import { Event, type Kind, type KubeObject, realClock, type StoredObject } from '@openstack-operator/kube';
import { differences } from '../../sandbox/rollout/normalise.ts';
import { stable } from '../conformance/server.ts';
import { eventually } from '../eventually.ts';
import type { Cluster } from './cluster.ts';

/** Objects of one moment, by kind and name. */
export type Objects = Record<string, unknown>;

/** Objects of several moments, by what the moments are called. */
export type Moments = Readonly<Record<string, Objects>>;

/** One line for each field in which two servers differ at any of the moments. */
export function differencesOf(real: Moments, ours: Moments): string[] {
  return Object.entries(real).flatMap(([moment, objects]) =>
    differences(objects, ours[moment] ?? {}).map((line) => `${moment}: ${line}`),
  );
}

/** For how long nothing may change, in milliseconds: an operator that has more to do does it sooner. */
const QUIET_MS = 2000;

/**
 * All objects of these kinds in a namespace and what its events tell, once nothing changes any more; without what
 * chance and time decide: uids, versions, times, the made-up ends of names, keys and certificates. Who owns which field
 * stays. `byChance` are events that depend on which of an operator's controllers comes first.
 */
export async function finalObjects(
  { client }: Cluster,
  kinds: readonly Kind[],
  namespace: string,
  byChance?: RegExp,
): Promise<Objects> {
  let seen = '';
  let since = realClock.now();
  const read = async () => ({
    objects: (await Promise.all(kinds.map((kind) => client.list(kind, { namespace })))).flatMap(({ items }) => items),
    events: (await client.list(Event, { namespace })).items,
  });
  const { objects, events } = await eventually(read, (found) => {
    const all = [...found.objects, ...found.events];
    const versions = all.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).join();
    if (versions !== seen) since = realClock.now();
    seen = versions;
    return realClock.now() - since >= QUIET_MS;
  });
  const named = objects
    .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    .map((object) => [comparable(`${object.kind} ${object.metadata.name}`), comparable(stated(object))] as const);
  return {
    ...Object.fromEntries(named as [string, unknown][]),
    events: told(events).filter((line) => byChance?.test(line) !== true),
  };
}

/**
 * Managers, conditions and finalizers in one order: servers list managers by time, which has seconds, and the others as
 * they came.
 */
function stated(object: StoredObject): KubeObject {
  const entries = object.metadata.managedFields ?? [];
  const parents = new Set(entries.flatMap(({ fieldsV1 = {} }) => [...parentsIn(fieldsV1, '')]));
  const managers = entries
    .map((entry) => ({ ...entry, fieldsV1: leaves(entry.fieldsV1 ?? {}, '', parents) }))
    .filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0);
  const status = object['status'] as { conditions?: readonly { type: string }[] } | undefined;
  const { finalizers } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...(finalizers && { finalizers: finalizers.toSorted() }),
      managedFields: sorted(
        managers,
        ({ manager, operation, subresource }) => `${manager} ${operation} ${subresource}`,
      ),
    } as KubeObject['metadata'],
    ...(status && { status: { ...status, conditions: sorted(status.conditions ?? [], ({ type }) => type) } }),
  };
}

function sorted<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Paths of the fields in a set that hold others. */
function* parentsIn(fields: object, path: string): Iterable<string> {
  for (const [name, inner] of Object.entries(fields) as [string, object][]) {
    if (Object.keys(inner).length > 0) yield `${path}/${name}`;
    yield* parentsIn(inner, `${path}/${name}`);
  }
}

/**
 * A set of fields without those that hold others, of whichever manager: these belong to whoever came first. And without
 * times of conditions, which change hands only when a second has passed.
 */
function leaves(fields: object, path: string, parents: ReadonlySet<string>): object {
  const entries = (Object.entries(fields) as [string, object][]).flatMap(([name, inner]): [string, object][] => {
    const at = `${path}/${name}`;
    if (name === '.' || name === 'f:lastTransitionTime') return [];
    if (!parents.has(at)) return [[name, inner]];
    const rest = leaves(inner, at, parents);
    return Object.keys(rest).length === 0 ? [] : [[name, rest]];
  });
  return Object.fromEntries(entries);
}

/** How often something was told depends on who came first. */
function told(events: readonly StoredObject<Event>[]): string[] {
  const lines = events.map(
    ({ type, reason, message, involvedObject: { kind, name } }) => `${type} ${reason} ${kind} ${name}: ${message}`,
  );
  return [...new Set(lines.map((line) => String(comparable(line))))].sort();
}

function comparable(value: unknown): unknown {
  const text = JSON.stringify(stable(value))
    .replaceAll(/\b[0-9a-f]{32}\b/g, '<id>')
    .replaceAll(/[A-Za-z0-9+/]{100,}={0,2}/g, '<data>')
    .replaceAll(/\b([a-z]+)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-<random>');
  return JSON.parse(text);
}
