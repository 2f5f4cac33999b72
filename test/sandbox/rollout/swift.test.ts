import { ConfigMap, Pod, Secret, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';
import { account, cats, name, nodes, partitions, policyRings, read, rings, spec, stored, swift } from './swift.ts';

/** Makes a Secret what it was, whether it is still there or not. */
async function restore(cloud: Cloud, backup: StoredObject | undefined): Promise<void> {
  const { name = '', labels = {} } = backup?.metadata ?? {};
  const data = backup?.['data'];
  if (cloud.get('Secret', name) !== undefined) return cloud.change(Secret, name, { data });
  const metadata = { name, namespace: 'openstack', labels };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, data }));
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, and keeps objects when its pods go', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Swift', name)).toBe(true);
  const all = await stored(cloud, cats);
  expect(await read(cloud, cats)).toEqual(all);
  const send = await account(cloud);
  expect(await send('GET', '/photos')).toBe(
    [...cats]
      .sort()
      .map((one) => `${one}\n`)
      .join(''),
  );
  expect(await send('GET', '?format=json')).toBe('[{"name":"photos","bytes":0}]');
  await expect(send('PUT', '/none/tom', {})).rejects.toThrow('HTTP/1.1 404');
  expect(partitions(cloud)).toEqual(Object.fromEntries(nodes(3).map((node) => [node, 64])));
  expect(await entitiesOf(cloud, 'roles')).toContainEqual(expect.objectContaining({ name: 'ResellerAdmin' }));
  for (const pod of nodes(3)) await cloud.remove(Pod, pod);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
});

test('storage nodes that are added get a replica of each partition, and what they get follows them', async () => {
  const { cloud } = await readyCloud({ spec });
  const all = await stored(cloud, cats);
  await cloud.clock.advance(3_600_000);
  const before = rings(cloud)['object.builder'];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { storageNodes: 5 } } });
  await cloud.ready();
  expect(Object.keys(partitions(cloud))).toEqual(nodes(5));
  expect(rings(cloud)['object.builder']).not.toBe(before);
  expect(partitions(cloud)[`${name}-storage-4`]).toBeGreaterThan(25);
  expect(await read(cloud, cats)).toEqual(all);
  // Replicators carry over what lies elsewhere now.
  await cloud.clock.advance(120_000);
  const { stdout } = await cloud.settle(
    cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: `${name}-storage-4` }, ['ls', '/srv/node/d1']),
  );
  expect(stdout).toContain('objects');
  expect(await read(cloud, cats)).toEqual(all);
});

test('what it has stored is read after it was switched off and on, by the same rings', async () => {
  const { cloud } = await shared();
  const all = await stored(cloud, cats);
  const before = rings(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { enabled: false } } });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { enabled: null } } });
  await cloud.ready();
  expect(rings(cloud)).toEqual(before);
  expect(await read(cloud, cats)).toEqual(all);
});

test.each([
  [{ storageNodes: 65, devicesPerNode: 10 }, 'would not fit into a Secret'],
  [{ storageNodes: 64, devicesPerNode: 10 }, 'accepted'],
  [{ storageNodes: 97, storagePolicy: { partitionPower: 14 } }, 'would not fit into a Secret'],
  [{ storageNodes: 96, storagePolicy: { partitionPower: 14 } }, 'accepted'],
  [{ storageNodes: 9, storagePolicy: { partitionPower: 13, replicaCount: 9 } }, 'would not fit into a Secret'],
])('rings of %j: %s', async (swift, words) => {
  const cloud = await createCloud();
  const made = cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, swift }))).then(() => 'accepted', String);
  expect(await made).toContain(words);
});

test.each([
  ['rings', 'are gone', undefined, 'is gone, and with it where all objects lie'],
  [
    'rings',
    'were taken out',
    { 'object.builder': null },
    'has lost key object.builder, and with it where all objects lie',
  ],
  ['hash', 'are gone', undefined, 'is gone, and with it all objects'],
])('%s that %s are waited for, and never made anew', async (suffix, _what, data, words) => {
  const { cloud } = await shared();
  const secret = `${name}-${suffix}`;
  const before = cloud.get('Secret', secret);
  if (data === undefined) await cloud.remove(Secret, secret);
  else await cloud.change(Secret, secret, { data });
  await cloud.until(() => cloud.condition(Swift, name, 'CredentialsReady')?.reason === 'KeyMaterialMissing');
  expect(cloud.condition(Swift, name, 'CredentialsReady')?.message).toContain(
    `Secret ${secret} ${words}: restore the Secret from a backup`,
  );
  await restore(cloud, before);
  await cloud.ready();
});

test.each([
  ['gone', undefined, 'is gone'],
  ['emptied', { data: null }, 'has lost key object.builder'],
])('rings that are %s beside volumes of an earlier Swift are not made anew', async (_what, change, words) => {
  const { cloud } = await shared();
  const all = await stored(cloud, cats);
  const [hash, secret] = [`${name}-hash`, `${name}-rings`];
  const [former, before] = [cloud.get('Secret', hash), cloud.get('Secret', secret)];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { enabled: false } } });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  // The hash is restored from a backup later: it says nothing of an earlier Swift.
  await cloud.remove(Secret, hash);
  if (change === undefined) await cloud.remove(Secret, secret);
  else await cloud.change(Secret, secret, change);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { enabled: null } } });
  await cloud.until(() => cloud.get('Swift', name) !== undefined);
  await cloud.clock.advance(5000);
  await restore(cloud, former);
  await cloud.clock.advance(60_000);
  const message = cloud.condition(Swift, name, 'CredentialsReady')?.message;
  expect(message).toContain(`Secret ${secret} ${words}`);
  expect(message).toContain(
    'is left of an earlier Swift of this name: to do without them, delete its volume claims as well',
  );
  expect(cloud.get('Job', secret)).toBeUndefined();
  await restore(cloud, before);
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
});

const gold = { index: 1, name: 'gold', replicaCount: 2 };
const ec = { index: 7, name: 'ec', erasureCoding: { dataFragments: 2, parityFragments: 1 } };
const withPolicies = { ...swift, storagePolicies: [gold, ec], defaultStoragePolicy: 'ec' };

const change = (cloud: Cloud, swift: object | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift } });

const sharedWithPolicies = sharedCloud(() => readyCloud({ spec: { ...spec, swift: withPolicies } }));

/** A cloud with policies, and an object of one of them, which the function reads. */
async function withPapers() {
  const { cloud } = await sharedWithPolicies();
  const send = await account(cloud);
  await send('PUT', '/papers');
  await send('PUT', '/papers/one', { text: 1 });
  return { cloud, paper: async () => await (await account(cloud))('GET', '/papers/one') };
}

/** Takes Swift away, and states it anew. */
async function anew(cloud: Cloud, swift: object, between: () => Promise<unknown> = () => Promise.resolve()) {
  await change(cloud, null);
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await between();
  await change(cloud, swift);
}

/** Until the Job of policies has failed, and says why. */
async function refused(cloud: Cloud, words: string): Promise<void> {
  await cloud.until(() => cloud.condition(Swift, name, 'PolicyRingsReady')?.message?.includes(words) === true);
}

// The last one of the cloud that is shared: policies stay.
test('storage policies are added later, keep objects by rings of their own, and stay', async () => {
  const { cloud } = await shared();
  const all = await stored(cloud, cats);
  const before = rings(cloud);
  await change(cloud, { storagePolicies: [gold, ec], defaultStoragePolicy: 'ec' });
  await cloud.ready();
  expect(Object.keys(policyRings(cloud))).toEqual(expect.arrayContaining(['object-1.builder', 'object-7.ring.gz']));
  expect(rings(cloud)).toEqual(before);
  expect(await read(cloud, cats)).toEqual(all);
  const send = await account(cloud);
  await send('PUT', '/papers');
  await send('PUT', '/papers/one', { text: 1 });
  expect(await send('GET', '/papers/one')).toBe('{"text":1}');
  const folders = async (node: string) =>
    (
      await cloud.settle(
        cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: node }, ['ls', '/srv/node/d1']),
      )
    ).stdout;
  expect(await folders(`${name}-storage-0`)).toContain('objects-7');
  for (const [storagePolicies, words] of [
    [[gold], 'a policy can neither be taken away'],
    [[{ ...gold, name: 'silver' }, ec], 'a policy can neither be taken away'],
    [[{ ...gold, replicaCount: 3 }, ec], 'a policy can neither be taken away'],
    [[gold, { ...ec, deprecated: true }], 'expected Policy-0 or the name of one of storagePolicies'],
    [[gold, ec, { ...gold, index: 3 }], 'expected a name for each that no other has'],
    [[gold, ec, { index: 3, name: 'wide', replicaCount: 4 }], 'expected a device for each copy and each fragment'],
    [[gold, ec, { ...ec, index: 3, name: 'both', replicaCount: 2 }], 'expected replicaCount or erasureCoding'],
  ] as const)
    await expect(change(cloud, { storagePolicies })).rejects.toThrow(words);
  await change(cloud, { storagePolicies: [gold, { ...ec, deprecated: true }], defaultStoragePolicy: 'gold' });
  await cloud.ready();
  expect(await send('GET', '/papers/one')).toBe('{"text":1}');
});

test.each([
  ['is left out', [gold], 'spec.storagePolicies has no policy with index=7, and its objects are still there'],
  [
    'has another index',
    [gold, { ...ec, index: 8 }],
    'state it as it was (index=7 name=ec erasureCoding.dataFragments=2',
  ],
  ['has another name', [gold, { ...ec, name: 'silver' }], 'the rings of a policy were made for name=ec'],
  [
    'is of another type',
    [gold, { index: 7, name: 'ec', replicaCount: 3 }],
    'for erasureCoding.dataFragments=2 (index=7 name=ec erasureCoding.dataFragments=2 erasureCoding.parityFragments=1), and it says index=7 name=ec replicaCount=3 now',
  ],
])('of a Swift that is made anew, a policy that %s is refused', async (_what, storagePolicies, words) => {
  const { cloud, paper } = await withPapers();
  const before = policyRings(cloud);
  await anew(cloud, { ...swift, storagePolicies });
  await refused(cloud, words);
  expect(policyRings(cloud)).toEqual(before);
  await anew(cloud, withPolicies);
  await cloud.ready();
  expect(await paper()).toBe('{"text":1}');
});

test('a Secret of rings of policies that is gone is waited for', async () => {
  const { cloud, paper } = await withPapers();
  const before = cloud.get('Secret', `${name}-rings-policies`);
  await cloud.remove(Secret, `${name}-rings-policies`);
  await cloud.until(() => cloud.condition(Swift, name, 'CredentialsReady')?.reason === 'KeyMaterialMissing');
  expect(cloud.condition(Swift, name, 'CredentialsReady')?.message).toContain(
    `Secret ${name}-rings-policies is gone, and with it where objects of further storage policies lie`,
  );
  await restore(cloud, before);
  await cloud.ready();
  expect(await paper()).toBe('{"text":1}');
});

test('rings of policies that lie with those of the servers, as an earlier operator has left them, are carried over', async () => {
  const { cloud, paper } = await withPapers();
  const { policies: _policies, ...former } = policyRings(cloud);
  await anew(cloud, withPolicies, async () => {
    await cloud.change(Secret, `${name}-rings`, { data: former });
    await cloud.remove(Secret, `${name}-rings-policies`);
  });
  await cloud.ready();
  expect(policyRings(cloud)).toMatchObject(former);
  // It may still serve by what it knows.
  expect(rings(cloud)).toMatchObject(former);
  expect(await paper()).toBe('{"text":1}');
  // They are as old as this from now on: without the Secret that has the current ones nothing is made of them.
  const current = policyRings(cloud);
  await anew(cloud, withPolicies, () => cloud.remove(Secret, `${name}-rings-policies`));
  await refused(cloud, 'restore the Secret of the rings from a backup');
  expect(policyRings(cloud)).toEqual({});
  await cloud.change(Secret, `${name}-rings-policies`, { data: current });
  await cloud.ready();
  expect(await paper()).toBe('{"text":1}');
});

// The last one of the cloud that is shared: it has more nodes then.
test('rings of a policy that a restored Secret does not have are not made over its objects', async () => {
  const { cloud, paper } = await withPapers();
  const before = policyRings(cloud);
  const backup = Object.fromEntries(Object.keys(before).map((key) => [key, key.includes('-7') ? null : before[key]]));
  await cloud.change(Secret, `${name}-rings-policies`, { data: backup });
  await cloud.until(() => cloud.condition(Swift, name, 'CredentialsReady')?.reason === 'KeyMaterialMissing');
  expect(cloud.condition(Swift, name, 'CredentialsReady')?.message).toContain(
    `Secret ${name}-rings-policies has lost key object-7.builder, key object-7.ring.gz, and with it where objects of further storage policies lie: restore`,
  );
  // Whoever runs the Job again, it makes none either.
  await change(cloud, { storageNodes: 4 });
  await refused(cloud, `object-7.builder is gone, and device ${name}-storage-0.${name}-storage.openstack.svc/d1 holds`);
  expect(policyRings(cloud)).not.toHaveProperty('object-7.builder');
  await cloud.change(Secret, `${name}-rings-policies`, { data: before });
  await cloud.ready();
  expect(await paper()).toBe('{"text":1}');
});

test('a builder with more devices than anybody knows of is left as it is', async () => {
  const { cloud } = await readyCloud({ spec: { ...spec, swift: { ...swift, storageNodes: 4 } } });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: null } });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { ...swift, storageNodes: 3 } } });
  await cloud.until(() =>
    /state what it was, its data are still there/u.test(cloud.condition(Swift, name, 'RingsReady')?.message ?? ''),
  );
  expect(Object.keys(partitions(cloud))).toEqual(nodes(4));
});
