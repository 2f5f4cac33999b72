import { parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import type { Stage } from './stages.ts';

/** A stage on the way that made the rollout as long as it was. */
export interface Leg {
  readonly name: string;
  /** Seconds since the control plane was created. */
  readonly begun: number;
  readonly ended: number;
}

/**
 * Walks back from the stage that ended last, each time to the one that it waited for longest; from the times that the
 * conditions of the resources state (whole seconds).
 */
export function criticalPath(stages: readonly Stage[], resources: readonly StoredObject[], created: number): Leg[] {
  const ended = new Map<string, number>();
  for (const { name } of stages) {
    const [owner = '', condition = ''] = name.split(': ');
    const resource = resources.find(({ kind, metadata }) => `${kind} ${metadata.name}` === owner);
    const since = resource && conditionOf(resource, condition)?.lastTransitionTime;
    if (since !== undefined) ended.set(name, (parseTimestamp(since) - created) / 1000);
  }
  const last = (names: readonly string[]) =>
    names.reduce<string | undefined>(
      (latest, name) => ((ended.get(name) ?? -1) > (ended.get(latest ?? '') ?? -1) ? name : latest),
      undefined,
    );
  const legs: Leg[] = [];
  for (let name = last([...ended.keys()]); name !== undefined; ) {
    const before = last(stages.find((stage) => stage.name === name)?.after ?? []);
    legs.unshift({ name, begun: before === undefined ? 0 : (ended.get(before) ?? 0), ended: ended.get(name) ?? 0 });
    name = before;
  }
  return legs.filter(({ begun, ended }) => ended > begun);
}
