import { OpenStackControlPlane, Watcher } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const spec = { watcher: {} };
const url = 'http://my-cloud-watcher-api.openstack.svc:9322/v1';

interface State {
  readonly uuid: string;
  readonly state: string;
  readonly audit_uuid?: string;
}

/** A new audit of the administrator for a goal that changes nothing, once it has ended. */
async function audited(cloud: Cloud, token: string): Promise<State> {
  const made = await request(cloud, token, 'POST', `${url}/audits`, { audit_type: 'ONESHOT', goal: 'dummy' });
  const { uuid } = JSON.parse(made) as State;
  await cloud.clock.advance(20_000);
  return JSON.parse(await ask(cloud, token, `${url}/audits/${uuid}`)) as State;
}

async function plansOf(cloud: Cloud, token: string): Promise<State[]> {
  const answer = await ask(cloud, token, `${url}/action_plans`);
  return (JSON.parse(answer) as { action_plans: State[] }).action_plans;
}

test('below a control plane that states it, audits end with plans that are carried out, and outlive that it was off', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('Watcher', 'my-cloud-watcher')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'watcher', type: 'infra-optim' }),
  );
  const token = await login(cloud);
  const { uuid, state } = await audited(cloud, token);
  expect(state).toBe('SUCCEEDED');
  const [plan] = await plansOf(cloud, token);
  expect(plan).toMatchObject({ audit_uuid: uuid, state: 'RECOMMENDED' });
  await request(cloud, token, 'POST', `${url}/action_plans/${plan?.uuid}/start`);
  await cloud.clock.advance(20_000);
  expect((await plansOf(cloud, token)).map(({ state }) => state)).toEqual(['SUCCEEDED']);
  const picture = await ask(cloud, token, `${url}/data_model`);
  expect(JSON.parse(picture)).toMatchObject({ context: [{ node_hostname: 'node-1', node_vcpus: expect.any(Number) }] });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { watcher: { enabled: false } } });
  await cloud.until(() => cloud.get('Watcher', 'my-cloud-watcher') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { watcher: { enabled: null } } });
  await cloud.ready();
  expect((await plansOf(cloud, await login(cloud))).map(({ uuid }) => uuid)).toEqual([plan?.uuid]);
});

test('without Nova it does not come up, and says what it misses', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const none = { nova: { enabled: false }, neutron: { enabled: false }, ...spec };
  await cloud.settle(cloud.rehearsal.create(controlPlane(none)));
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'WatcherReady');
  await cloud.until(() => told()?.reason === 'DependencyDisabled');
  expect(told()?.message).toContain('nova');
});

test('without a decision engine it is not Ready; with one again audits end', async () => {
  const { cloud } = await readyCloud({ spec });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { watcher: { decisionEngineReplicas: 0 } } });
  await cloud.until(() => cloud.condition(Watcher, 'my-cloud-watcher')?.status === 'False');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { watcher: { decisionEngineReplicas: 1 } } });
  await cloud.ready();
  expect((await audited(cloud, await login(cloud))).state).toBe('SUCCEEDED');
});
