import type { HttpMessage, HttpReply, Process } from '@openstack-operator/sandbox';
import { headerOf, json } from '../openstack/http.ts';
import type { Config } from './config.ts';
import { KeystoneSession } from './keystone-session.ts';
import type { Log } from './log.ts';
import { PythonError } from './python-error.ts';

/** Who sends a request, as keystonemiddleware found out. */
export interface Identity {
  readonly userId: string;
  readonly projectId: string | undefined;
  readonly roles: readonly string[];
}

/** keystonemiddleware.auth_token: asks Keystone, with the service's own user, whom a token belongs to. */
export class AuthToken {
  readonly #process: Process;
  readonly #config: Config;
  readonly #log: Log;
  #session: KeystoneSession | undefined;
  readonly #cache = new Map<string, { identity: Identity; until: number }>();

  constructor(process: Process, config: Config, log: Log) {
    this.#process = process;
    this.#config = config;
    this.#log = log;
    if (!config.boolean('keystone_authtoken', 'service_token_roles_required', false)) {
      log.warning(
        'keystonemiddleware.auth_token',
        'AuthToken middleware is set with keystone_authtoken.service_token_roles_required set to False. This is backwards compatible but deprecated behaviour. Please set this to True.',
      );
    }
  }

  /** The identity, or the answer that the client gets instead: 401, 503. */
  async check(request: HttpMessage): Promise<Identity | HttpReply> {
    const token = headerOf(request, 'x-auth-token');
    if (token === undefined || token === '') return this.#unauthorized();
    const known = this.#cache.get(token);
    if (known !== undefined && known.until > this.#process.clock.now()) return known.identity;
    const logger = 'keystonemiddleware.auth_token';
    try {
      this.#session ??= new KeystoneSession(this.#process, this.#config, 'keystone_authtoken');
      const session = this.#session;
      const base = (
        await session.endpoint({
          type: 'identity',
          interfaces: [this.#config.text('keystone_authtoken', 'interface', 'internal')],
          region: this.#config.text('keystone_authtoken', 'region_name'),
        })
      ).replace(/\/v3$/, '');
      const reply = await session.request('GET', `${base}/v3/auth/tokens`, undefined, { 'x-subject-token': token });
      if (reply.status === 404) {
        this.#log.warning(logger, 'Authorization failed for token');
        return this.#unauthorized();
      }
      if (reply.status !== 200) return this.#unavailable('Failed to fetch token data from identity server');
      const body = JSON.parse(reply.body ?? '{}') as {
        token: { user: { id: string }; project?: { id: string }; roles?: { name: string }[] };
      };
      const identity: Identity = {
        userId: body.token.user.id,
        projectId: body.token.project?.id,
        roles: (body.token.roles ?? []).map(({ name }) => name),
      };
      this.#cache.set(token, {
        identity,
        until: this.#process.clock.now() + 1000 * this.#config.integer('keystone_authtoken', 'token_cache_time', 300),
      });
      return identity;
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      if (error.type.endsWith('Unauthorized')) {
        this.#log.warning(
          logger,
          'Identity response: {"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}',
        );
        return this.#unavailable('Identity server rejected authorization necessary to fetch token data');
      }
      if (/ConnectFailure|DiscoveryFailure|ConnectTimeout/.test(error.type)) return this.#unavailable(error.message);
      this.#log.exception(logger, error.lastLine, error);
      return json(500, { error: { code: 500, title: 'Internal Server Error', message: error.message } });
    }
  }

  #unauthorized(): HttpReply {
    const uri =
      this.#config.text('keystone_authtoken', 'www_authenticate_uri') ??
      this.#config.text('keystone_authtoken', 'auth_uri') ??
      '';
    return json(
      401,
      { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } },
      { 'www-authenticate': `Keystone uri="${uri}"` },
    );
  }

  #unavailable(reason: string): HttpReply {
    this.#log.unhandled('keystonemiddleware.auth_token', new PythonError('Unable to validate token', reason));
    return json(503, {
      message:
        'The server is currently unavailable. Please try again at a later time.<br /><br />\nThe Keystone service is temporarily unavailable.\n\n',
      code: '503 Service Unavailable',
      title: 'Service Unavailable',
    });
  }
}

/** Whether `check` let the request pass. */
export function isIdentity(result: Identity | HttpReply): result is Identity {
  return 'roles' in result;
}
