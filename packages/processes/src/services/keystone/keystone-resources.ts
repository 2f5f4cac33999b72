import type { Clock } from '@openstack-operator/kube';
import { selfUrl } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Collection, RowUse } from '../../model/collection.ts';
import { Fault } from '../../model/fault.ts';
import type { Passwords } from './keystone-passwords.ts';
import { demandRow, findRow, newId } from './keystone-schema.ts';

/** The collections that this model serves. */
export function collectionsOf({ passwords, clock }: { passwords: Passwords; clock: Clock }): readonly Collection[] {
  const inDomain = { unique: [['name', 'domain_id']], saving: demandDomain };
  const all: readonly (Collection & { item: string })[] = [
    {
      path: 'domains',
      item: 'domain',
      table: 'project',
      fixed: { is_domain: true },
      unique: [['name']],
      required: ['name'],
      defaults: { enabled: true, domain_id: null, description: '' },
    },
    {
      ...inDomain,
      path: 'projects',
      item: 'project',
      fixed: { is_domain: false },
      required: ['name'],
      defaults: { enabled: true, domain_id: 'default', description: '' },
      saving: (row, use) => {
        row['parent_id'] ??= row['domain_id'];
        demandDomain(row, use);
      },
      deleted: ({ id }, { schema }) => dropRows(schema, 'limit', 'project_id', id),
    },
    {
      ...inDomain,
      path: 'users',
      item: 'user',
      required: ['name'],
      defaults: { enabled: true, domain_id: 'default' },
      saving: (row, use, before) => {
        demandDomain(row, use);
        const { password } = row;
        if (typeof password !== 'string' || password === before?.['password']) return;
        row['password'] = passwords.hash(password);
        if (before !== undefined) row['password_changed'] = clock.now() / 1000;
      },
    },
    {
      ...inDomain,
      path: 'roles',
      item: 'role',
      required: ['name'],
      defaults: { domain_id: null, description: null },
      saving: (row, use, before) => {
        demandDomain(row, use);
        const immutable = (role: Row | undefined) => (role?.['options'] as Row | undefined)?.['immutable'];
        if (immutable(before) === true && immutable(row) !== false)
          throw new Fault(403, `Cannot modify immutable resource role: ${String(row['id'])}.`);
      },
    },
    {
      path: 'services',
      item: 'service',
      required: ['type'],
      defaults: { enabled: true },
      deleted: ({ id }, { schema }) => dropRows(schema, 'endpoint', 'service_id', id),
    },
    {
      path: 'endpoints',
      item: 'endpoint',
      required: ['service_id', 'interface', 'url'],
      defaults: { enabled: true, region_id: null },
      saving: checkEndpoint,
    },
    {
      path: 'regions',
      item: 'region',
      unique: [['id']],
      defaults: { description: '', parent_region_id: null },
    },
    { path: 'credentials', item: 'credential', required: ['type', 'blob'] },
  ];
  return all.map((collection) => ({
    table: collection.item,
    ...collection,
    identify: ({ random }) => newId(random),
    shown: (row, { request }) => shown(row, collection, selfUrl(request)),
    listed: ({ request }) => {
      const self = `${selfUrl(request)}/v3/${collection.path}`;
      return { links: { self, previous: null, next: null } };
    },
    deleted: (row, use) => {
      collection.deleted?.(row, use);
      for (const table of ['assignment', 'system_assignment'])
        for (const column of ['actor_id', 'target_id', 'role_id']) dropRows(use.schema, table, column, row['id']);
    },
  }));
}

/** A user's application credentials: who makes one learns its secret, which Keystone makes of whoever brings none. */
export function applicationCredentials(user: string, passwords: Passwords): Collection {
  let secret = '';
  return {
    path: 'application_credentials',
    item: 'application_credential',
    table: 'application_credential',
    fixed: { user_id: user },
    unique: [['name']],
    defaults: { project_id: null },
    identify: ({ random }) => newId(random),
    saving: (row, { random }) => {
      // base64url of 64 bytes, 86 characters (keystone.api.users).
      secret = typeof row['secret'] === 'string' ? row['secret'] : Buffer.from(random.bytes(64)).toString('base64url');
      row['secret'] = passwords.hash(secret);
    },
    shown: ({ secret: _hash, ...row }, { request }) => (request.method === 'POST' ? { ...row, secret } : row),
    listed: () => ({ links: {} }),
  };
}

/** A row as it is shown: without what is secret. */
function shown(row: Row, { path, item }: Pick<Collection, 'path' | 'item'>, base: string): Row {
  const { password: _password, key_hash: _hash, ...open } = row;
  const region = item === 'endpoint' ? { region: row['region_id'] } : {};
  return { ...open, ...region, links: { self: `${base}/v3/${path}/${String(row['id'])}` } };
}

function demandDomain({ domain_id: domain }: Row, { schema }: RowUse): void {
  if (typeof domain === 'string') demandRow(schema, 'domain', domain, { is_domain: true });
}

function checkEndpoint(row: Row, { schema }: RowUse): void {
  const { interface: kind, service_id: service } = row;
  if (!['public', 'internal', 'admin'].includes(String(kind)))
    throw new Fault(
      400,
      `Invalid input for field 'interface': '${String(kind)}' is not one of ['admin', 'internal', 'public']`,
    );
  demandRow(schema, 'service', String(service));
  row['region_id'] ??= row['region'] ?? null;
  delete row['region'];
  const region = row['region_id'];
  // A region that an endpoint names is made (keystone.api.endpoints, _validate_endpoint_region).
  if (typeof region === 'string' && findRow(schema, 'region', region) === undefined)
    tableOf(schema, 'region').set(region, { id: region, description: '', parent_region_id: null });
}

function dropRows(schema: Schema, table: string, column: string, value: unknown): void {
  const rows = tableOf(schema, table);
  for (const [key, row] of rows) if (row[column] === value) rows.delete(key);
}
