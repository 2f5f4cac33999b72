import { parseTimestamp, type StoredObject } from '@openstack-operator/kube';

/** When a resource's conditions became True, by their type: seconds since the epoch. */
type Transitions = ReadonlyMap<string, number>;

/** When the conditions of our resources became True, by kind and name. */
export function transitionsOf(objects: readonly StoredObject[]): Map<string, Transitions> {
  return new Map(
    objects
      .filter(({ apiVersion }) => apiVersion.startsWith('openstack.k8s.io/'))
      .map(({ kind, metadata, status }) => {
        const { conditions = [] } = (status ?? {}) as {
          conditions?: { type: string; status: string; lastTransitionTime: string }[];
        };
        const held = conditions.filter((condition) => condition.status === 'True');
        const times = held.map(
          ({ type, lastTransitionTime }) => [type, parseTimestamp(lastTransitionTime) / 1000] as const,
        );
        return [`${kind} ${metadata.name}`, new Map(times)] as const;
      }),
  );
}

/** Pairs of conditions of one resource that came in one order here and in the other there, each time clearly apart. */
export function inversions(
  here: ReadonlyMap<string, Transitions>,
  there: ReadonlyMap<string, Transitions>,
  seconds: number,
): string[] {
  return [...here].flatMap(([resource, times]) => {
    const others = there.get(resource) ?? new Map<string, number>();
    const shared = [...times.keys()].filter((type) => others.has(type));
    const gap = (of: Transitions, one: string, other: string) => (of.get(other) ?? 0) - (of.get(one) ?? 0);
    return shared.flatMap((one) =>
      shared
        .filter((other) => gap(times, one, other) > seconds && gap(others, other, one) > seconds)
        .map(
          (other) =>
            `${resource}: ${one} came ${gap(times, one, other)} s before ${other} here, and ${gap(others, other, one)} s after it there`,
        ),
    );
  });
}
