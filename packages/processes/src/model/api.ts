import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, json, locationOf } from '../http.ts';
import type { Row, Schema } from '../infrastructure/mysql-protocol.ts';
import { AuthToken, type Identity, isIdentity } from '../oslo/auth-token.ts';
import type { Config } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { notify } from '../oslo/notifier.ts';
import { statedPolicy } from '../oslo/policy-file.ts';
import type { ProjectDatabase } from '../oslo/project-database.ts';
import { PythonError } from '../oslo/python-error.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { answerCollection, type Collection, rowIn } from './collection.ts';
import { commonWords, Fault, type FaultWords } from './fault.ts';
import type { WsgiHandler } from './uwsgi.ts';

/** An API: what anybody may ask, what needs a token, which collections it has. */
export interface Api {
  /** The version's part of the path (`v2.0`), or several; without one paths begin with a collection. */
  readonly prefix?: string | readonly string[];
  /** Answers without a token, by path. */
  readonly open: Readonly<Record<string, HttpReply>>;
  /** Whether the pipeline has no authentication: then everybody is an administrator. */
  unauthenticated?(config: Config): boolean;
  /** Who may call; absent: anybody with a token. */
  readonly policy?: Policy;
  /** Who may call what, by the first part of the path, where that differs. */
  readonly policies?: Readonly<Record<string, Policy>>;
  /** What differs from the words of most APIs. */
  readonly words?: Partial<FaultWords>;
  /** Where its collections are kept. */
  readonly database?: ProjectDatabase;
  readonly collections?: readonly Collection[];
  /** What data cannot say, by the part of the path that a collection would have; undefined: a collection answers. */
  readonly routes?: Readonly<Record<string, Route>>;
}

/** Roles of which a caller needs one, and the rule that refuses others. */
export interface Policy {
  readonly roles: readonly string[];
  readonly rule: string;
}

/** Answers a request. @throws Fault, PythonError */
export type Route = (call: Call) => Promise<HttpReply | undefined> | HttpReply | undefined;

/** A request of somebody that Keystone knows. */
export interface Call {
  readonly request: HttpMessage;
  readonly identity: Identity;
  readonly id: string | undefined;
  readonly part: string | undefined;
  readonly query: URLSearchParams;
  readonly body: Row;
  /** Runs something in the API's database. */
  readonly store: <T>(run: (schema: Schema) => T) => Promise<T>;
}

const everybody: Identity = { userId: '', projectId: undefined, roles: ['admin'], token: '', catalog: [] };

const privileges = { GET: 'SELECT', POST: 'INSERT', DELETE: 'DELETE' } as const;

/** The handler of an API behind keystonemiddleware; exceptions become 500 with a traceback in the log. */
export function apiHandler(context: ServiceContext, api: Api): WsgiHandler {
  const { process, config, log } = context;
  const auth = new AuthToken(context);
  const isOpen = api.unauthenticated?.(config) ?? false;
  const words = { ...commonWords, ...api.words };
  const database = api.database && new Database(context, api.database);
  const prefixes = [api.prefix ?? []].flat();
  const answer = async (request: HttpMessage, identity: Identity): Promise<HttpReply> => {
    const { path, query } = locationOf(request);
    const [, ...segments] = path.split('/');
    const served = prefixes.length === 0 || prefixes.includes(segments.shift() ?? '');
    const [kind = ''] = segments;
    const { roles, rule = '' } = api.policies?.[kind] ?? api.policy ?? {};
    const isAllowed = roles === undefined || identity.roles.some((role) => roles.includes(role));
    const policy = statedPolicy(context, { method: request.method, path }, identity) ?? { rule, passes: isAllowed };
    if (!policy.passes) throw new Fault(403, words.forbidden(policy.rule));
    const collection = api.collections?.find(({ path }) => `${segments.join('/')}/`.startsWith(`${path}/`));
    const [id, part, ...further] = segments.slice(collection?.path.split('/').length ?? 1);
    const store = <T>(run: (schema: Schema) => T): Promise<T> => {
      if (database === undefined) throw new Error(`this model has no database for ${request.method} ${path}`);
      return database.transaction(privileges[request.method as 'GET'] ?? 'UPDATE', run);
    };
    const route = api.routes?.[kind];
    const routed = served
      ? await route?.({ request, identity, id, part, query, store, body: bodyOf(request) ?? {} })
      : undefined;
    if (routed !== undefined) return routed;
    if (!served || collection === undefined || further.length > 0)
      throw new Fault(404, 'The resource could not be found.', 'HTTPNotFound');
    const { random } = process;
    const makes = request.method === 'POST' && id === undefined;
    const known = makes || request.method === 'PUT' ? await collection.before?.() : undefined;
    const reply = await store((schema) =>
      answerCollection(collection, { schema, request, random, project: identity.projectId, words, known }, id, part),
    );
    if (makes) await collection.made?.(rowIn(collection, reply));
    if (makes && collection.notifies !== undefined)
      await notify(context, collection.notifies, rowIn(collection, reply));
    return reply;
  };
  return async (request) => {
    const open = api.open[locationOf(request).path || '/'];
    if (open !== undefined) return open;
    const checked = isOpen ? everybody : await auth.check(request);
    if (!isIdentity(checked)) return checked;
    try {
      return await answer(request, checked);
    } catch (error) {
      if (error instanceof Fault) return json(error.status, words.body(error));
      if (!(error instanceof PythonError)) throw error;
      log.exception('oslo.middleware.catch_errors', 'An error occurred during processing the request', error);
      const message = 'The server has either erred or is incapable of performing the requested operation.';
      return json(500, { error: { code: 500, message } });
    }
  };
}

/** The version document of an API. */
export function versions(status: number, ...ids: readonly string[]): HttpReply {
  return json(status, {
    versions: ids.map((id) => ({ id, status: 'CURRENT', links: [{ rel: 'self', href: `/${id}/` }] })),
  });
}
