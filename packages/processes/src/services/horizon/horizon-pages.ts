import type { HttpReply } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { endpointOf, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { Settings } from './django-settings.ts';
import type { Login } from './horizon-sessions.ts';

/** Pages: the API that each asks, and what it cannot retrieve without. */
const panels: Readonly<Record<string, readonly [type: string, path: string, what: string]>> = {
  '/project': ['compute', '/servers', 'usage information'],
  '/project/instances': ['compute', '/servers', 'instances'],
  '/project/images': ['image', '/v2/images', 'images'],
  '/project/networks': ['network', '/v2.0/networks', 'networks'],
  '/project/stacks': ['orchestration', '/stacks', 'stacks'],
};

/** Logs in to the first project of whoever the form names (openstack_auth.backend), or gives what the form says then. */
export async function login(
  context: ServiceContext,
  settings: Settings,
  form: URLSearchParams,
): Promise<Login | string> {
  const url = `${settings.OPENSTACK_KEYSTONE_URL}/auth`;
  const user = { name: form.get('username'), password: form.get('password'), domain: { name: 'Default' } };
  const identity = { methods: ['password'], password: { user } };
  const first = await ask(context, 'POST', `${url}/tokens`, undefined, { auth: { identity, scope: 'unscoped' } });
  if (first === undefined) return 'Unable to establish connection to keystone endpoint.';
  if (first.status !== 201) return 'Invalid credentials.';
  const token = first.headers?.['x-subject-token'] ?? '';
  const listed = await ask(context, 'GET', `${url}/projects`, token);
  const [project] = (JSON.parse(listed?.body ?? '{}') as { projects?: readonly { id: string }[] }).projects ?? [];
  if (project === undefined) return 'You are not authorized for any projects or domains.';
  const scope = { project: { id: project.id } };
  const again = { auth: { identity: { methods: ['token'], token: { id: token } }, scope } };
  const scoped = await ask(context, 'POST', `${url}/tokens`, undefined, again);
  const { catalog } = (JSON.parse(scoped?.body ?? '{}') as { token: Pick<Login, 'catalog'> }).token;
  return { token: scoped?.headers?.['x-subject-token'] ?? '', catalog };
}

/** Status and text of a page: nobody may see one without its service, and what an API refuses is told on it. */
export async function panel(
  context: ServiceContext,
  settings: Settings,
  path: string,
  { token, catalog }: Login,
): Promise<[status: number, text: string]> {
  const [type = '', address, what] = panels[path] ?? [];
  if (address === undefined) return [404, 'Not Found'];
  if (!catalog.some((service) => service.type === type)) return [403, 'You are not authorized to access this page'];
  const interfaces = [(settings.OPENSTACK_ENDPOINT_TYPE ?? 'publicURL').replace(/URL$/u, '')];
  const url = attempt(
    PythonError,
    () => endpointOf(catalog, { type, interfaces, region: undefined }),
    () => '',
  );
  const reply = await ask(context, 'GET', `${url}${address}`, token);
  return [200, reply?.status === 200 ? (reply.body ?? '') : `Error: Unable to retrieve ${what}.`];
}

/** Undefined when nobody answers. */
async function ask(
  { process, config }: ServiceContext,
  method: string,
  url: string,
  token?: string,
  body?: unknown,
): Promise<HttpReply | undefined> {
  const session = new KeystoneSession(process, config, 'horizon');
  try {
    return await session.send(method, url, token === undefined ? {} : { 'x-auth-token': token }, body);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    return undefined;
  }
}
