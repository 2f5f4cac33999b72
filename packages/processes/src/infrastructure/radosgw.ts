import type { HttpMessage, HttpReply, Process, Program } from '@openstack-operator/sandbox';
import { headerOf, locationOf, plain } from '../http.ts';
import { serveHttp } from '../model/eventlet-server.ts';
import { AuthToken } from '../oslo/auth-token.ts';
import { pasteConfig } from '../oslo/config.ts';
import { parseIni } from '../oslo/ini-file.ts';
import { plainLog } from '../oslo/log.ts';
import { CommandError, commandWith, notModelled, pause, terminated } from '../program-support.ts';
import { shown } from '../services/swift/swift-proxy.ts';
import type { SwiftRecord } from '../services/swift/swift-records.ts';
import { startTimes } from '../start-times.ts';
import { askMonitor, monitorIn } from './ceph.ts';
import type { CephAnswer } from './ceph-monitor.ts';

/** What a container or an object is kept as, by its names with slashes between. */
interface Kept {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Asks the cluster for what `CephRequest` says of `radosgw`. */
type Store = (operands: readonly string[], input?: string) => Promise<CephAnswer>;

const skipped = 'failed to fetch mon config (--no-mon-config to skip)';

/** What a request is refused with while the gateway does not find out whose it is. */
const denied = (status: 401 | 403) => plain(status, 'AccessDenied');

/**
 * `radosgw` 18.2, in the foreground: the API of Swift, with users of Keystone; S3 and large objects are refused. It keeps objects by
 * monitors in the cluster; of one outside of the cloud nothing is known, and requests are refused. Its words were seen.
 */
export const radosgw: Program = commandWith(
  { flags: 'f|foreground', values: 'n|name c|conf' },
  async (process, line) => {
    const name = line.value('name') ?? 'client.admin';
    if (!line.has('foreground')) notModelled(process, 'how to run in the background');
    if (!(await pause(process, startTimes.radosgw))) return 0;
    const path = line.value('conf') ?? '/etc/ceph/ceph.conf';
    const text = process.files.exists(path) ? process.files.read(path) : '';
    const assigned = parseIni(path, text).filter(({ section }) => ['global', 'client', name].includes(section));
    const options = new Map(assigned.map(({ key, value }) => [key.replaceAll(/[ -]/gu, '_'), value]));
    const store = await storeOf(process, name, text, options.get('keyring'));
    const { code } = await store(['start']);
    if (code === 13)
      throw new CommandError(
        `monclient(hunting): handle_auth_bad_method server allowed_methods [2] but i only support [2]\n${skipped}`,
      );
    if (code !== 0) {
      process.stderr('rgw main: failed reading realm info: ret -1 (1) Operation not permitted\n');
      throw new CommandError("Couldn't init storage provider (RADOS)", 5);
    }
    const port = /^beast\b.*\bport=(\d+)/u.exec(options.get('rgw_frontends') ?? 'beast port=7480')?.[1];
    serveHttp(process, { host: '0.0.0.0', port: Number(port) }, gatewayOf(process, options, store));
    await terminated(process);
    return 0;
  },
);

/** @throws CommandError */
async function storeOf(process: Process, name: string, conf: string, keyring?: string): Promise<Store> {
  const user = name.replace(/^client\./u, '');
  const path = keyring ?? `/var/lib/ceph/radosgw/ceph-${user}/keyring`;
  if (!process.files.exists(path))
    throw new CommandError(`auth: unable to find a keyring on ${path}: (2) No such file or directory\n${skipped}`);
  const key = /^\s*key\s*=\s*(\S+)/mu.exec(process.files.read(path))?.[1] ?? '';
  const monitor = monitorIn(conf);
  if (monitor === undefined) return ([verb]) => Promise.resolve({ code: verb === 'start' ? 0 : 95, said: '' });
  return async (operands, input) => {
    try {
      const request = { user, key, program: 'radosgw', operands, ...(input === undefined ? {} : { input }) } as const;
      return await askMonitor(process, monitor, request);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new CommandError(`monclient(hunting): authenticate timed out after 300\n${skipped}`);
    }
  };
}

/** The API below `/swift`. */
function gatewayOf(process: Process, options: ReadonlyMap<string, string>, store: Store) {
  const option = (name: string) => options.get(`rgw_${name}`) ?? '';
  const isOn = (name: string) => ['true', '1'].includes(option(name));
  const tokens = tokensOf(process, option);
  const roles = (name: string) => option(name).split(/[ ,]+/u);
  return async (request: HttpMessage): Promise<HttpReply> => {
    const { path } = locationOf(request);
    const prefix = `/${options.get('rgw_swift_url_prefix') ?? 'swift'}`;
    if (path === `${prefix}/healthcheck`) return plain(200, '');
    if (!path.startsWith(`${prefix}/v1/`)) return plain(501, 'this simulated radosgw does not know S3');
    const names = path
      .slice(prefix.length + 4)
      .split('/')
      .map(decodeURIComponent);
    const isAccount = names.length === (isOn('swift_account_in_url') ? 1 : 0);
    if (headerOf(request, 'x-auth-token') === undefined) return denied(isAccount ? 403 : 401);
    const caller = await tokens.check(request);
    if ('status' in caller) return caller.status === 503 ? caller : denied(401);
    const has = (name: string) => caller.roles.some((role) => roles(name).includes(role));
    const isAdmin = has('keystone_accepted_admin_roles');
    if (!isAdmin && !has('keystone_accepted_roles')) return denied(401);
    const account = isOn('swift_account_in_url') ? (names.shift() ?? '') : `AUTH_${caller.projectId}`;
    if (account !== `AUTH_${caller.projectId}` && !isAdmin) return denied(403);
    const [container, ...object] = names;
    const below = container === undefined || container === '' ? [] : [container, object.join('/')];
    const whose = isOn('keystone_implicit_tenants') ? account : '';
    return answer(request, store, [whose, ...below.filter((one) => one !== '')]);
  };
}

/** Who asks Keystone whose a token is. */
function tokensOf(process: Process, option: (name: string) => string): AuthToken {
  if (option('keystone_api_version') !== '3') notModelled(process, 'Keystone but by version 3 of its API');
  const secret = option('keystone_admin_password_path');
  const values = {
    auth_type: 'password',
    auth_url: `${option('keystone_url')}/v3`,
    username: option('keystone_admin_user'),
    password: process.files.exists(secret) ? process.files.read(secret).trim() : '',
    project_name: option('keystone_admin_project'),
    user_domain_name: option('keystone_admin_domain'),
    project_domain_name: option('keystone_admin_domain'),
    cafile: '/etc/ssl/certs/ca-certificates.crt',
  };
  const config = pasteConfig(process, 'keystone_authtoken', { options: 'placement', values });
  return new AuthToken({ process, config, log: plainLog(process) });
}

const kinds = ['account', 'container', 'object'] as const;

/** What a client asks of an account, a container or an object. */
async function answer(request: HttpMessage, store: Store, names: readonly string[]): Promise<HttpReply> {
  const { method, headers, body } = request;
  const kind = kinds[names.length - 1] ?? 'object';
  const key = names.join('/');
  const { code, said } = await store(['get', key]);
  if (code === 95) return plain(501, 'this simulated radosgw knows no objects of a Ceph outside of the cloud');
  const found = code === 0 ? (JSON.parse(said) as Kept) : undefined;
  if (method === 'GET' || method === 'HEAD') {
    if (found === undefined && kind !== 'account') return plain(404, 'NoSuchKey');
    const rows = kind === 'object' ? {} : await rowsOf(store, key);
    const reply = shown(kind, { headers: {}, body: '', ...found, rows }, request);
    return kind === 'object' ? reply : { ...reply, body: reply.body?.replace(/\n$/u, '') ?? '' };
  }
  if (method === 'PUT' && kind !== 'account') {
    const above = await store(['get', names.slice(0, -1).join('/')]);
    if (kind === 'object' && above.code !== 0) return plain(404, 'NoSuchBucket');
    await store(['put', key], JSON.stringify({ headers, body } satisfies Kept));
    return plain(found !== undefined && kind === 'container' ? 202 : 201, '');
  }
  if (method !== 'DELETE' || kind === 'account') return plain(405, 'MethodNotAllowed');
  if (found === undefined) return plain(404, kind === 'container' ? 'NoSuchBucket' : 'NoSuchKey');
  if (kind === 'container' && Object.keys(await rowsOf(store, key)).length > 0)
    return plain(409, 'There was a conflict when trying to complete your request.');
  await store(['delete', key]);
  return plain(204, '');
}

/** What an account or a container lists. */
async function rowsOf(store: Store, key: string): Promise<SwiftRecord['rows']> {
  const { said } = await store(['list', key]);
  const sizes = JSON.parse(said) as Readonly<Record<string, number>>;
  return Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name, { timestamp: 0, deleted: false, bytes }]),
  );
}
