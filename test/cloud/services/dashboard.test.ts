import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** The answer to a GET, or to a form. */
function asked(url: string, headers: Record<string, string>, form?: Readonly<Record<string, string>>) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const options = form === undefined ? { headers } : { method: 'POST', headers: { ...headers, ...type } };
    request(url, options, resolve)
      .on('error', reject)
      .end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

/** What a browser does with pages: it keeps cookies, says where it comes from, and goes where it is sent. */
class Browser {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  async open(
    path: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; at: string; text: string }> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const script = path.startsWith('/api/') ? { 'x-requested-with': 'XMLHttpRequest' } : {};
    const headers = { cookie, origin: this.#url, referer: `${this.#url}${path}`, ...script };
    const answer = await asked(`${this.#url}${path}`, headers, form);
    for (const one of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(one) ?? [];
      this.#cookies.set(name, value);
    }
    const to = answer.headers.location;
    if (to !== undefined) return this.open(to.replace(this.#url, ''));
    return { status: answer.statusCode ?? 0, at: path, text: await text(answer) };
  }

  /** Fills in the form of the login page, and gives what is shown then. */
  async login(username: string, password: string) {
    const page = await this.open('/auth/login/');
    const [, csrfmiddlewaretoken = ''] = /name="csrfmiddlewaretoken" value="([^"]+)"/u.exec(page.text) ?? [];
    return this.open('/auth/login/', { csrfmiddlewaretoken, username, password, region: 'default' });
  }
}

/** Where the dashboard is, as its resource says. */
async function url(): Promise<string> {
  const { namespace } = (await controlPlane()).metadata;
  return program('kubectl', '-n', namespace, 'get', 'horizons', '-o', 'jsonpath={.items[0].status.url}');
}

const login = ({ identity }: User) => identity['auth'] as { username: string; password: string };

test('enabled later, the dashboard shows a member what is in the project, and refuses a wrong password', async () => {
  const horizon = optionalService('horizon', 'horizons');
  await horizon({ enabled: true });
  const user = await member();
  const { username, password } = login(user);
  const browser = new Browser(await url());
  const page = await browser.open('/auth/login/');
  expect(page.status).toBe(200);
  const styles = [...page.text.matchAll(/href="(\/static\/dashboard\/css\/[^"]+)"/gu)].map(([, path = '']) => path);
  expect(styles).not.toEqual([]);
  for (const path of styles) expect(await browser.open(path)).toMatchObject({ status: 200, at: path });
  expect(await browser.login(username, 'wrong')).toMatchObject({
    at: '/auth/login/',
    text: expect.stringContaining('Invalid credentials'),
  });
  expect(await browser.open('/project/')).toMatchObject({ at: '/auth/login/?next=/project/' });

  const network = `${prefix}dashboard`;
  await user.call('network.create_network', { name: network });
  expect(await browser.login(username, password)).toMatchObject({ status: 200, at: '/project/' });
  for (const panel of ['instances', 'images', 'key_pairs', 'routers', 'security_groups', 'api_access'])
    expect(await browser.open(`/project/${panel}/`)).toMatchObject({ status: 200, at: `/project/${panel}/` });
  expect((await browser.open('/project/networks/')).text).toContain(network);
  // Scripts ask the dashboard for these, which asks Glance.
  expect(JSON.parse((await browser.open('/api/glance/images/')).text)).toMatchObject({ items: expect.any(Array) });
  const strange = await asked(`${await url()}/auth/login/`, { host: 'evil.example.com' });
  expect(strange.statusCode).toBe(400);
  // A member administers nothing: Nova refuses what such a page asks.
  expect((await browser.open('/admin/hypervisors/')).text).toContain('Unable to retrieve hypervisor information');
});
