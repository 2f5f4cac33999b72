import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json } from '../http.ts';
import { type Catalog, KeystoneSession } from './keystone-session.ts';

import { PythonError } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';

/** Who sends a request, as keystonemiddleware found out. */
export interface Identity {
  readonly userId: string;
  readonly projectId: string | undefined;
  readonly roles: readonly string[];
  /** The user's own token, and what Keystone says is where. */
  readonly token: string;
  readonly catalog: Catalog;
}

interface TokenAnswer {
  readonly token: {
    readonly user: { readonly id: string };
    readonly project?: { readonly id: string };
    readonly roles?: readonly { readonly name: string }[];
    readonly catalog?: Catalog;
    readonly application_credential?: { readonly access_rules?: readonly AccessRule[] };
  };
}

/** What an application credential may ask for. */
interface AccessRule {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

const logger = 'keystonemiddleware.auth_token';
const group = 'keystone_authtoken';
const serviceError = 'keystonemiddleware.auth_token._exceptions.ServiceError';

/** keystonemiddleware.auth_token: asks Keystone, with the service's own user, whom a token belongs to. */
export class AuthToken {
  readonly #context: ServiceContext;
  readonly #session: KeystoneSession;
  readonly #cache = new Map<string, { identity: Identity; rules: readonly AccessRule[] | undefined; until: number }>();

  /** @throws PythonError for a plugin that keystoneauth does not know, and for a cache that is to be encrypted without a key */
  constructor(context: ServiceContext) {
    const { process, config, log } = context;
    this.#context = context;
    log.info(logger, 'Starting Keystone auth_token middleware');
    if (!config.boolean(group, 'service_token_roles_required')) {
      log.warning(
        logger,
        'AuthToken middleware is set with keystone_authtoken.service_token_roles_required set to False. This is backwards compatible but deprecated behaviour. Please set this to True.',
      );
    }
    this.#session = new KeystoneSession(process, config, group);
    if (!config.text(group, 'www_authenticate_uri')) {
      log.warning(
        logger,
        'Configuring www_authenticate_uri to point to the public identity endpoint is required; clients may not be able to authenticate against an admin endpoint',
      );
    }
    const strategy = config.text(group, 'memcache_security_strategy');
    if (strategy !== 'None' && !config.text(group, 'memcache_secret_key')) {
      throw new PythonError(
        'keystonemiddleware.auth_token._exceptions.ConfigurationError',
        'memcache_secret_key must be defined when a memcache_security_strategy is defined',
      );
    }
  }

  /** The identity, or the answer that the client gets instead: 401, 503. */
  async check(request: HttpMessage): Promise<Identity | HttpReply> {
    const token = headerOf(request, 'x-auth-token');
    if (token === undefined || token === '') return this.#unauthorized();
    const known = this.#cache.get(token);
    if (known !== undefined && known.until > this.#context.process.clock.now())
      return this.#isAllowed(request, known.rules) ? known.identity : this.#unauthorized();
    try {
      const body = await this.#verify(token);
      if (body === undefined) {
        this.#context.log.warning(logger, 'Authorization failed for token');
        return this.#unauthorized();
      }
      const identity: Identity = {
        userId: body.token.user.id,
        projectId: body.token.project?.id,
        roles: (body.token.roles ?? []).map(({ name }) => name),
        token,
        catalog: body.token.catalog ?? [],
      };
      const life = 1000 * this.#context.config.integer(group, 'token_cache_time');
      const rules = body.token.application_credential?.access_rules;
      this.#cache.set(token, { identity, rules, until: this.#context.process.clock.now() + life });
      return this.#isAllowed(request, rules) ? identity : this.#unauthorized();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      if (/ServiceError$|ConnectFailure$|DiscoveryFailure$|ConnectTimeout$/.test(error.type))
        return this.#unavailable(error.message);
      this.#context.log.exception(logger, error.lastLine, error);
      return json(500, { error: { code: 500, title: 'Internal Server Error', message: error.message } });
    }
  }

  /** Whether a rule lets the request through (keystonemiddleware, `_validate_token`); without rules everything may pass. */
  #isAllowed({ method, path: target }: HttpMessage, rules: readonly AccessRule[] | undefined): boolean {
    if (rules === undefined) return true;
    const type = this.#context.config.optional(group, 'service_type');
    if (type === undefined) {
      this.#context.log.warning(
        logger,
        'Cannot validate request with restricted access rules. Set service_type in [keystone_authtoken] to allow access rule validation.',
      );
      return false;
    }
    const [path = ''] = target.split('?');
    return rules.some((rule) => rule.service === type && rule.method === method && pathPattern(rule.path).test(path));
  }

  /** What Keystone says of a token; undefined when it does not know it. A refusal of the own user is tried twice. */
  async #verify(token: string): Promise<TokenAnswer | undefined> {
    const session = this.#session;
    for (let retry = true; ; retry = false) {
      try {
        const base = (
          await session.endpoint({
            type: 'identity',
            interfaces: [this.#context.config.text(group, 'interface')],
            region: this.#context.config.optional(group, 'region_name'),
          })
        ).replace(/\/v3$/, '');
        const reply = await session.request('GET', `${base}/v3/auth/tokens`, undefined, { 'x-subject-token': token });
        if (reply.status === 200) return JSON.parse(reply.body ?? '{}') as TokenAnswer;
        if (reply.status === 404) {
          this.#context.log.info(logger, 'Authorization failed for token');
          this.#context.log.info(logger, `Identity response: ${reply.body ?? ''}`);
          return undefined;
        }
        if (reply.status !== 401) {
          this.#context.log.error(
            logger,
            `Bad response code while validating token: ${reply.status} ${reply.body ?? ''}`,
          );
          throw new PythonError(serviceError, 'Failed to fetch token data from identity server');
        }
      } catch (error) {
        if (!(error instanceof PythonError) || !error.type.endsWith('Unauthorized')) throw error;
        session.invalidate();
      }
      this.#context.log.info(logger, 'Identity server rejected authorization');
      this.#context.log.warning(
        logger,
        'Identity response: {"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}',
      );
      if (!retry)
        throw new PythonError(serviceError, 'Identity server rejected authorization necessary to fetch token data');
      this.#context.log.info(logger, 'Retrying validation');
    }
  }

  #unauthorized(): HttpReply {
    const uri = this.#context.config.text(group, 'www_authenticate_uri');
    return json(
      401,
      { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } },
      { 'www-authenticate': `Keystone uri="${uri}"` },
    );
  }

  #unavailable(reason: string): HttpReply {
    this.#context.log.unhandled('keystonemiddleware.auth_token', new PythonError('Unable to validate token', reason));
    return json(503, {
      message:
        'The server is currently unavailable. Please try again at a later time.<br /><br />\nThe Keystone service is temporarily unavailable.\n\n',
      code: '503 Service Unavailable',
      title: 'Service Unavailable',
    });
  }
}

/** `*` and `{name}` are one part of a path, `**` any number. */
function pathPattern(path: string): RegExp {
  const parts = path.split(/(\*\*|\*|\{[^}]*\})/);
  const texts = parts.map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[.+?^$()|[\]\\]/g, '\\$&');
    return part === '**' ? '.*' : '[^/]+';
  });
  return new RegExp(`^${texts.join('')}$`);
}

/** Whether `check` let the request pass. */
export function isIdentity(result: Identity | HttpReply): result is Identity {
  return 'roles' in result;
}
