import { type Kind, Secret } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, identityOnly, isLasting, readyCloud } from './cloud.ts';
import { get, login } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const keystone = 'my-cloud-keystone';
const hour = 3_600_000;
const rotation = { fernetKeyRotationInterval: 1, fernetMaxActiveKeys: 4, tokenExpiration: 1800 };
let cloud: Cloud;
const bringUp = () => readyCloud({ spec: { ...identityOnly, keystone: rotation } });
const shared = sharedCloud(bringUp);

const keys = (name = `${keystone}-fernet-keys`) =>
  (cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>;
const pods = () =>
  cloud
    .list('Pod')
    .filter(isLasting)
    .map(({ metadata }) => metadata.uid);
/** The status line with which Keystone answers whoever has the token. */
const answered = async (token: string) => (await get(cloud, token, '/projects')).split('\n')[0] ?? '';

describe('fernet keys', () => {
  test('ten rotations: within their number, no pod rolls, Ready all the time, tokens outlive a rotation', async () => {
    ({ cloud } = await bringUp());
    const before = pods();
    const transitions: string[] = [];
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
      const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string; status: string }[] };
      const open = conditions.find(({ type }) => type === 'Ready')?.status === 'False';
      if (object.kind === 'Keystone' && open) transitions.push(JSON.stringify(conditions.at(-1)));
    });
    const seen = new Set<string>();
    for (let turn = 1; turn <= 10; turn++) {
      await cloud.clock.advance((turn === 1 ? 0.9 : 0.8) * hour);
      const token = await login(cloud);
      await cloud.clock.advance(0.2 * hour);
      expect(await answered(token), `rotation ${turn}`).toContain('200');
      seen.add(Object.values(keys()).sort().join());
      expect(Object.keys(keys()).length).toBeLessThanOrEqual(rotation.fernetMaxActiveKeys);
    }
    expect(seen.size).toBe(10);
    expect(Object.keys(keys())).toHaveLength(rotation.fernetMaxActiveKeys);
    expect(pods()).toEqual(before);
    expect(transitions).toEqual([]);
  });

  test('keys that somebody emptied one by one are made again', async () => {
    ({ cloud } = await shared());
    await cloud.change(Secret, `${keystone}-fernet-keys`, { data: { 0: '', 1: '' } });
    await cloud.until(() => Object.values(keys()).every((key) => key !== ''));
    expect(await answered(await login(cloud))).toContain('200');
  });

  test('a repository that somebody emptied is filled again', async () => {
    ({ cloud } = await shared());
    await cloud.change(Secret, `${keystone}-fernet-keys`, { data: null });
    await cloud.until(() => Object.keys(keys()).length === 2);
  });
});

test('a credential that is changed by hand reaches the database and the services', async () => {
  ({ cloud } = await shared());
  const before = pods();
  const password = Buffer.from('another-password-0123').toString('base64');
  await cloud.change(Secret, `${keystone}-db-password`, { data: { password } });
  await cloud.clock.advance(10_000);
  await cloud.ready();
  expect(pods()).not.toEqual(before);
  expect(await answered(await login(cloud))).toContain('200');
});

// The last one of the cloud that is shared: it misses the key then.
test('a key of the credential keys that was taken out is not made anew', async () => {
  ({ cloud } = await shared());
  await cloud.change(Secret, `${keystone}-credential-keys`, { data: { '1': null } });
  expect(cloud.condition(Keystone, keystone)).toMatchObject({ reason: 'KeyMaterialMissing' });
  expect(cloud.condition(Keystone, keystone)?.message).toContain('has lost key 1, and with it the credentials');
  expect(cloud.condition(OpenStackControlPlane as Kind, 'my-cloud')?.reason).toBe('KeyMaterialMissing');
  expect(Object.keys(keys(`${keystone}-credential-keys`))).toEqual(['0']);
});

test('credential keys that are lost beside a retained database are not made anew', async () => {
  ({ cloud } = await bringUp());
  const name = `${keystone}-credential-keys`;
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(
    () => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined && cloud.list('Pod').length === 0,
    10,
  );
  await cloud.remove(Secret, name);
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  const words = () => JSON.stringify(cloud.get('Keystone', keystone)?.['status'] ?? {});
  await cloud.until(() => words().includes(`Secret ${name} is gone`), 10);
  expect(words()).toMatch(/is left of an earlier Keystone of this name: to do without them, delete that one as well/);
  await cloud.clock.advance(300_000);
  expect(cloud.get('Secret', name)).toBeUndefined();
});
