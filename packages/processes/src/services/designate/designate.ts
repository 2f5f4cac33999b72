import { isIP } from 'node:net';
import type { HttpReply } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { headerOf, json, plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { CommandContext } from '../../model/program.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { named, rndc } from './bind9.ts';
import { central, designateDatabase } from './designate-central.ts';
import { mdns, producer, worker } from './designate-servers.ts';

const { start: takes, dbSync } = startTimes.designateManage;
const paste = '/etc/designate/api-paste.ini';
const bind = { '/usr/sbin': { named, rndc } };

/** Designate 20, with pools of BIND: zones, their record sets, and name servers that have both. */
export const designate = model({
  project: 'designate',
  images: {
    'designate-api': {},
    'designate-central': {},
    'designate-producer': {},
    'designate-mdns': {},
    'designate-worker': { system: bind },
    'designate-backend-bind9': { root: true, system: bind },
  },
  files: { [paste]: '[composite:osapi_dns]\nuse = egg:Paste#urlmap\n' },
  programs: {
    'designate-manage': {
      takes,
      files: ['designate'],
      categories: 'database pool tlds',
      commands: {
        'database sync': sync(designateDatabase, dbSync),
        'database version': revisions(designateDatabase),
        'pool update': { flags: 'delete dry-run skip-verify-drivers', values: 'file', run: updatePools },
      },
    },
    'designate-status': {
      takes,
      files: ['designate'],
      commands: { 'upgrade check': upgradeCheck({ 'Duplicate service status': () => Promise.resolve(undefined) }) },
    },
    'designate-central': central,
    'designate-mdns': mdns,
    'designate-producer': producer,
    'designate-worker': worker,
  },
  applications: {
    'designate.api.wsgi:init_application()': {
      takes: startTimes.designateApi,
      files: ['designate.conf'],
      serves: serveApi,
    },
  },
});

/** Asks central to know each pool of a file, and to tell of its zones anew (designate.manage.pool). */
async function updatePools(context: CommandContext): Promise<number> {
  const { process, line } = context;
  const path = line.value('file') ?? '/etc/designate/pools.yaml';
  if (!process.files.exists(path))
    throw new PythonError('FileNotFoundError', `[Errno 2] No such file or directory: '${path}'`);
  const messaging = new Messaging(context);
  for (const pool of parse(process.files.read(path)) as Row[]) {
    // Names are taken from the file, and not from the messages that it is sent in (oslo.versionedobjects).
    const masters = ((pool['targets'] ?? []) as Row[]).flatMap((target) => (target['masters'] ?? []) as Row[]);
    const hosts = [...((pool['nameservers'] ?? []) as Row[]), ...masters].map(({ host }) => String(host));
    const name = hosts.find((host) => isIP(host) === 0);
    if (name !== undefined) throw new PythonError('ValueError', `failed to detect a valid IP address from '${name}'`);
    const id = await messaging.call('central', 'update_pool', { pool });
    for (const zone of (await messaging.call('central', 'find_zones', { pool_id: id })) as Row[])
      await messaging.call('central', 'update_zone', { id: zone['id'] });
  }
  process.stdout('Updating Pools Configuration\n****************************\n');
  return 0;
}

/** It knows nothing itself: central answers, or nobody does. @throws PythonError */
function serveApi(context: ServiceContext): WsgiHandler {
  const messaging = new Messaging(context);
  if (!context.process.files.exists(paste)) throw new PythonError('LookupError', `No section 'osapi_dns' (${paste})`);
  return apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(200, 'v2'), '/healthcheck': plain(200, 'OK') },
    unauthenticated: (config) => config.text('service:api', 'auth_strategy') === 'noauth',
    words: { body: ({ status, type, message }) => ({ code: status, type, message }) },
    routes: { zones: (call) => zones(messaging, call) },
  });
}

/** Exceptions of central that are answers, by their names. */
const faults: Readonly<Record<string, readonly [number, string]>> = {
  DuplicateZone: [409, 'duplicate_zone'],
  DuplicateRecordSet: [409, 'duplicate_recordset'],
  NoServersConfigured: [500, 'no_servers_configured'],
  MessagingTimeout: [504, 'timeout'],
};

/** @throws Fault, PythonError */
async function zones(messaging: Messaging, { request, identity, id, part, body }: Call): Promise<HttpReply> {
  const isAll = headerOf(request, 'x-auth-all-projects') === 'true';
  if (isAll && !identity.roles.includes('admin')) throw new Fault(403, 'Forbidden', 'forbidden');
  const ask = async <T = Row>(method: string, parameters: Row = {}): Promise<T> => {
    try {
      const project = isAll ? undefined : identity.projectId;
      return (await messaging.call('central', method, { project, ...parameters })) as T;
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      const [status, type] = faults[error.type.split('.').at(-1)?.replace('_Remote', '') ?? ''] ?? [];
      throw status === undefined ? error : new Fault(status, error.message, type);
    }
  };
  const known = await ask<Row[]>('find_zones');
  if (id === undefined && request.method === 'GET') return json(200, { zones: known, metadata: {} });
  if (id === undefined) {
    const { name, email } = body;
    if (typeof name !== 'string' || !name.endsWith('.') || typeof email !== 'string')
      throw new Fault(400, 'Provided object does not match schema', 'invalid_object');
    return json(202, await ask('create_zone', { name, email }));
  }
  const zone = known.find((one) => one['id'] === id);
  if (zone === undefined) throw new Fault(404, 'Could not find Zone', 'zone_not_found');
  const wait = zone['status'] === 'PENDING' ? 'PENDING' : 'ACTIVE';
  if (part === 'recordsets' && request.method === 'POST') {
    const { name, type, records } = body;
    return json(202, await ask('create_recordset', { id, name, type, records }));
  }
  if (part === 'recordsets') {
    const recordsets = await ask<Row[]>('find_recordsets', { id });
    return json(200, { recordsets: recordsets.map((one) => ({ ...one, status: wait })), metadata: {} });
  }
  if (request.method === 'GET') return json(200, zone);
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed', 'method_not_allowed');
  return json(202, await ask('delete_zone', { id }));
}
