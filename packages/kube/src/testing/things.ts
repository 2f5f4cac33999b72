import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { Informer, type InformerOptions } from '../cache/informer.ts';
import type { ReflectorSelection } from '../cache/reflector.ts';
import { defineKind, type KubeObject } from '../objects/objects.ts';
import { FakeServer } from './fake-server.ts';

/** Objects for tests, with one value. */
export interface Thing extends KubeObject {
  spec?: { value: number };
}
export const Thing = defineKind<Thing>('test.example/v1', 'Thing', 'things');

/** One of namespace `ns`. */
export function thing(name: string, value = 0, labels: Record<string, string> = {}): Thing {
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata: { namespace: 'ns', name, labels }, spec: { value } };
}

/** A reader of things, not started yet, its server, and what it has told of. */
export function setUp(selection: ReflectorSelection = {}, options: Partial<InformerOptions<Thing>> = {}) {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const informer = new Informer<Thing>({
    client: server.client,
    kind: Thing,
    selection,
    clock,
    random: seededRandom(1),
    log: noLog,
    ...options,
  });
  const changes: string[] = [];
  informer.store.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const values = () => Object.fromEntries(informer.store.list().map((o) => [o.metadata.name, o.spec?.value]));
  const synced = () => clock.run(() => informer.state === 'synced');
  return { clock, server, informer, changes, values, synced };
}
