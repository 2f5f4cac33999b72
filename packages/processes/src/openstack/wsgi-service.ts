import type { HttpMessage, HttpReply, Process } from '@openstack-operator/sandbox';
import { AuthToken, type Identity, isIdentity } from '../oslo/auth-token.ts';
import type { Config } from '../oslo/config.ts';
import { type Log, setUpLog } from '../oslo/log.ts';
import { PythonError } from '../oslo/python-error.ts';
import { json, locationOf } from './http.ts';
import type { WsgiHandler } from './uwsgi.ts';

/** A loaded service: what its routes work with. */
export interface ApiContext {
  readonly process: Process;
  readonly config: Config;
  readonly log: Log;
}

/** A service's API: what anybody may ask, and what needs a token. */
export interface ApiRoutes {
  /** Answers without a token; undefined: a token is needed. */
  open(request: HttpMessage, path: string): HttpReply | undefined;
  /** Who everybody is when nobody is asked for a token (a pipeline without authentication). */
  readonly everybody?: Identity;
  /** Answers of somebody that Keystone knows. */
  routes(request: HttpMessage, path: string, identity: Identity): Promise<HttpReply> | HttpReply;
}

/** Makes logging ready as the configuration says. */
export function apiContext(process: Process, config: Config, program: string): ApiContext {
  return { process, config, log: setUpLog(process, config, program) };
}

/** The handler of an API behind keystonemiddleware; exceptions become 500 with a traceback in the log. */
export function apiHandler(context: ApiContext, routes: ApiRoutes): WsgiHandler {
  const { process, config, log } = context;
  const auth = new AuthToken(process, config, log);
  return async (request) => {
    const { path } = locationOf(request);
    const open = routes.open(request, path);
    if (open !== undefined) return open;
    const checked = routes.everybody ?? (await auth.check(request));
    if (!isIdentity(checked)) return checked;
    try {
      return await routes.routes(request, path, checked);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception('oslo.middleware.catch_errors', 'An error occurred during processing the request', error);
      return json(500, {
        error: {
          code: 500,
          message: 'The server has either erred or is incapable of performing the requested operation.',
        },
      });
    }
  };
}

/** The version document of an API. */
export function versions(status: number, ids: readonly string[]): HttpReply {
  return json(status, {
    versions: ids.map((id) => ({ id, status: 'CURRENT', links: [{ rel: 'self', href: `/${id}/` }] })),
  });
}

/** Not what the caller may do. */
export function forbiddenReply(rule: string): HttpReply {
  return json(403, {
    error: { code: 403, title: 'Forbidden', message: `Policy does not allow ${rule} to be performed.` },
    forbidden: { code: 403, message: `Policy doesn't allow ${rule} to be performed.` },
  });
}

/** Nothing there. */
export function notFoundReply(): HttpReply {
  return json(404, { itemNotFound: { code: 404, message: 'The resource could not be found.' } });
}
