import { Glance, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { readyCloud } from './cloud.ts';
import { ask, login } from './keystone.ts';

test('a rule of policy of a user decides what the API lets pass, and is gone with the field', async () => {
  const policy = { get_images: 'role:auditor or rule:nobody', nobody: '!' };
  const { cloud } = await readyCloud({ spec: { glance: { policy } } });
  const token = await login(cloud);
  const images = () => ask(cloud, token, 'http://my-cloud-glance-api:9292/v2/images');
  expect(await images()).toContain('get_images');

  // With a mistake in it the service stays as it is.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { policy: { get_image: 'reader' } } } });
  await cloud.until(() => cloud.condition(Glance, 'my-cloud-glance', 'ConfigReady')?.reason === 'ConfigRefused');
  expect(cloud.condition(Glance, 'my-cloud-glance', 'ConfigReady')?.message).toContain(
    'spec.policy["get_image"]: unexpected reader',
  );

  // Nor does it read another file meanwhile.
  const config = { 'glance-api.conf': { oslo_policy: { policy_file: 'other.yaml' } } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { policy: { get_image: null }, config } } });
  await cloud.until(
    () => cloud.condition(Glance, 'my-cloud-glance', 'ConfigReady')?.message?.includes('policy_file') === true,
  );
  expect(cloud.condition(Glance, 'my-cloud-glance', 'ConfigReady')?.message).toContain('spec.policy');
  expect(await images()).toContain('get_images');

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { policy: null, config: null } } });
  await cloud.ready();
  expect(await images()).toContain('"images"');
});
