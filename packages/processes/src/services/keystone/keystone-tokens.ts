import { createHmac } from 'node:crypto';
import { type Row, rowsOf, type Schema } from '../../infrastructure/mysql-protocol.ts';
import { isoTime } from '../../program-support.ts';
import { findRow, rolesOf } from './keystone-schema.ts';

/** What a fernet token holds, encrypted in reality. */
export interface TokenPayload {
  readonly user: string;
  readonly methods: readonly string[];
  /** A project's id, `domain:<id>`, `system`, or nothing. */
  readonly scope: string | undefined;
  /** Seconds since the epoch. */
  readonly issued: number;
  readonly expires: number;
  readonly audit: string;
  readonly applicationCredential?: string;
}

/** Makes a token with the primary key. */
export function sealToken(payload: TokenPayload, primaryKey: string): string {
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `gAAAAA${body}.${createHmac('sha256', primaryKey.trim()).update(body).digest('base64url')}`;
}

/** Opens a token with any of the keys; undefined when none fits. */
export function openToken(token: string, keys: readonly string[]): TokenPayload | undefined {
  const [body = '', signature] = token.replace(/^gAAAAA/, '').split('.');
  const fits = keys.some((key) => createHmac('sha256', key.trim()).update(body).digest('base64url') === signature);
  return fits ? (JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenPayload) : undefined;
}

/** A domain as it stands in answers. */
function domainOf(schema: Schema, id: unknown): { id: string; name: unknown } {
  return { id: String(id), name: findRow(schema, 'project', String(id))?.['name'] };
}

/** Roles that a token carries: those of its user on its scope. */
export function tokenRoles(schema: Schema, payload: TokenPayload): Row[] {
  return payload.scope === undefined ? [] : rolesOf(schema, payload.user, payload.scope.replace(/^domain:/, ''));
}

/** The `token` object of an answer, with the catalogue when the token has a scope. */
export function tokenBody(
  schema: Schema,
  payload: TokenPayload,
  options: { catalog: boolean },
): Record<string, unknown> {
  const user = findRow(schema, 'user', payload.user) ?? {};
  const { scope } = payload;
  // Neither `system` nor `domain:<id>` is the id of a project.
  const project = scope === undefined ? undefined : findRow(schema, 'project', scope);
  return {
    methods: payload.methods,
    user: {
      id: payload.user,
      name: user['name'],
      domain: domainOf(schema, user['domain_id']),
      password_expires_at: null,
    },
    audit_ids: [payload.audit],
    expires_at: isoTime(payload.expires),
    issued_at: isoTime(payload.issued),
    ...(project && {
      project: { id: project['id'], name: project['name'], domain: domainOf(schema, project['domain_id']) },
      is_domain: false,
    }),
    ...(payload.applicationCredential !== undefined && {
      application_credential: applicationCredentialOf(schema, payload.applicationCredential),
    }),
    ...(scope === 'system' && { system: { all: true } }),
    ...(scope?.startsWith('domain:') && { domain: domainOf(schema, scope.slice(7)) }),
    ...(scope !== undefined && { roles: tokenRoles(schema, payload).map(({ id, name }) => ({ id, name })) }),
    ...(scope !== undefined && options.catalog && { catalog: catalogOf(schema, project && scope) }),
  };
}

function applicationCredentialOf(schema: Schema, id: string): Record<string, unknown> {
  const { name, access_rules: rules } = findRow(schema, 'application_credential', id) ?? {};
  return { id, name, restricted: true, ...(Array.isArray(rules) && { access_rules: rules }) };
}

/** The service catalogue, with project ids filled in. */
function catalogOf(schema: Schema, project: string | undefined): Record<string, unknown>[] {
  return rowsOf(schema, 'service', { enabled: true }).map((service) => ({
    id: service['id'],
    type: service['type'],
    name: service['name'],
    endpoints: rowsOf(schema, 'endpoint', { service_id: service['id'], enabled: true }).map((endpoint) => ({
      id: endpoint['id'],
      interface: endpoint['interface'],
      region_id: endpoint['region_id'] ?? null,
      region: endpoint['region_id'] ?? null,
      url: String(endpoint['url']).replaceAll(/[%$]\((?:tenant|project)_id\)s/g, project ?? ''),
    })),
  }));
}
