import { setImmediate } from 'node:timers/promises';
import { type Kind, Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const ref = { namespace: 'openstack', name: 'my-cloud' };
const uid = (cloud: Cloud, kind: string, name: string) => cloud.get(kind, name)?.metadata.uid;

/** A Ready cloud in which `change` is made right after the operator's next request that `at` speaks of. */
async function changedAt(at: RegExp, change: object, spec = identityOnly) {
  let armed = false;
  let made = false;
  const cloud: Cloud = await createCloud({
    nodes: ['node-1', 'node-2', 'node-3'],
    wire: (transport) => ({
      ...transport,
      async request(request, signal) {
        const answer = await transport.request(request, signal);
        if (armed && !made && at.test(`${request.method} ${request.path}`)) {
          made = true;
          await cloud.rehearsal.sandbox.client().patch(ControlPlane, ref, 'merge', change);
          await setImmediate();
        }
        return answer;
      },
    }),
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.ready();
  await cloud.clock.advance(60_000);
  return {
    cloud,
    isMade: () => made,
    apply: async (patch: object) => {
      armed = true;
      await cloud.change(ControlPlane, 'my-cloud', patch);
      await cloud.clock.advance(120_000);
    },
  };
}

/** Switches Keystone off, and changes what is written before: the operator's write of that is the moment of the change. */
const off = { spec: { keystone: { enabled: false }, memcached: { resources: { requests: { cpu: '30m' } } } } };
const pause = { metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } } };
const memcached = /^PATCH .*memcacheds\/my-cloud-memcached\?/;

test.each([
  ['taken back', { spec: { keystone: { enabled: true } } }],
  ['paused', pause],
])('what a spec disabled is not deleted when that is %s in the middle of a reconcile', async (_how, change) => {
  const { cloud, isMade, apply } = await changedAt(memcached, change);
  const before = uid(cloud, 'Keystone', 'my-cloud-keystone');
  await apply(off);
  expect(isMade()).toBe(true);
  expect(before).toBeDefined();
  expect(uid(cloud, 'Keystone', 'my-cloud-keystone')).toBe(before);
});

test('of a list of deletions those are not made that a pause in between is about', async () => {
  const both = { spec: { keystone: { enabled: false }, memcached: { enabled: false } } };
  const { cloud, isMade, apply } = await changedAt(/^DELETE .*keystones\/my-cloud-keystone/, pause);
  const before = uid(cloud, 'Memcached', 'my-cloud-memcached');
  await apply(both);
  expect(isMade()).toBe(true);
  expect(uid(cloud, 'Memcached', 'my-cloud-memcached')).toBe(before);
  await cloud.change(ControlPlane, 'my-cloud', { metadata: { annotations: { 'openstack.k8s.io/paused': null } } });
  await cloud.ready();
  expect(cloud.get('Memcached', 'my-cloud-memcached')).toBeUndefined();
});

test('node agents are not replaced on the word of a resource that was paused while they were', async () => {
  const names = ['mariadb', 'rabbitmq', 'memcached', 'keystone', 'glance', 'placement', 'neutron', 'nova'];
  const spec = {
    ...Object.fromEntries(names.map((name) => [name, { enabled: false }])),
    ovnNetwork: { nodeGroups: [{ name: 'chassis' }] },
  };
  const { cloud, isMade, apply } = await changedAt(/^DELETE .*\/pods\/my-cloud-ovn-/, pause, spec);
  const agents = () =>
    cloud
      .list('Pod')
      .filter(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovn-controller-'))
      .map(({ metadata }) => metadata.uid);
  const absent = { spec: { ovnNetwork: { images: { 'ovn-controller': 'registry.example.org/absent:1' } } } };
  const before = agents();
  expect(before).toHaveLength(3);
  // Pods that never run: all of them would be replaced in one go once the image is right.
  await cloud.change(ControlPlane, 'my-cloud', absent);
  await cloud.clock.advance(30_000);
  for (const { metadata } of cloud.list('Pod').filter(({ metadata }) => before.includes(metadata.uid)))
    await cloud.remove(Pod, metadata.name);
  await cloud.clock.advance(60_000);
  const useless = agents();
  await apply({ spec: { ovnNetwork: { images: { 'ovn-controller': null } } } });
  expect(isMade()).toBe(true);
  expect(agents().filter((one) => useless.includes(one))).toHaveLength(2);
});
