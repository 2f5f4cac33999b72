import { Secret } from '@openstack-operator/kube';
import { Manila, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, cephStorage, controlPlane, createCloud, identityOnly } from './cloud.ts';
import { podsOf, settles } from './disks.ts';
import { bringKeyrings } from './full-sample.ts';
import { entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const url = 'http://my-cloud-manila-api.openstack.svc:8786/v2';
const fileSystem = (name: string) => ({ name, type: 'cephfs', cephFSName: name });
const files = { backends: [fileSystem('files')] };
const spec = {
  ...identityOnly,
  rabbitmq: {},
  cephStorage: { ...cephStorage, fileSystems: [{ name: 'files' }] },
  manila: { ...files, shareTypes: [{ name: 'plain', extraSpecs: { snapshot_support: 'False' } }] },
};

const shared = sharedCloud(async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await bringKeyrings(cloud);
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.ready();
  return { cloud };
});

type Answer = Record<string, Record<string, unknown>>;
interface Rule {
  readonly id: string;
  readonly state: string;
  readonly access_key: string | null;
}

/** What Manila answers to the administrator. @throws Error when it refuses */
async function ask<T = Answer>(cloud: Cloud, method: string, path: string, body?: object): Promise<T> {
  const headers = ['X-OpenStack-Manila-API-Version: 2.86'];
  return JSON.parse((await request(cloud, await login(cloud), method, `${url}${path}`, body, headers)) || '{}') as T;
}

const act = (cloud: Cloud, share: string, action: object) => ask(cloud, 'POST', `/shares/${share}/action`, action);
/** The state of a share or a snapshot; `gone` when it is not there. */
async function stateOf(cloud: Cloud, path: string): Promise<unknown> {
  const answer = await ask(cloud, 'GET', path).catch((error: unknown) => {
    if (String(error).includes(' 404')) return { it: { status: 'gone' } };
    throw error;
  });
  return Object.values(answer)[0]?.['status'];
}

/** A new share or snapshot, once it has that state. */
async function made(cloud: Cloud, what: 'share' | 'snapshot', columns: object, state = 'available'): Promise<string> {
  const asked = what === 'share' ? { size: 1, share_proto: 'CEPHFS', ...columns } : columns;
  const { [what]: thing } = await ask(cloud, 'POST', `/${what}s`, { [what]: asked });
  const id = String(thing?.['id']);
  await settles(cloud, () => stateOf(cloud, `/${what}s/${id}`), state);
  return id;
}

/** Asks for something to go, and waits until it has gone. */
async function remove(cloud: Cloud, path: string): Promise<void> {
  await ask(cloud, 'DELETE', path);
  await settles(cloud, () => stateOf(cloud, path), 'gone');
}

/** The cloud without shares. */
async function emptied(): Promise<Cloud> {
  const { cloud } = await shared();
  for (const what of ['snapshots', 'shares']) {
    const { [what]: all = [] } = await ask<Record<string, { id: string }[]>>(cloud, 'GET', `/${what}`);
    for (const { id } of all) await remove(cloud, `/${what}/${id}`);
  }
  return cloud;
}

const locationsOf = async (cloud: Cloud, share: string) =>
  (await ask<{ export_locations: { path: string }[] }>(cloud, 'GET', `/shares/${share}/export_locations`))
    .export_locations;
const rulesOf = async (cloud: Cloud, share: string) =>
  (await ask<{ access_list: Rule[] }>(cloud, 'GET', `/share-access-rules?share_id=${share}`)).access_list;

/** A rule, once the backend was told. */
async function allowed(cloud: Cloud, share: string, to: string, type = 'cephx'): Promise<Rule | undefined> {
  const { access } = await act(cloud, share, { allow_access: { access_type: type, access_to: to } });
  expect(access).toMatchObject({ state: 'queued_to_apply', access_level: 'rw', access_key: null });
  const rule = async () => (await rulesOf(cloud, share)).find(({ id }) => id === access?.['id']);
  await settles(cloud, async () => ['active', 'error'].includes((await rule())?.state ?? ''), true);
  return await rule();
}

test('a share is found at the monitors; whom a rule names gets a key, until the rule is taken away', async () => {
  const cloud = await emptied();
  const share = await made(cloud, 'share', {});
  expect(await locationsOf(cloud, share)).toEqual([
    expect.objectContaining({ path: expect.stringContaining(`10.0.0.11:6789:/volumes/_nogroup/${share}/`) }),
  ]);
  const alice = await allowed(cloud, share, 'alice');
  expect(alice).toMatchObject({ state: 'active', access_key: expect.stringMatching(/^.{38}==$/) });
  await expect(allowed(cloud, share, 'alice')).rejects.toThrow('Share access cephx:alice exists.');
  await expect(allowed(cloud, share, 'client.bob')).rejects.toThrow('Ceph IDs may not contain periods.');
  // The user that Manila itself logs in as, and what CephFS does not know, are found out by the backend.
  expect(await allowed(cloud, share, 'manila')).toMatchObject({ state: 'error', access_key: null });
  expect(await allowed(cloud, share, '10.0.0.0/8', 'ip')).toMatchObject({ state: 'error' });
  expect((await ask(cloud, 'GET', `/shares/${share}`))['share']).toMatchObject({ access_rules_status: 'error' });
  for (const { id } of await rulesOf(cloud, share)) await act(cloud, share, { deny_access: { access_id: id } });
  await settles(cloud, async () => (await rulesOf(cloud, share)).length, 0);
  expect((await ask(cloud, 'GET', `/shares/${share}`))['share']).toMatchObject({ access_rules_status: 'active' });
});

test('a snapshot keeps its share, and becomes a share of its own; a type that promises none has none', async () => {
  const cloud = await emptied();
  const share = await made(cloud, 'share', {});
  const snapshot = await made(cloud, 'snapshot', { share_id: share, name: 'before' });
  await expect(ask(cloud, 'DELETE', `/shares/${share}`)).rejects.toThrow('Share still has 1 dependent snapshots.');
  await expect(made(cloud, 'share', { snapshot_id: snapshot, share_type: 'plain' })).rejects.toThrow(
    'must match the type of the source share',
  );
  const copy = await made(cloud, 'share', { snapshot_id: snapshot }, 'creating_from_snapshot');
  await settles(cloud, () => stateOf(cloud, `/shares/${copy}`), 'available');
  const [[first], [second]] = [await locationsOf(cloud, share), await locationsOf(cloud, copy)];
  expect(second?.path.replaceAll(copy, '')).toContain('10.0.0.11:6789:/volumes/_nogroup/');
  expect(second?.path).not.toBe(first?.path);
  await remove(cloud, `/snapshots/${snapshot}`);
  await remove(cloud, `/shares/${share}`);
  expect(await stateOf(cloud, `/shares/${copy}`)).toBe('available');
  const { share: plain } = await ask(cloud, 'POST', '/shares', {
    share: { size: 1, share_proto: 'CEPHFS', share_type: 'plain' },
  });
  await expect(made(cloud, 'snapshot', { share_id: plain?.['id'] })).rejects.toThrow('does not have that capability');
});

test('a share grows and shrinks, within the quotas of its project', async () => {
  const cloud = await emptied();
  const project = (await entitiesOf(cloud, 'projects')).find(({ name }) => name === 'admin')?.id;
  const quota = (quota_set: object) => ask(cloud, 'PUT', `/quota-sets/${project}`, { quota_set });
  const share = await made(cloud, 'share', {});
  await expect(quota({ shares: 0 })).rejects.toThrow('smaller than already used and reserved 1');
  await quota({ shares: 1, gigabytes: 2, snapshots: 0 });
  await expect(made(cloud, 'share', {})).rejects.toThrow('Maximum number of shares allowed (1)');
  await expect(made(cloud, 'snapshot', { share_id: share })).rejects.toThrow('Maximum number of snapshots allowed (0)');
  const resize = async (action: string, size: number) => {
    await act(cloud, share, { [action]: { new_size: size } });
    await settles(cloud, () => stateOf(cloud, `/shares/${share}`), 'available');
    return (await ask(cloud, 'GET', `/shares/${share}`))['share']?.['size'];
  };
  await expect(resize('extend', 3)).rejects.toThrow('HTTP/1.1 403');
  await expect(resize('extend', 1)).rejects.toThrow('must be greater than current size. (current: 1, extended: 1)');
  expect(await resize('extend', 2)).toBe(2);
  await expect(resize('shrink', 2)).rejects.toThrow('must be less than current size');
  expect(await resize('shrink', 1)).toBe(1);
  await quota({ shares: -1, gigabytes: -1, snapshots: -1 });
});

test('without Ceph a backend says so: what it is asked for waits or fails, and goes on when Ceph is there', async () => {
  const cloud = await emptied();
  const share = await made(cloud, 'share', {});
  const before = cloud.get('Secret', 'ceph-keyrings')?.['data'];
  await cloud.change(Secret, 'ceph-keyrings', { stringData: { 'ceph.client.manila.keyring': 'no-key' } });
  await cloud.until(() => !cloud.isReady('Manila', 'my-cloud-manila'));
  await cloud.clock.advance(120_000);
  expect(cloud.condition(Manila, 'my-cloud-manila', 'DeploymentReady')?.message).toContain(
    'my-cloud-manila-share-files',
  );
  await made(cloud, 'share', {}, 'error');
  await act(cloud, share, { extend: { new_size: 2 } });
  await settles(cloud, () => stateOf(cloud, `/shares/${share}`), 'available');
  expect((await ask(cloud, 'GET', `/shares/${share}`))['share']).toMatchObject({ size: 1 });
  const snapshot = await made(cloud, 'snapshot', { share_id: share }, 'creating');
  await act(cloud, share, { allow_access: { access_type: 'cephx', access_to: 'alice' } });
  await cloud.clock.advance(60_000);
  expect(await rulesOf(cloud, share)).toMatchObject([{ state: 'queued_to_apply' }]);
  await cloud.change(Secret, 'ceph-keyrings', { data: before });
  await cloud.ready();
  await settles(cloud, () => stateOf(cloud, `/snapshots/${snapshot}`), 'available');
  await settles(cloud, async () => (await rulesOf(cloud, share))[0]?.state, 'active');
});

test('a rule with which a process had begun when it was killed keeps later ones waiting, until somebody insists', async () => {
  const cloud = await emptied();
  const share = await made(cloud, 'share', {});
  const allow = (to: string) => act(cloud, share, { allow_access: { access_type: 'cephx', access_to: to } });
  const states = async () => (await rulesOf(cloud, share)).map(({ state }) => state).join();
  await allow('alice');
  await cloud.clock.advance(500);
  const [pod] = podsOf(cloud, 'manila-share-files');
  cloud.rehearsal.sandbox.pods.kill({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
  await cloud.clock.advance(60_000);
  await cloud.ready();
  await allow('bob');
  await cloud.clock.advance(60_000);
  expect(await states()).toBe('applying,queued_to_apply');
  await ask(cloud, 'POST', '/services/ensure_shares', { host: 'my-cloud-manila@files' });
  await settles(cloud, states, 'active,active');
});

test('shares are found at the monitors that the operator is told of later', async () => {
  const cloud = await emptied();
  const share = await made(cloud, 'share', {});
  const external = { monitorHosts: '10.0.0.12,10.0.0.13' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { external } } });
  const found = async () => (await locationsOf(cloud, share)).map(({ path }) => path.split(':/')[0]).join();
  await settles(cloud, found, '10.0.0.12:6789,10.0.0.13:6789');
  await cloud.ready();
});
