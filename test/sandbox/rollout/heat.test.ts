import { Secret } from '@openstack-operator/kube';
import { Heat, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, rabbitmq: {}, heat: { engineReplicas: 2 } };
const url = `http://my-cloud-heat-api.openstack.svc:8004/v1/${'0'.repeat(32)}`;
const key = (cloud: Cloud) => cloud.get('Secret', 'my-cloud-heat-auth-encryption-key')?.['data'];

/** A new stack of the administrator, and what became of it. */
async function made(cloud: Cloud, token: string, name: string) {
  const answer = await request(cloud, token, 'POST', `${url}/stacks`, { stack_name: name, template: {} });
  const { id } = (JSON.parse(answer) as { stack: { id: string } }).stack;
  await cloud.clock.advance(10_000);
  return { path: `${url}/stacks/${name}/${id}`, shown: await ask(cloud, token, `${url}/stacks/${name}/${id}`) };
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, and makes and deletes stacks with a project in their own domain', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Heat', 'my-cloud-heat')).toBe(true);
  expect(cloud.get('Deployment', 'my-cloud-heat-engine')?.['spec']).toMatchObject({ replicas: 2 });
  const services = await entitiesOf(cloud, 'services');
  for (const [name, type] of [
    ['heat', 'orchestration'],
    ['heat-cfn', 'cloudformation'],
  ])
    expect(services).toContainEqual(expect.objectContaining({ name, type }));
  const token = await login(cloud);
  const { path, shown } = await made(cloud, token, 'web');
  expect(JSON.parse(shown)).toMatchObject({ stack: { stack_name: 'web', stack_status: 'CREATE_COMPLETE' } });
  await expect(made(cloud, token, 'web')).rejects.toThrow('The Stack (web) already exists.');
  const domain = (await entitiesOf(cloud, 'domains')).find(({ name }) => name === 'heat');
  expect(await entitiesOf(cloud, 'projects')).toContainEqual(
    expect.objectContaining({ name: `stack-${path.split('/').at(-1)}`, domain_id: domain?.['id'] }),
  );
  await request(cloud, token, 'DELETE', path);
  expect(JSON.parse(await ask(cloud, token, `${url}/stacks`))).toEqual({ stacks: [] });
});

test('stacks are deleted after it was switched off and on, under the same key', async () => {
  const { cloud } = await shared();
  const before = key(cloud);
  const { path } = await made(cloud, await login(cloud), 'web');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { heat: { enabled: false } } });
  await cloud.until(() => cloud.get('Heat', 'my-cloud-heat') === undefined);
  expect(key(cloud)).toEqual(before);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { heat: { enabled: null } } });
  await cloud.ready();
  const token = await login(cloud);
  await request(cloud, token, 'DELETE', path);
  expect(JSON.parse(await ask(cloud, token, `${url}/stacks`))).toEqual({ stacks: [] });
});

test('a key that is lost is not made anew', async () => {
  const { cloud } = await shared();
  const told = () => cloud.condition(Heat, 'my-cloud-heat', 'CredentialsReady');
  await cloud.remove(Secret, 'my-cloud-heat-auth-encryption-key');
  await cloud.until(() => told()?.reason === 'KeyMaterialMissing');
  expect(told()?.message).toContain('the credentials of stacks: restore the Secret from a backup');
});
