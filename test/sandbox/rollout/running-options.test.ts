import type { Kind, StoredObject } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const keystone = 'my-cloud-keystone';
const mistyped = { keystone: { config: { 'keystone.conf': { token: { alow_expired_window: 1 } } } } };
const words =
  'spec.config["keystone.conf"].token.alow_expired_window: there is no such option; did you mean allow_expired_window?';

test('an option that nothing knows is refused before anything of it is written', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, ...mistyped })));
  await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === 'ConfigRefused');
  expect(cloud.condition(Keystone, keystone, 'ConfigReady')?.message).toContain(words);
  const above = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.message ?? '';
  await cloud.until(() => above().startsWith(`Keystone ${keystone}: ${words}`));
  expect(cloud.get('Deployment', `${keystone}-api`)).toBeUndefined();
});

test('a cloud that runs with such an option, as an earlier version let it, stays Ready, and is told of it', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, ...mistyped })));
  await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === 'ConfigRefused');
  // What an earlier version would have left: it was Ready with this spec.
  const client = cloud.rehearsal.sandbox.client();
  const { metadata, ...rest } = cloud.get('Keystone', keystone) as StoredObject;
  const before = { ...(rest['status'] as object), readyGeneration: metadata.generation };
  const ref = { namespace: 'openstack', name: keystone };
  await cloud.settle(client.patch(Keystone as Kind, ref, 'merge', { status: before }, { subresource: 'status' }));
  await cloud.ready();
  const condition = cloud.condition(Keystone, keystone, 'ConfigReady');
  expect(condition).toMatchObject({ status: 'True', reason: 'Degraded' });
  expect(condition?.message).toContain(words);
  const warned = cloud.list('Event').filter(({ reason, type }) => reason === 'Degraded' && type === 'Warning');
  expect(JSON.stringify(warned)).toContain('alow_expired_window');
});

test('a change that is refused deletes, restarts and writes nothing, and is gone when it is mended', async () => {
  const settings = { DEFAULT: { debug: true } };
  const { cloud } = await readyCloud({ spec: { ...identityOnly, keystone: { config: { api: settings } } } });
  await cloud.clock.advance(60_000);
  const snapshot = () =>
    ['ConfigMap', 'Secret', 'Deployment', 'Pod']
      .flatMap((kind) => cloud.list(kind))
      .filter(({ metadata: { name } }) => name.startsWith(keystone))
      .map(({ kind, metadata: { name, uid, resourceVersion } }) =>
        [kind, name, uid, kind === 'Pod' ? '' : resourceVersion].join(' '),
      )
      .sort();
  const before = snapshot();
  expect(before.join('\n')).toContain(`Secret ${keystone}-api-own-config`);
  const change = (config: object) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: { config } } });
  await change({ api: null, apy: settings });
  await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === 'ConfigRefused');
  await cloud.clock.advance(10 * 60_000);
  expect(snapshot()).toEqual(before);
  await change({ api: settings, apy: null });
  await cloud.ready();
  expect(snapshot()).toEqual(before);
});
