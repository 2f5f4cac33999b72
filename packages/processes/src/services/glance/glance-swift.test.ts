import type { HttpMessage, HttpReply, Program } from '@openstack-operator/sandbox';
import { expect, it } from 'vitest';
import { plain } from '../../http.ts';
import { terminated } from '../../program-support.ts';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/glance/glance-api.conf';
const accounts = '/etc/glance/glance-swift.conf';
const standard = {
  enabled: 'swift_store_create_container_on_put = true',
  endpoint: 'swift_store_endpoint = http://swift:8080/v1/AUTH_1',
  accounts: `[cloud]
auth_version = 3
auth_address = http://keystone:5000/v3
user = service:glance
key = "pw"
user_domain_name = Default
project_domain_name = Default
`,
};

/** Answers for containers and objects, by path; what `refuse` gives comes before. */
const proxy =
  (kept: Map<string, string>, refuse: (request: HttpMessage) => HttpReply | undefined): Program =>
  async (process) => {
    process.network.listen(8080, 'http', () => ({
      receive: (message) => {
        const request = message as HttpMessage;
        return Promise.resolve(refuse(request) ?? answer(kept, request));
      },
    }));
    await terminated(process);
    return 0;
  };

function answer(kept: Map<string, string>, { method, path, body, headers }: HttpMessage): HttpReply {
  if (headers['x-auth-token'] === undefined) return plain(401, '');
  if (method === 'PUT') {
    kept.set(path, body);
    return plain(201, '');
  }
  if (method === 'DELETE') return plain(kept.delete(path) ? 204 : 404, '');
  const found = kept.get(path);
  return found === undefined ? plain(404, '') : plain(200, found);
}

/** A Glance that keeps images in Swift, and an image. */
async function running({
  started = true,
  refuse = () => undefined,
  ...change
}: Partial<typeof standard> & {
  started?: boolean;
  refuse?: (request: HttpMessage) => HttpReply | undefined;
} = {}) {
  const all = { ...standard, ...change };
  const swift = `enabled_backends = swift:swift\n[swift]\nswift_store_config_file = ${accounts}\ndefault_swift_reference = cloud\nswift_store_endpoint_type = internalURL\nswift_store_region = RegionOne\n${all.enabled}\n${all.endpoint}\n[glance_store]\ndefault_backend = swift\n[unused]\n`;
  const changes: Changes = {
    [conf]: (text) => text.replace(/enabled_backends = .*\n\[glance_store\]\ndefault_backend = local\n/, swift),
    '/etc/glance/glance-api-paste.ini': (text) => text,
  };
  const { world, token, container } = await ground(changes, { [accounts]: all.accounts });
  const kept = new Map<string, string>();
  const server = world.container({ host: 'swift', programs: { proxy: proxy(kept, refuse) } });
  if (started) server.start(['proxy']);
  const host = container('glance');
  await host.run(['glance-manage', 'db_sync']);
  const api = host.start(['glance-api']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-auth-token': token };
    const reply = await request(world, 'glance', 9292, `/v2/images${path}`, { method, headers, body });
    return { status: reply.status, body: reply.body ?? '' };
  };
  const image = async () => (JSON.parse((await send('POST', '', { name: 'cirros' })).body) as { id: string }).id;
  return { api, kept, send, image };
}

const account = '/v1/AUTH_1';

it('keeps an image as an object of a container that it makes, and removes it with the image', async () => {
  const { kept, send, image } = await running();
  const id = await image();
  expect(await send('GET', `/${id}/file`)).toMatchObject({ status: 204 });
  expect(await send('PUT', `/${id}/file`, 'a "disk"')).toMatchObject({ status: 204 });
  const sent = JSON.stringify('a "disk"');
  expect([...kept]).toEqual([
    [`${account}/glance`, ''],
    [`${account}/glance/${id}`, sent],
  ]);
  expect(await send('GET', `/${id}/file`)).toEqual({ status: 200, body: sent });
  expect(JSON.parse((await send('GET', `/${id}`)).body)).toMatchObject({ status: 'active', size: sent.length });
  expect(await send('DELETE', `/${id}`)).toMatchObject({ status: 204 });
  expect([...kept.keys()]).toEqual([`${account}/glance`]);
  expect(await send('GET', `/${id}/file`)).toMatchObject({ status: 404 });
});

it('takes the domain default where none is said', async () => {
  const { send, image } = await running({ accounts: standard.accounts.replaceAll(/^.*_domain_name.*\n/gmu, '') });
  expect(await send('PUT', `/${await image()}/file`, 'a disk')).toMatchObject({ status: 204 });
});

it('answers 204 for an object that is gone, and deletes its image all the same', async () => {
  const { api, kept, send, image } = await running();
  const id = await image();
  await send('PUT', `/${id}/file`, 'a disk');
  kept.delete(`${account}/glance/${id}`);
  expect(await send('GET', `/${id}/file`)).toMatchObject({ status: 204 });
  expect(api.output()).toContain(`Swift could not find object ${id}.`);
  expect(await send('DELETE', `/${id}`)).toMatchObject({ status: 204 });
  expect(api.output()).toContain(`The image data for ${id} was not found in the store.`);
});

const refusing = (method: string, status: number, ends = '') => ({
  refuse: (request: HttpMessage) =>
    request.method === method && request.path.endsWith(ends) ? plain(status, method === 'HEAD' ? '' : 'no') : undefined,
});

it.each<[string, NonNullable<Parameters<typeof running>[0]>, string]>([
  [
    'nobody answers',
    { started: false },
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='swift', port=8080): Max retries exceeded with url: /v1/AUTH_1/glance",
  ],
  [
    'its user may not',
    refusing('HEAD', 403),
    'swiftclient.exceptions.ClientException: Container HEAD failed: http://swift:8080/v1/AUTH_1/glance 403 Forbidden',
  ],
  [
    'it takes no container',
    refusing('PUT', 403),
    "Got error from Swift: Container PUT failed: http://swift:8080/v1/AUTH_1/glance 403 Forbidden   b'no'.",
  ],
  [
    'storage nodes are away',
    {
      refuse: ({ method, path }) => (method === 'PUT' && /glance\/./u.test(path) ? plain(503, '') : undefined),
    },
    'Failed to add object to Swift.\nGot error from Swift: Object PUT failed: http://swift:8080/v1/AUTH_1/glance/',
  ],
  [
    'there is no container, and none is to be made',
    { enabled: '' },
    'The container glance does not exist in Swift. Please set the swift_store_create_container_on_put option',
  ],
  [
    'the catalogue has none',
    { endpoint: '' },
    'glance_store.exceptions.BackendException: Cannot find swift service endpoint : internalURL endpoint for object-store service in RegionOne region not found',
  ],
  [
    'the password is wrong',
    { endpoint: '', accounts: standard.accounts.replace('"pw"', 'no') },
    'glance_store.exceptions.BackendException: Cannot find swift service endpoint : The request you have made requires authentication.',
  ],
  [
    'it logs in as Keystone did before version 3',
    { accounts: standard.accounts.replace('auth_version = 3\n', '') },
    'swiftclient.exceptions.ClientException: Authorization Failure.',
  ],
  [
    'there is no such version of Keystone',
    { accounts: standard.accounts.replace('auth_version = 3', 'auth_version = 4') },
    'Unknown auth_version 4 specified and no session found.',
  ],
  [
    'the domain is another one',
    { accounts: standard.accounts.replace('user_domain_name = Default', 'user_domain_name = Other') },
    'keystoneauth1.exceptions.http.Unauthorized: The request you have made requires authentication.',
  ],
  [
    'the user has no project',
    { endpoint: '', accounts: standard.accounts.replace('service:', '') },
    "Cannot find swift service endpoint : Badly formed tenant:user 'glance' in Swift URI",
  ],
])('where %s, an upload fails and the image stays queued', async (_what, change, words) => {
  const { api, send, image } = await running(change);
  const id = await image();
  expect((await send('PUT', `/${id}/file`, 'a disk')).status).toBe(500);
  expect(api.output()).toContain(words);
  expect(api.output()).toContain('Failed to upload image data due to internal error');
  expect(JSON.parse((await send('GET', `/${id}`)).body)).toMatchObject({ status: 'queued' });
});

it.each([
  ['no such section', standard.accounts.replace('[cloud]', '[other]')],
  ['no key', standard.accounts.replace('key = "pw"\n', '')],
])('with %s it only loses its add method', async (_what, text) => {
  const { api, send, image } = await running({ accounts: text });
  expect(api.output()).toContain(
    'Failed to configure store correctly: A value for swift_store_auth_address is required. Disabling add method.',
  );
  expect((await send('PUT', `/${await image()}/file`, 'a disk')).status).toBe(410);
});

it('does not start with a bare % in a password, nor with a file that is not there', async () => {
  const wrong = await running({ accounts: standard.accounts.replace('"pw"', '"5%"') });
  expect(wrong.api.output()).toContain("configparser.InterpolationSyntaxError: '%' must be followed by '%' or '('");
  expect(wrong.api.status()).toBe(1);
  const without = await running({ enabled: 'swift_store_config_file = /nosuch' });
  expect(without.api.output()).toContain('Store for identifier swift not found');
  expect(without.api.status()).toBe(1);
});
