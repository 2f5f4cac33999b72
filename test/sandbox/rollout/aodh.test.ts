import { Aodh, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, rabbitmq: {}, aodh: { evaluatorReplicas: 2 } };
const url = 'http://my-cloud-aodh-api.openstack.svc:8042/v2/alarms';

/** A new alarm of the administrator: its address. */
async function made(cloud: Cloud, token: string) {
  const rule = { event_rule: { event_type: 'compute.instance.*' }, alarm_actions: ['log://'] };
  const answer = await request(cloud, token, 'POST', url, { name: 'servers', type: 'event', ...rule });
  return `${url}/${(JSON.parse(answer) as { alarm_id: string }).alarm_id}`;
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, and keeps alarms and their history', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Aodh', 'my-cloud-aodh')).toBe(true);
  expect(cloud.get('Deployment', 'my-cloud-aodh-evaluator')?.['spec']).toMatchObject({ replicas: 2 });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'aodh', type: 'alarming' }),
  );
  const token = await login(cloud);
  const alarm = await made(cloud, token);
  expect(JSON.parse(await ask(cloud, token, alarm))).toMatchObject({ state: 'insufficient data' });
  expect(JSON.parse(await ask(cloud, token, `${alarm}/history`))).toEqual([
    expect.objectContaining({ type: 'creation' }),
  ]);
  await request(cloud, token, 'DELETE', alarm);
  expect(JSON.parse(await ask(cloud, token, url))).toEqual([]);
});

test('alarms are kept while it is switched off', async () => {
  const { cloud } = await shared();
  const alarm = await made(cloud, await login(cloud));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { aodh: { enabled: false } } });
  await cloud.until(() => cloud.get('Aodh', 'my-cloud-aodh') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { aodh: { enabled: null } } });
  await cloud.ready();
  expect(JSON.parse(await ask(cloud, await login(cloud), alarm))).toMatchObject({ name: 'servers' });
});

test('an option that says where events are is refused, with the field instead', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { aodh: { config: { 'aodh.conf': { listener: { event_alarm_topic: 'mine' } } } } },
  });
  const told = () => cloud.condition(Aodh, 'my-cloud-aodh', 'ConfigReady');
  await cloud.until(() => told()?.message.includes('event_alarm_topic') === true);
  expect(told()?.message).toContain('it is where events are sent to');
});
