import { overNetwork } from '@openstack-operator/cli';
import { sleep } from '@openstack-operator/kube';
import type { HttpAnswer } from '@openstack-operator/operator';
import { type Image, type Process, SystemError } from '@openstack-operator/sandbox';
import type { Made } from './endpoint.ts';
import { uses } from './uses.ts';

/**
 * Programs of the test's own pods: `client` is the administrator who uses the cloud, `stranger` belongs to nobody here,
 * `scraper` reads metrics, `late` takes a minute.
 */
export const clientImage: Image = {
  matches: (reference) => reference === 'client',
  user: 1000,
  programs: {
    client: (process) => reporting(process, () => use(process)),
    stranger: (process) => reporting(process, () => intrude(process)),
    scraper: (process) => reporting(process, () => scrape(process)),
    late: async ({ clock, signal }) => {
      await sleep(clock, 60_000, signal);
      return 0;
    },
  },
};

async function reporting(process: Process, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    process.stderr(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** One request; CA: who has signed the certificates of servers behind https, as PEM. */
function send(process: Process, call: Parameters<typeof overNetwork>[1]): ReturnType<typeof overNetwork> {
  const { CA } = process.env;
  return overNetwork(process, CA ? { ca: CA, ...call } : call);
}

/** Environment: IDENTITY_URL, CA, PASSWORD, REGION, TYPES (service types that the catalogue has to have), HOST (a node for guests, if any), DASHBOARD_URL (of Horizon, if any), CONSOLE_URL (of Skyline's, if any). */
async function use(process: Process): Promise<void> {
  const { IDENTITY_URL = '', PASSWORD = '', REGION = '', TYPES = '', HOST, DASHBOARD_URL, CONSOLE_URL } = process.env;
  const { token, project, catalog } = await login(process, IDENTITY_URL, PASSWORD);
  const made: Made = {};
  const stated = TYPES.split(' ');
  // A host is reserved before it has servers.
  const types = new Set([...stated.filter((type) => type === 'reservation'), ...stated]);
  for (const type of types) {
    for (const side of ['internal', 'public']) {
      const endpoints = catalog.flatMap((service) => (service.type === type ? service.endpoints : []));
      const { url } = endpoints.find((one) => one.interface === side && one.region_id === REGION) ?? {};
      if (url === undefined) throw new Error(`${side} endpoint for ${type} service in ${REGION} region not found`);
      await demandToken(process, `${url}${protectedPaths[type] ?? '/'}`);
      await uses[type]?.({
        project,
        url,
        get: (path) => call(process, token, 'GET', `${url}${path}`),
        post: (path, body) => call(process, token, 'POST', `${url}${path}`, body),
        put: (path, body) => call(process, token, 'PUT', `${url}${path}`, body),
        host: HOST,
        login: { url: IDENTITY_URL, password: PASSWORD },
        open: (page) => watchConsole(process, page),
        made,
        say: (text) => process.stdout(text),
        wait: (ms) => sleep(process.clock, ms, process.signal),
      });
    }
  }
  if (DASHBOARD_URL !== undefined) await browse(process, DASHBOARD_URL, PASSWORD);
  if (CONSOLE_URL !== undefined) await look(process, CONSOLE_URL, PASSWORD);
}

/** Logs in to the modern dashboard, by one of the two paths of its API, and asks an API through it, then logs out. */
async function look(process: Process, url: string, password: string): Promise<void> {
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body = '') => {
    const answer = await send(process, { method, url: `${url}${path}`, headers, body });
    demand(method, path, answer);
    return answer;
  };
  await ask('GET', '/compute/instance');
  const credential = JSON.stringify({ domain: 'Default', username: 'admin', password });
  const { headers, body } = await ask('POST', '/api/openstack/skyline/api/v1/login', {}, credential);
  const cookie = (headers['set-cookie'] ?? '').split(';')[0] ?? '';
  const profile = JSON.parse(body) as { keystone_token: string; endpoints: Record<string, string> };
  for (const [name, path] of [
    ['glance', '/v2/images'],
    ['neutron', '/v2.0/networks'],
    ['keystone', '/v3/auth/projects'],
  ] as const)
    await ask('GET', `${profile.endpoints[name]}${path}`, { 'x-auth-token': profile.keystone_token });
  // Another pod knows the cookie as well.
  for (let turn = 0; turn < 2; turn += 1) await ask('GET', '/api/v1/profile', { cookie });
  await ask('POST', '/api/v1/logout', { cookie });
}

/** Logs in to the dashboard by its form, and looks at a page and its styles. */
async function browse(process: Process, url: string, password: string): Promise<void> {
  const cookies: Record<string, string> = {};
  const open = async (path: string, body?: string): Promise<HttpAnswer> => {
    const cookie = Object.entries(cookies).map((pair) => pair.join('='));
    const headers = { host: new URL(url).host, cookie: cookie.join('; ') };
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await send(process, { method, url: `${url}${path}`, headers, body: body ?? '' });
    const [, name = '', value = ''] = /^(\w+)=([^;]*)/u.exec(answer.headers['set-cookie'] ?? '') ?? [];
    cookies[name] = value;
    return answer;
  };
  const page = await open('/auth/login/');
  demand('GET', '/auth/login/', page);
  const [, style = ''] = /href="([^"]*)"/u.exec(page.body) ?? [];
  demand('GET', style, await open(style));
  const [, token = ''] = /name="csrfmiddlewaretoken" value="([^"]*)"/u.exec(page.body) ?? [];
  const form = new URLSearchParams({ csrfmiddlewaretoken: token, username: 'admin', password });
  await open('/auth/login/', form.toString());
  const images = await open('/project/images/');
  demand('GET', '/project/images/', images);
  if (!images.body.includes('"images"')) throw new Error(`the dashboard shows no images: ${images.body}`);
}

/** What needs a token at each service. */
const protectedPaths: Readonly<Record<string, string>> = {
  identity: '/users',
  image: '/v2/images',
  placement: '/resource_providers',
  network: '/v2.0/networks',
  compute: '/servers',
  'key-manager': '/v1/secrets',
  orchestration: '/stacks',
  'infra-optim': '/v1/audits',
  reservation: '/leases',
  workflow: '/workflows',
  'container-infra': '/clusters',
  database: '/datastores',
  dns: '/v2/zones',
  'load-balancer': '/v2/lbaas/loadbalancers',
  alarming: '/v2/alarms',
  accelerator: '/devices',
  messaging: '/v2/queues',
  'instance-ha': '/segments',
  baremetal: '/v1/nodes',
  metric: '/v1/resource/generic',
  rating: '/v1/rating/modules',
  rca: '/v1/template',
  'admin-logic': '/tasks',
  backup: '/v2/nobody/clients',
  'nfv-orchestration': '/v1.0/vims',
  container: '/containers',
  LMS: '/v1/custom_config',
  'block-storage': '/volumes',
  'shared-file-system': '/shares',
};

async function demandToken(process: Process, url: string): Promise<void> {
  const { status } = await send(process, { method: 'GET', url, headers: {} });
  if (status !== 401) throw new Error(`GET ${url} without a token: ${status}`);
}

/** A browser with noVNC's page: the page, and the websocket that its script opens with the token of the page's address. */
async function watchConsole(process: Process, page: string): Promise<void> {
  const { origin, host, searchParams } = new URL(page);
  demand('GET', page, await send(process, { method: 'GET', url: page, headers: {} }));
  const url = `${origin}/${searchParams.get('path') ?? ''}`;
  const { status, body } = await send(process, {
    method: 'GET',
    url,
    headers: { host, upgrade: 'websocket', connection: 'Upgrade', origin },
  });
  if (!body.startsWith('RFB')) throw new Error(`no screen at ${url}: ${status} ${body.slice(0, 200)}`);
}

interface Login {
  readonly token: string;
  readonly project: string;
  readonly catalog: readonly {
    type: string;
    endpoints: readonly { interface: string; region_id: string; url: string }[];
  }[];
}

async function login(process: Process, url: string, password: string): Promise<Login> {
  const domain = { name: 'Default' };
  const answer = await send(process, {
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: { methods: ['password'], password: { user: { name: 'admin', domain, password } } },
        scope: { project: { name: 'admin', domain } },
      },
    }),
  });
  demand('POST', `${url}/auth/tokens`, answer);
  const { token } = JSON.parse(answer.body) as { token: { catalog: Login['catalog']; project: { id: string } } };
  return { token: answer.headers['x-subject-token'] ?? '', project: token.project.id, catalog: token.catalog };
}

async function call<T>(process: Process, token: string, method: string, url: string, body?: unknown): Promise<T> {
  const answer = await send(process, {
    method,
    url,
    headers: {
      host: new URL(url).host,
      'x-auth-token': token,
      'content-type': 'application/json',
      'openstack-api-version': 'placement 1.39',
      'client-id': 'e0b2f0c2-5a3b-4c4e-9d59-0f8a3c1d2e4f',
    },
    body: typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body),
  });
  demand(method, url, answer);
  return (answer.body === '' ? undefined : JSON.parse(answer.body)) as T;
}

function demand(method: string, url: string, { status, body }: HttpAnswer): void {
  if (![200, 201, 202, 204, 302].includes(status)) throw new Error(`${method} ${url}: ${status} ${body.slice(0, 200)}`);
}

/** Environment: TARGETS, `host:port` of what only the cloud itself may reach. */
async function intrude(process: Process): Promise<void> {
  const { open } = await reached(process);
  if (open.length > 0) throw new Error(`everybody reaches ${open.join(', ')}`);
}

/** Environment: TARGETS, `host:port` of metrics. */
async function scrape(process: Process): Promise<void> {
  const { closed } = await reached(process);
  if (closed.length > 0) throw new Error(`no metrics can be read at ${closed.join(', ')}`);
}

/** Which of the TARGETS somebody listens at, and which not. */
async function reached({ env, network }: Process): Promise<{ open: string[]; closed: string[] }> {
  const targets = (env['TARGETS'] ?? '').split(' ').filter(Boolean);
  const listens = await Promise.all(
    targets.map(async (target) => {
      const [host = '', port = ''] = target.split(':');
      try {
        (await network.connect(host, Number(port), 'raw')).close();
        return true;
      } catch (error) {
        // Another protocol: somebody is there.
        return error instanceof SystemError && error.code === 'EPROTO';
      }
    }),
  );
  return {
    open: targets.filter((_target, index) => listens[index]),
    closed: targets.filter((_target, index) => !listens[index]),
  };
}
