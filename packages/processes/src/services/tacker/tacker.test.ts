import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = ['--config-file', '/etc/tacker/tacker.conf'];

/** Tacker's server and conductor on one host, with a database that is ready. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('tacker');
  await host.run(['tacker-db-manage', ...conf, 'upgrade', 'head']);
  const server = host.start(['tacker-server', ...conf]);
  const conductor = host.start(['tacker-conductor', ...conf]);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'tacker', 9890, path, { method, headers: { 'x-auth-token': token }, body });
    return {
      status: reply.status,
      body: reply.status < 300 ? (JSON.parse(reply.body || 'null') as unknown) : reply.body,
    };
  };
  const vim = (password: string) => ({
    vim: {
      name: 'here',
      type: 'openstack',
      auth_url: 'http://keystone:5000',
      auth_cred: { username: 'admin', password },
      vim_project: { name: 'admin' },
    },
  });
  return {
    send,
    server,
    conductor,
    register: (password = 'adminpw') => send('POST', '/v1.0/vims', vim(password)),
  };
}

it('registers a cloud whose password is right, and hides the password', async () => {
  const { register, send } = await running();
  expect(await register()).toMatchObject({
    status: 201,
    body: { vim: { status: 'ACTIVE', auth_cred: { key_type: 'fernet_key', password: '***' } } },
  });
  expect((await register('wrong')).status).toBe(500);
  expect(await send('GET', '/v1.0/vims')).toMatchObject({ body: { vims: [{ name: 'here' }] } });
});

it('a key has no directory: the fault is the server, as long as nobody makes one', async () => {
  const { register, server } = await running({
    '/etc/tacker/tacker.conf': (text) => text.replace('openstack = /var/lib/tacker', 'openstack = /nowhere/keys'),
  });
  expect((await register()).status).toBe(500);
  expect(server.output()).toContain('Unable to find key file for VIM');
});

it.each([
  [
    'without a directory for packages the conductor ends',
    'vnf_package_csar_path = /var/lib/tacker/',
    'vnf_package_csar_path = /nowhere/',
    "VNF package CSAR path directory /nowhere/ doesn't exist",
  ],
  [
    'nor does it start without those that it coordinates with',
    'backend_url = file:///var/lib/tacker',
    'backend_url = memcached://nowhere:11211',
    'tooz.coordination.ToozConnectionError',
  ],
])('%s', async (_title, before, after, words) => {
  const { conductor } = await running({ '/etc/tacker/tacker.conf': (text) => text.replace(before, after) });
  expect(conductor.output()).toContain(words);
});

it('serves what its paste file names', async () => {
  const { send } = await running({
    '/etc/tacker/api-paste.ini': (text) => text.replace('/vnfpkgm/v1 = packages\n', ''),
  });
  expect((await send('GET', '/vnfpkgm/v1/vnf_packages')).status).toBe(404);
  expect((await send('GET', '/v1.0/vims')).status).toBe(200);
});
