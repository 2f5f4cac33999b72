import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, call, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const small = { ...identityOnly, rabbitmq: {} };
const measured = {
  ...small,
  glance: { enabled: true },
  gnocchi: {},
  ceilometer: { metricsBackend: 'gnocchi', pollingIntervalSeconds: 60 },
};
const service = (name: string, port: number) => `http://my-cloud-${name}-api.openstack.svc:${port}`;
const alarms = `${service('aodh', 8042)}/v2/alarms`;

const json = async <T>(cloud: Cloud, token: string, url: string) => JSON.parse(await ask(cloud, token, url)) as T;

/** A new image of the administrator. */
async function image(cloud: Cloud, token: string): Promise<string> {
  const body = { name: 'cirros', disk_format: 'raw', container_format: 'bare' };
  const made = await request(cloud, token, 'POST', `${service('glance', 9292)}/v2/images`, body);
  return (JSON.parse(made) as { id: string }).id;
}

const measures = (cloud: Cloud, token: string, id: string) =>
  json<unknown[]>(cloud, token, `${service('gnocchi', 8041)}/v1/resource/image/${id}/metric/image.size/measures`);

test('what the central agent measures is aggregated by Gnocchi, and outlives that both were switched off', async () => {
  const { cloud } = await readyCloud({ spec: measured });
  expect(cloud.isReady('Gnocchi', 'my-cloud-gnocchi')).toBe(true);
  expect(cloud.isReady('Ceilometer', 'my-cloud-ceilometer')).toBe(true);
  expect(cloud.get('Job', 'my-cloud-ceilometer-upgrade')).toBeDefined();
  const token = await login(cloud);
  const id = await image(cloud, token);
  await cloud.clock.advance(180_000);
  expect(await measures(cloud, token, id)).toContainEqual([expect.any(String), 300, 0]);
  const enabled = (value: boolean | null) => ({
    spec: { gnocchi: { enabled: value }, ceilometer: { enabled: value } },
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', enabled(false));
  await cloud.until(() => cloud.list('Gnocchi').length + cloud.list('Ceilometer').length === 0);
  await cloud.change(OpenStackControlPlane, 'my-cloud', enabled(null));
  await cloud.ready();
  expect((await measures(cloud, await login(cloud), id)).length).toBeGreaterThan(0);
});

const shared = sharedCloud(() =>
  readyCloud({ spec: { ...small, glance: { enabled: true }, ceilometer: {}, aodh: {} } }),
);

test('an alarm on an event fires when a service notifies of it, and calls what it is told to', async () => {
  const { cloud } = await shared();
  const token = await login(cloud);
  const alarm = async (name: string, pattern: string) => {
    const rule = { event_rule: { event_type: pattern }, alarm_actions: ['log://'] };
    const answer = await request(cloud, token, 'POST', alarms, { name, type: 'event', ...rule });
    return `${alarms}/${(JSON.parse(answer) as { alarm_id: string }).alarm_id}`;
  };
  const fired = [
    await alarm('alarms', 'alarm.creation'),
    await alarm('images', 'image.create'),
    await alarm('projects', 'identity.project.created'),
  ];
  // Aodh itself is who notifies of that.
  const quiet = await alarm('none', 'nothing');
  await image(cloud, token);
  await call(cloud, token, 'POST', '/projects', { project: { name: 'watched' } });
  await cloud.clock.advance(10_000);
  for (const one of fired) expect(await json(cloud, token, one)).toMatchObject({ state: 'alarm' });
  expect(await json(cloud, token, quiet)).toMatchObject({ state: 'insufficient data' });
  const notifier = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-aodh-notifier'));
  const { name = '' } = notifier?.metadata ?? {};
  expect(cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name })).toContain('Notifying alarm');
});

test('without Gnocchi its agents offer what they measure to a Prometheus', async () => {
  const { cloud } = await shared();
  expect(cloud.get('Job', 'my-cloud-ceilometer-upgrade')).toBeUndefined();
  expect(cloud.get('Service', 'my-cloud-ceilometer-central')?.['spec']).toMatchObject({ ports: [{ port: 9101 }] });
});

test('measures that nobody keeps are told of, with the way out', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { ceilometer: { metricsBackend: 'gnocchi' } },
  });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'CeilometerReady')?.message ?? '';
  await cloud.until(() => told().includes('gnocchi'));
});
