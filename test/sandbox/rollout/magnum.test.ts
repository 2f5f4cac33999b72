import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const on = { enabled: true };
const spec = {
  ...identityOnly,
  rabbitmq: on,
  ovnNetwork: on,
  glance: on,
  placement: on,
  neutron: on,
  nova: { virtType: 'qemu' },
  heat: {},
  magnum: { conductorReplicas: 2 },
};
const url = 'http://my-cloud-magnum-api.openstack.svc:9511/v1';
const images = 'http://my-cloud-glance-api.openstack.svc:9292/v2/images';

/** A template of clusters of an image that says what it is. */
async function template(cloud: Cloud, token: string): Promise<Record<string, unknown>> {
  const image = { name: 'coreos', disk_format: 'qcow2', container_format: 'bare', os_distro: 'fedora-coreos' };
  await request(cloud, token, 'POST', images, image);
  const asked = { name: 'small', coe: 'kubernetes', image_id: 'coreos' };
  return JSON.parse(await request(cloud, token, 'POST', `${url}/clustertemplates`, asked)) as Record<string, unknown>;
}

test('below a control plane it is Ready, and keeps templates while it is off; a cluster gets as far as its trustee', async () => {
  const { cloud } = await readyCloud({ spec, capacity: { cpu: '8', memory: '32Gi' } });
  expect(cloud.get('Deployment', 'my-cloud-magnum-conductor')?.['spec']).toMatchObject({ replicas: 2 });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(expect.objectContaining({ type: 'container-infra' }));
  const token = await login(cloud);
  const plainImage = { name: 'cirros', disk_format: 'qcow2', container_format: 'bare' };
  await request(cloud, token, 'POST', images, plainImage);
  await expect(
    request(cloud, token, 'POST', `${url}/clustertemplates`, { coe: 'kubernetes', image_id: 'cirros' }),
  ).rejects.toThrow('Cluster type (vm, None, kubernetes) not supported.');
  const { uuid } = await template(cloud, token);
  const made = await request(cloud, token, 'POST', `${url}/clusters`, { name: 'one', cluster_template_id: uuid });
  const { uuid: cluster } = JSON.parse(made) as { uuid: string };
  await cloud.clock.advance(5000);
  expect(JSON.parse(await ask(cloud, token, `${url}/clusters/${cluster}`))).toMatchObject({
    status: 'CREATE_FAILED',
    status_reason: expect.stringContaining('Failed to get discovery url') as string,
  });
  const domain = (await entitiesOf(cloud, 'domains')).find(({ name }) => name === 'magnum');
  expect(await entitiesOf(cloud, 'users')).toContainEqual(
    expect.objectContaining({ name: `${cluster}_project`, domain_id: domain?.id }),
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { magnum: { enabled: false } } });
  await cloud.until(() => cloud.get('Magnum', 'my-cloud-magnum') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { magnum: { enabled: null } } });
  await cloud.ready();
  expect(await ask(cloud, await login(cloud), `${url}/clustertemplates/${String(uuid)}`)).toContain('"small"');
});

test('without what its clusters are made of it waits, and says for what', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, rabbitmq: on } });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { magnum: on } });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'MagnumReady');
  await cloud.until(() => told()?.status === 'False');
  expect(told()?.message).toContain('spec.glance');
});
