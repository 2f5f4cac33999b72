import { type Row, rowsOf, type Schema } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import type { Passwords } from './keystone-passwords.ts';
import { findRow, rolesOf } from './keystone-schema.ts';
import type { TokenPayload } from './keystone-tokens.ts';

/** What a client learns of a failed authentication. */
export function unauthorized(): Fault {
  return new Fault(401, 'The request you have made requires authentication.');
}

interface Named {
  id?: string;
  name?: string;
  domain?: Named;
  password?: string;
  secret?: string;
  user?: Named;
}

/** The body of `POST /v3/auth/tokens`. */
export interface AuthRequest {
  readonly auth?: {
    readonly identity?: {
      readonly methods?: readonly string[];
      readonly password?: { readonly user?: Named };
      readonly token?: { readonly id?: string };
      readonly application_credential?: Named;
    };
    readonly scope?:
      | 'unscoped'
      | { readonly project?: Named; readonly domain?: Named; readonly system?: { readonly all?: boolean } };
  };
}

/**
 * Whom a request proves to be, and for which scope; reasons are logged by the caller, the client learns only 401.
 * @throws Fault 400, 401
 */
export function authenticate(
  schema: Schema,
  request: AuthRequest,
  open: (token: string) => TokenPayload,
  warn: (text: string) => void,
  passwords: Passwords,
): Pick<TokenPayload, 'user' | 'methods' | 'scope'> & { applicationCredential?: string } {
  const { identity, scope } = request.auth ?? {};
  const methods = identity?.methods;
  if (methods === undefined) throw new Fault(400, "'methods' is a required property");
  const [method] = methods;
  if (method === 'token') {
    const payload = open(identity?.token?.id ?? '');
    return {
      user: payload.user,
      methods: [...new Set([...payload.methods, 'token'])],
      scope: scopeOf(schema, payload.user, scope, warn),
    };
  }
  if (method === 'application_credential')
    return byApplicationCredential(schema, passwords, identity?.application_credential ?? {});
  if (method !== 'password') throw unauthorized();
  const given = identity?.password?.user;
  if (given === undefined) throw malformed('user in password');
  const refuse = (text: string): never => {
    warn(text);
    throw unauthorized();
  };
  const user = userOf(schema, given) ?? refuse(`Could not find user: ${given.name ?? given.id}.`);
  const id = String(user['id']);
  if (user['enabled'] === false) refuse(`The account is disabled for user: ${id}.`);
  if (!passwords.matches(given.password ?? '', user['password']))
    refuse(
      `Authorization failed. The request you have made requires authentication. (Invalid username or password) from ${given.name ?? given.id}`,
    );
  return { user: id, methods: ['password'], scope: scopeOf(schema, id, scope, warn) };
}

function malformed(what: string): Fault {
  return new Fault(
    400,
    `Expecting to find ${what}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
}

function userOf(schema: Schema, given: Named): Row | undefined {
  if (given.id !== undefined) return findRow(schema, 'user', given.id);
  const domain = domainId(schema, given.domain);
  return rowsOf(schema, 'user', { name: given.name, domain_id: domain })[0];
}

function domainId(schema: Schema, domain: Named | undefined): unknown {
  if (domain?.id !== undefined) return domain.id;
  if (domain?.name === undefined) throw malformed('domain in user');
  return rowsOf(schema, 'project', { name: domain.name, is_domain: true })[0]?.['id'];
}

function byApplicationCredential(schema: Schema, passwords: Passwords, given: Named) {
  const match: Row = given.id === undefined ? { name: given.name } : { id: given.id };
  const found = rowsOf(schema, 'application_credential', match).find(
    (row) => given.id !== undefined || row['user_id'] === userOf(schema, given.user ?? {})?.['id'],
  );
  if (found === undefined || !passwords.matches(given.secret ?? '', found['secret'])) throw unauthorized();
  return {
    user: String(found['user_id']),
    methods: ['application_credential'],
    scope: String(found['project_id']),
    applicationCredential: String(found['id']),
  };
}

type Scope = NonNullable<NonNullable<AuthRequest['auth']>['scope']>;

/** The scope that was asked for (or the user's default project). @throws Fault 401 without a role on it */
function scopeOf(
  schema: Schema,
  user: string,
  scope: Scope | undefined,
  warn: (text: string) => void,
): string | undefined {
  const withRole = (target: string, what: string): string => {
    if (rolesOf(schema, user, target).length > 0) return target;
    warn(`User ${user} has no access to ${what} ${target}`);
    throw unauthorized();
  };
  if (scope === 'unscoped') return undefined;
  if (scope === undefined) {
    const preferred = findRow(schema, 'user', user)?.['default_project_id'];
    return typeof preferred === 'string' && rolesOf(schema, user, preferred).length > 0 ? preferred : undefined;
  }
  if (scope.system !== undefined) return withRole('system', 'the');
  if (scope.domain !== undefined) return `domain:${withRole(String(domainId(schema, scope.domain)), 'domain')}`;
  const { project } = scope;
  if (project === undefined) return undefined;
  if (project.id === undefined && project.name === undefined)
    throw new Fault(400, 'Invalid input for field scope/project: id or name must be present.');
  const found =
    project.id === undefined
      ? rowsOf(schema, 'project', {
          name: project.name,
          domain_id: domainId(schema, project.domain),
          is_domain: false,
        })[0]
      : findRow(schema, 'project', project.id);
  if (found === undefined || found['enabled'] === false) {
    warn(`Could not find project: ${project.id ?? project.name}.`);
    throw unauthorized();
  }
  return withRole(String(found['id']), 'project');
}
