import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, rabbitmq: {}, mistral: { executorReplicas: 2, housekeeping: { purgeAfterDays: 7 } } };
const url = 'http://my-cloud-mistral-api.openstack.svc:8989/v2';
const definition = (name: string, action: string) => ({ version: '2.0', [name]: { tasks: { greet: { action } } } });

/** What became of a workflow of one action. */
async function executed(cloud: Cloud, token: string, name: string): Promise<Record<string, unknown>> {
  const made = await request(cloud, token, 'POST', `${url}/executions`, { workflow_name: name });
  const { id } = JSON.parse(made) as { id: string };
  await cloud.clock.advance(5000);
  return JSON.parse(await ask(cloud, token, `${url}/executions/${id}`)) as Record<string, unknown>;
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, and a workflow runs to its end', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Mistral', 'my-cloud-mistral')).toBe(true);
  expect(cloud.get('Deployment', 'my-cloud-mistral-executor')?.['spec']).toMatchObject({ replicas: 2 });
  const files = cloud.list('ConfigMap').filter(({ metadata }) => metadata.name.startsWith('my-cloud-mistral-server-'));
  expect(JSON.stringify(files)).toContain('older_than = 10080');
  const services = await entitiesOf(cloud, 'services');
  for (const type of ['workflow', 'workflowv2']) expect(services).toContainEqual(expect.objectContaining({ type }));
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/workflows`, definition('hello', 'std.echo'));
  expect(await executed(cloud, token, 'hello')).toMatchObject({ workflow_name: 'hello', state: 'SUCCESS' });
});

test('its workflows are there after it was switched off and on', async () => {
  const { cloud } = await shared();
  await request(cloud, await login(cloud), 'POST', `${url}/workflows`, definition('kept', 'std.noop'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mistral: { enabled: false } } });
  await cloud.until(() => cloud.get('Mistral', 'my-cloud-mistral') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mistral: { enabled: null } } });
  await cloud.ready();
  expect(await executed(cloud, await login(cloud), 'kept')).toMatchObject({ state: 'SUCCESS' });
});

test('an action that fails is told; without an executor a workflow stays under way', async () => {
  const { cloud } = await shared();
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/workflows`, definition('broken', 'std.fail'));
  expect(await executed(cloud, token, 'broken')).toMatchObject({
    state: 'ERROR',
    state_info: expect.stringContaining('Failure caused by error in tasks') as string,
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mistral: { executorReplicas: 0 } } });
  const pods = () => cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-mistral-executor-'));
  await cloud.until(() => pods().length === 0);
  expect(await executed(cloud, token, 'broken')).toMatchObject({ state: 'RUNNING' });
});
