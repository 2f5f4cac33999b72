import { expect, test } from 'vitest';
import { guestImage, member, tiny } from '../fixture.ts';
import { administrator, prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

/** What Magnum answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, json?: object) {
  const options = { raise_exc: false, ...(json === undefined ? {} : { json }) };
  const call = `container_infrastructure_management.${method}`;
  const { status, text } = await user.call<{ status: number; text: string }>(call, path, options);
  return { status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

test('templates of clusters are made, and outlive that Magnum was disabled; a conductor is up', async () => {
  const heat = optionalService('heat', 'heats');
  const magnum = optionalService('magnum', 'magnums');
  await heat({ enabled: true });
  await magnum({ enabled: true });
  const admin = administrator().connectedAnew();
  const [user, image, flavor] = [(await member()).connectedAnew(), await guestImage(), await tiny()];
  const template = { name: `${prefix}template`, coe: 'kubernetes', image_id: image, flavor_id: flavor };
  const without = await asked(user, 'post', '/clustertemplates', template);
  expect(without.status).toBe(400);
  expect(JSON.stringify(without.body)).toContain('Cluster type (vm, None, kubernetes) not supported');
  await admin.call('image.update_image', image, { os_distro: 'fedora-coreos' });
  const made = await asked(user, 'post', '/clustertemplates', template);
  expect(made).toMatchObject({ status: 201, body: { cluster_distro: 'fedora-coreos' } });
  await until({
    what: 'a conductor to be up',
    seconds: 120,
    probe: async () =>
      JSON.stringify((await asked(admin, 'get', '/mservices')).body).includes('"state":"up"') || undefined,
  });
  await magnum({ enabled: false });
  await magnum({ enabled: true });
  const path = `/clustertemplates/${String(made.body['uuid'])}`;
  expect(await asked(user, 'get', path)).toMatchObject({ status: 200, body: { name: template.name } });
  expect((await asked(user, 'delete', path)).status).toBe(204);
});
