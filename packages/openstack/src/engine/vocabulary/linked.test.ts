import { expect, test } from 'vitest';
import { definitions } from '../../services/index.ts';
import type { Context } from './context.ts';
import { linked } from './linked.ts';
import { withPeers } from './peers.ts';
import type { Service } from './service.ts';

/** The list with one more service, whose name and dependencies are nobody's. */
const withOne = (more: Partial<Service>) => {
  const [first] = definitions;
  const one = { ...first, name: 'bell', offers: { bellRef: {} }, dependsOn: {}, ...more } as Service;
  return () => linked([...definitions, one]);
};

test.each<[Partial<Service>, string]>([
  [{ dependsOn: { gongRef: 'steps' } }, 'gongRef: no service is referred to by this field'],
  [{ configures: { gong: () => ({}) } }, 'bell: configures gong, and no service has this name'],
  [{ listens: { topic: 'bells', to: 'all' } }, 'bell: listens, and has no messaging'],
  [
    { messaging: true, listens: { topic: 'bells', to: ['placement'] } },
    'bell: listens to placement, which sends no notifications',
  ],
])('%j: %s', (more, message) => {
  expect(withOne(more)).toThrow(message);
});

test('two services that would read from one queue are refused', () => {
  const listens = { topic: 'bells', to: ['neutron'] } as const;
  const [first] = definitions;
  const one = (name: string) => ({ ...first, name, offers: {}, dependsOn: {}, messaging: true, listens }) as Service;
  expect(() => linked([...definitions, one('bell'), one('gong')])).toThrow('reads the topic bells, as gong does');
});

test('who reads notifications, or sets options, is a peer of the others', () => {
  const listens = { topic: 'bells', to: 'all' } as const;
  const all = withOne({ messaging: true, listens, configures: { placement: () => ({}) } })();
  const peers = all.flatMap(({ name, peers = [] }) => (peers.some((peer) => peer.name === 'bell') ? [name] : []));
  const told = definitions.filter(({ name, messaging }) => messaging !== undefined || name === 'placement');
  expect(peers).toEqual(told.map(({ name }) => name));
});

test('a list that a peer says nothing of stays one', () => {
  const source = { '/etc/bell/pools.yaml': { format: 'yaml', data: [{ name: 'one' }] } } as const;
  const peer = { ...definitions[0], name: 'gong', configures: { bell: () => ({ 'bell.conf': { a: { b: 1 } } }) } };
  const service = { ...definitions[0], name: 'bell', peers: [peer] } as Service;
  const context = { surroundings: { peer: () => 'gong' } } as unknown as Context;
  const sets = withPeers(service, context, { main: { ...source, '/etc/bell/bell.conf': { oslo: {} } } });
  expect(sets['main']).toEqual({ ...source, '/etc/bell/bell.conf': { oslo: { a: { b: 1 } } } });
});
