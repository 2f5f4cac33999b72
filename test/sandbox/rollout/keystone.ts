import type { Cloud } from './cloud.ts';

const url = 'http://localhost:5000/v3';
const name = 'my-cloud-keystone';

/** What anything answers to a request of whoever has the token: the body. */
export function ask(cloud: Cloud, token: string, address: string, body?: unknown): Promise<string> {
  const json = ['-X', 'POST', '-H', 'Content-Type: application/json', '-d', JSON.stringify(body)];
  return curl(cloud, ['-H', `X-Auth-Token: ${token}`, ...(body === undefined ? [] : json), address]);
}

/** What curl prints in the pod of Keystone's API. */
async function curl(cloud: Cloud, argv: readonly string[]): Promise<string> {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`${name}-api-`))?.metadata.name ?? '';
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: pod }, ['curl', '-s', ...argv]);
  return (await cloud.settle(run)).stdout;
}

/**
 * A token: of the administrator, by the password in its Secret, or of what `auth` says.
 * @throws Error with Keystone's words when it refuses
 */
export async function login(cloud: Cloud, auth = administrator(cloud)): Promise<string> {
  const body = JSON.stringify({ auth });
  const json = ['-X', 'POST', '-H', 'Content-Type: application/json', '-d', body];
  const answer = await curl(cloud, ['-i', ...json, `${url}/auth/tokens`]);
  const [, token] = /x-subject-token: *(\S+)/i.exec(answer) ?? [];
  if (token === undefined) throw new Error(`Keystone gave no token: ${answer}`);
  return token;
}

/** What Keystone answers to a GET of whoever has the token: its head and its body, as HTTP has them. */
export function get(cloud: Cloud, token: string, path: string): Promise<string> {
  return curl(cloud, ['-i', '-H', `X-Auth-Token: ${token}`, `${url}${path}`]);
}

/** Something that Keystone has. */
export interface Entity {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** What Keystone has of a collection, such as `users`. */
export async function entitiesOf(cloud: Cloud, collection: string): Promise<Entity[]> {
  const answer = await call(cloud, await login(cloud), 'GET', `/${collection}`);
  return (JSON.parse(answer) as Record<string, Entity[]>)[collection] ?? [];
}

/** The body of Keystone's answer. @throws Error when it refuses */
export function call(cloud: Cloud, token: string, method: string, path: string, body?: object): Promise<string> {
  return request(cloud, token, method, `${url}${path}`, body);
}

/** The body of an API's answer to whoever has the token; a text is sent as it is. `headers`: further ones, such as `Name: value`. @throws Error when it refuses */
export async function request(
  cloud: Cloud,
  token: string,
  method: string,
  address: string,
  body?: object | string,
  headers: readonly string[] = [],
): Promise<string> {
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'application/zip' : 'application/json';
  const sent = body === undefined ? [] : ['-d', data, '-H', `Content-Type: ${type}`];
  const answer = await curl(cloud, [
    '-i',
    '-X',
    method,
    '-H',
    `X-Auth-Token: ${token}`,
    ...headers.flatMap((header) => ['-H', header]),
    ...sent,
    address,
  ]);
  const [head = '', text = ''] = answer.split(/\r?\n\r?\n/);
  if (!/^HTTP\S+ [23]/.test(head)) throw new Error(`${method} ${address}: ${answer}`);
  return text;
}

/** The administrator, who is logged in to a project. */
export function administrator(cloud: Cloud, project = 'admin'): object {
  const { password = '' } = (cloud.get('Secret', `${name}-admin-password`)?.['data'] ?? {}) as { password?: string };
  const domain = { name: 'Default' };
  const user = { name: 'admin', domain, password: Buffer.from(password, 'base64').toString() };
  const scope = { project: { name: project, domain } };
  return { identity: { methods: ['password'], password: { user } }, scope };
}
