import { expect, test } from 'vitest';
import { admin, externalNetwork, guestImage, guests, member, networks, stranger, tiny } from './fixture.ts';
import { prefix } from './running-cloud.ts';

test('a server over the quota is refused with 403 and the words of the quota', async () => {
  const user = await stranger();
  await admin.call('compute.update_quota_set', user.projectId, { instances: 0 });
  const wanted = { name: `${prefix}quota`, image_id: await guestImage(), flavor_id: await tiny(), networks: 'none' };
  await expect(user.call('compute.create_server', wanted)).rejects.toMatchObject({
    kind: 'ForbiddenException',
    status: 403,
    message: expect.stringMatching(/Quota exceeded for instances.*0 of 0 instances/) as string,
  });
});

test('a network over the quota is refused with 409 and the words of the quota', async () => {
  const user = await stranger();
  await admin.call('network.update_quota', user.projectId, { networks: 0 });
  await expect(user.call('network.create_network', { name: `${prefix}quota` })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("Quota exceeded for resources: ['network']") as string,
  });
  await admin.call('network.delete_quota', user.projectId);
});

test('what only administrators may do is refused with 403, by each service', async () => {
  const user = await stranger();
  const refused = { status: 403 };
  await expect(user.call('compute.hypervisors')).rejects.toMatchObject({
    kind: 'ForbiddenException',
    status: 403,
    message: expect.stringContaining("Policy doesn't allow os_compute_api:os-hypervisors") as string,
  });
  await expect(user.call('identity.create_project', { name: `${prefix}mine` })).rejects.toMatchObject(refused);
  await expect(
    user.call('network.create_network', { name: `${prefix}flat`, provider_network_type: 'flat' }),
  ).rejects.toMatchObject(refused);
  await expect(
    user.call('image.create_image', `${prefix}public`, {
      data: 'x',
      disk_format: 'raw',
      container_format: 'bare',
      visibility: 'public',
    }),
  ).rejects.toMatchObject(refused);
  await expect(user.call('placement.resource_providers')).rejects.toMatchObject(refused);
});

test('a project sees nothing of another one', async () => {
  const [user, other, { one }, { near, router }] = await Promise.all([member(), stranger(), guests(), networks()]);
  const { id: image } = await user.call<{ id: string }>('image.create_image', `${prefix}private`, {
    data: 'private',
    disk_format: 'raw',
    container_format: 'bare',
    wait: true,
  });
  const ids = async (list: string, query: object = {}) =>
    (await other.call<{ id: string }[]>(list, query)).map(({ id }) => id);
  expect(await ids('compute.servers')).toEqual([]);
  expect(await ids('image.images')).not.toContain(image);
  expect(await ids('image.images')).toContain(await guestImage());
  expect(await ids('network.networks')).toEqual([await externalNetwork()]);
  expect(await ids('network.routers')).toEqual([]);
  expect(await ids('network.ports')).toEqual([]);

  const missing = { status: 404 };
  await expect(other.call('compute.get_server', one.id)).rejects.toMatchObject(missing);
  await expect(other.call('compute.get_server_console_output', one.id)).rejects.toMatchObject(missing);
  await expect(other.call('compute.delete_server', one.id, { ignore_missing: false })).rejects.toMatchObject(missing);
  await expect(other.call('image.get_image', image)).rejects.toMatchObject(missing);
  await expect(other.call('network.get_network', near)).rejects.toMatchObject(missing);
  await expect(other.call('network.get_router', router)).rejects.toMatchObject(missing);
  expect((await one.state()).status).toBe('ACTIVE');
  await user.call('image.delete_image', image);
});
