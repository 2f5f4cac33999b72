import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** Where the dashboard is, as its resource says. */
async function url(): Promise<string> {
  const { namespace } = (await controlPlane()).metadata;
  return program('kubectl', '-n', namespace, 'get', 'skylines', '-o', 'jsonpath={.items[0].status.url}');
}

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly cookies: string;
  readonly text: string;
}

/** The answer to a GET, or to a POST of what is given. */
function asked(address: string, headers: Readonly<Record<string, string>> = {}, body?: object): Promise<Answer> {
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  };
  return new Promise((resolve, reject) => {
    request(address, options, (answer) => {
      const cookies = (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
      const { statusCode: status, headers: got } = answer;
      text(answer).then((all) => resolve({ status, type: got['content-type'], cookies, text: all }), reject);
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

interface Profile {
  readonly keystone_token: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly project: { readonly id: string };
}

/** What the page of the login sends. */
async function login({ identity }: User, password?: string) {
  const auth = identity['auth'] as { username: string; password: string };
  const credential = { domain: 'Default', username: auth.username, password: password ?? auth.password };
  return asked(`${await url()}/api/openstack/skyline/api/v1/login`, {}, credential);
}

test('enabled later, the modern dashboard leads a member to the APIs of the cloud, and refuses a wrong password', async () => {
  const skyline = optionalService('skyline', 'skylines');
  await skyline({ enabled: true });
  const user = await member();
  const base = await url();
  // Any path of the pages is the same page, whose scripts show what is meant.
  for (const path of ['/', '/compute/instance']) {
    const page = await asked(`${base}${path}`);
    expect(page.status).toBe(200);
    const [, script = ''] = /src="(\/[^"]+\.js)"/u.exec(page.text) ?? [];
    expect((await asked(`${base}${script}`)).type).toContain('javascript');
  }
  expect(await login(user, 'wrong')).toMatchObject({ status: 401 });

  const { status, cookies: cookie, text: told } = await login(user);
  expect(status).toBe(200);
  const profile = JSON.parse(told) as Profile;
  const own = `${base}/api/openstack/skyline/api/v1`;
  const known = await asked(`${own}/profile`, { cookie });
  expect(JSON.parse(known.text)).toMatchObject({ project: { id: profile.project.id } });

  const network = `${prefix}modern-dashboard`;
  await user.call('network.create_network', { name: network });
  const ask = (service: string, path: string) =>
    asked(`${base}${profile.endpoints[service]}${path}`, { 'x-auth-token': profile.keystone_token });
  expect((await ask('neutron', '/v2.0/networks')).text).toContain(network);
  for (const [service, path] of [
    ['nova', '/v2.1/servers/detail'],
    ['glance', '/v2/images'],
    ['keystone', '/v3/auth/projects'],
  ] as const)
    expect(await ask(service, path)).toMatchObject({ status: 200 });

  // Whoever has logged out is known no more, though the cookie is kept.
  expect(await asked(`${own}/logout`, { cookie }, {})).toMatchObject({ status: 200 });
  expect(await asked(`${own}/profile`, { cookie })).toMatchObject({ status: 401 });
});
