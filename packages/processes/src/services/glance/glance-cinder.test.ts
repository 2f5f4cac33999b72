import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/glance/glance-api.conf';
const store = `[blocks]
cinder_store_auth_address = http://keystone:5000/v3
cinder_store_user_name = glance
cinder_store_password = pw
cinder_store_project_name = service
cinder_store_user_domain_name = Default
cinder_store_project_domain_name = Default
cinder_os_region_name = RegionOne
`;
const helper = `[privsep_osbrick]\ncapabilities =\nhelper_command = privsep-helper --config-file ${conf}\n`;
const schemes = 'allowed_direct_url_schemes = cinder\nglance_catalog_info = image::internalURL\n';

interface Volume {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly source_volid?: string;
}

/** A Glance with a store of volumes beside a Cinder, and an image. `more`: of the store; `cinder`: of Cinder's process. */
async function running({
  more = '',
  brick = helper,
  cinder = schemes,
  started = true,
}: {
  more?: string;
  brick?: string;
  cinder?: string;
  started?: boolean;
} = {}) {
  const { world, token, container } = await ground({
    [conf]: (text) =>
      `${text.replace(/enabled_backends = .*\n/u, 'enabled_backends = local:file,blocks:cinder\nshow_image_direct_url = true\n')}\n${store}${more}${brick}`,
    '/etc/cinder/cinder.conf': (text) =>
      text.replace('[DEFAULT]\n', `[DEFAULT]\ndefault_volume_type = __DEFAULT__\n${cinder}`),
  });
  const register = async (path: string, body: object) => {
    const headers = { 'x-auth-token': token };
    return (await request(world, 'keystone', 5000, `/v3/${path}`, { method: 'POST', headers, body })).body ?? '';
  };
  const made = JSON.parse(await register('services', { service: { name: 'cinderv3', type: 'volumev3' } }));
  const { service } = made as { service: { id: string } };
  const url = 'http://cinder:8776/v3/%(project_id)s';
  await register('endpoints', {
    endpoint: { service_id: service.id, interface: 'public', region: 'RegionOne', url },
  });
  const [images, volumes] = [container('glance'), container('cinder')];
  await images.run(['glance-manage', 'db_sync']);
  await volumes.run(['cinder-manage', 'db', 'sync']);
  if (started) {
    volumes.start(['uwsgi', '--ini', '/cinder.ini']);
    container('cinder-scheduler').start(['cinder-scheduler']);
    await world.clock.advance(20_000);
  }
  const process = started ? container('cinder-volume').start(['cinder-volume']) : undefined;
  const api = images.start(['glance-api']);
  await world.clock.advance(20_000);
  const send = async (host: 'glance' | 'cinder', method: string, path: string, body?: unknown, headers = {}) => {
    const port = host === 'glance' ? 9292 : 8776;
    const reply = await request(world, host, port, path, {
      method,
      headers: { 'x-auth-token': token, ...headers },
      body,
    });
    // What Cinder begins is done then.
    await world.clock.advance(3000);
    return { status: reply.status, text: reply.body ?? '' };
  };
  const attributes = { name: 'cirros', disk_format: 'raw', container_format: 'bare' };
  const isUp = api.status() === undefined;
  const { id } = isUp
    ? (JSON.parse((await send('glance', 'POST', '/v2/images', attributes)).text) as { id: string })
    : { id: '' };
  const file = `/v2/images/${id}/file`;
  const upload = () => send('glance', 'PUT', file, 'a disk', { 'x-image-meta-store': 'blocks' });
  const all = async () => {
    const { text } = await send('cinder', 'GET', '/v3/volumes?all_tenants=1');
    return (JSON.parse(text) as { volumes: Volume[] }).volumes;
  };
  /** Makes a type of volumes. */
  const makeType = (name: string, extra_specs: object) =>
    send('cinder', 'POST', '/v3/types', { volume_type: { name, extra_specs } });
  return { api, process, send, upload, all, id, file, makeType };
}

it('an image is a volume, which is free when nobody reads it, and goes with the image', async () => {
  const { send, upload, all, id, file } = await running();
  expect(await upload()).toMatchObject({ status: 204 });
  const [volume] = await all();
  expect(volume).toMatchObject({ name: `image-${id}`, status: 'available', metadata: { image_size: '8' } });
  const { text } = await send('glance', 'GET', `/v2/images/${id}`);
  expect(JSON.parse(text)).toMatchObject({ stores: 'blocks', direct_url: `cinder://blocks/${volume?.id}` });
  expect(await send('glance', 'GET', file)).toEqual({ status: 200, text: '"a disk"' });
  expect(await all()).toMatchObject([{ status: 'available' }]);
  expect((await send('glance', 'DELETE', `/v2/images/${id}`)).status).toBe(204);
  expect(await all()).toEqual([]);
});

it.each([
  ['where its options allow for it', schemes, 0],
  ['which it downloads else', schemes.replace('allowed_direct_url_schemes = cinder\n', ''), 1],
])('Cinder clones the image, %s', async (_name, cinder, downloads) => {
  const { send, upload, all, process, id } = await running({ cinder });
  await upload();
  const [image] = await all();
  await send('cinder', 'POST', '/v3/volumes', { volume: { size: 1, imageRef: id } });
  const clones = (await all()).filter(({ source_volid: source }) => source === image?.id);
  expect(clones).toHaveLength(1 - downloads);
  expect((await all()).map(({ status }) => status)).toEqual(['available', 'available']);
  expect((process?.output() ?? '').split('Image download').length - 1).toBe(downloads);
});

it.each([
  ['sudo, which it may not', '', 'FailedToDropPrivileges: privsep helper command exited non-zero (1)'],
  [
    'capabilities that it does not have',
    helper.replace('capabilities =\n', ''),
    'FailedToDropPrivileges: Privsep daemon failed to start',
  ],
])('os-brick starts its helper with %s', async (_name, brick, words) => {
  const { api, upload, all } = await running({ brick });
  expect((await upload()).status).toBe(500);
  expect(api.output()).toContain(words);
  expect(await all()).toEqual([]);
});

it('a type that there is not is told at the start, and fails uploads', async () => {
  const { api, upload, makeType } = await running({ more: 'cinder_volume_type = images\n' });
  expect(api.output()).toContain('Invalid `cinder_volume_type images`');
  expect((await upload()).status).toBe(500);
  expect(api.output()).toContain('BackendException: Volume type with name images could not be found.');
  await makeType('images', { multiattach: '<is> True' });
  expect((await upload()).status).toBe(204);
});

it('with a type it does not start while nothing answers for Cinder; without one it does, and uploads fail', async () => {
  const typed = await running({ started: false, more: 'cinder_volume_type = images\n' });
  expect(typed.api.status()).toBe(1);
  expect(typed.api.output()).toContain('ConnectFailure: Unable to establish connection to http://cinder:8776/v3');
  const without = await running({ started: false });
  expect((await without.upload()).status).toBe(500);
  expect(without.api.output()).toContain('ConnectFailure: Unable to establish connection to http://cinder:8776/v3');
});

it.each([
  ['is tried five times', {}, 500],
  ['and a type that lets several have it is read', { multiattach: '<is> True' }, 200],
])('a volume that another one has %s', async (_name, extra, status) => {
  const one = await running({ more: 'cinder_volume_type = images\n' });
  await one.makeType('images', extra);
  await one.upload();
  const [volume] = await one.all();
  const taken = { attachment: { volume_uuid: volume?.id, mode: 'ro' } };
  const version = { 'openstack-api-version': 'volume 3.54' };
  const { text } = await one.send('cinder', 'POST', '/v3/attachments', taken, version);
  const { attachment } = JSON.parse(text) as { attachment: { id: string } };
  const complete = { 'os-complete': attachment.id };
  await one.send('cinder', 'POST', `/v3/attachments/${attachment.id}/action`, complete, version);
  expect((await one.send('glance', 'GET', one.file)).status).toBe(status);
  const words = 'status must be available or downloading to reserve, but the current status is in-use';
  expect(one.api.output().includes(words)).toBe(status === 500);
  expect(await one.all()).toMatchObject([{ status: 'in-use' }]);
});

it('more images than the quota of the project has volumes are refused', async () => {
  const { api, upload } = await running({ cinder: `${schemes}quota_volumes = 0\n` });
  expect((await upload()).status).toBe(500);
  expect(api.output()).toContain('BackendException: VolumeLimitExceeded: Maximum number of volumes allowed (0)');
});
