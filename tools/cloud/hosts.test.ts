import { expect, test } from 'vitest';
import { gatewayNames, type Resource } from './hosts.ts';

const gateway = (name: string, ...addresses: string[]): Resource => ({
  kind: 'Gateway',
  metadata: { namespace: 'edge', name },
  spec: {},
  status: { addresses: addresses.map((value) => ({ value })) },
});
const route = (hostname: string, parent: { namespace?: string; name: string }, namespace = 'openstack'): Resource => ({
  kind: 'HTTPRoute',
  metadata: { namespace, name: hostname },
  spec: { hostnames: [hostname], parentRefs: [parent] },
});

test('names of routes are at the address of their Gateway, once it has one', () => {
  const resources = [
    gateway('public', '10.96.1.2'),
    gateway('young'),
    route('keystone.example.org', { name: 'public', namespace: 'edge' }),
    route('glance.example.org', { name: 'public' }, 'edge'),
    route('other.example.org', { name: 'public' }),
    route('nova.example.org', { name: 'young', namespace: 'edge' }),
  ];
  expect(gatewayNames(resources)).toEqual(['10.96.1.2 keystone.example.org', '10.96.1.2 glance.example.org']);
});
