import { createHash } from 'node:crypto';
import { abortScope } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Client } from '../client/api.ts';
import { ConnectionError } from '../objects/errors.ts';
import { defineKind, type KubeObject } from '../objects/objects.ts';

/** Whether a request may read a path: `200`, `401` (nobody the cluster knows), `403` (no right), `500` (not to be told). */
export type Access = 200 | 401 | 403 | 429 | 500;

/** Tells from the value of the header `Authorization` who asks, and whether that one may `get` the path. */
export type AccessCheck = (authorization: string | undefined, path: string) => Promise<Access>;

/** Options of `accessCheck`. */
export interface AccessCheckOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo };
}

interface SubjectAccessReview extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly allowed: boolean };
}

const TokenReview = defineKind<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', {
  namespaced: false,
});
const SubjectAccessReview = defineKind<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
  { namespaced: false },
);

/** Milliseconds for which an answer holds: a right that is taken back holds on for as long. */
const KEPT = { allowed: 60_000, denied: 10_000 };
/** Answers that are kept, and questions that are under way, at most: who guesses tokens costs no more. */
const MOST = { kept: 256, asking: 8 };
/** Milliseconds until the API server has to have answered. */
const TIMEOUT = 10_000;

/**
 * Authenticates and authorises as controller-runtime's filter of metrics does: a TokenReview says whose a bearer token is,
 * a SubjectAccessReview whether that one may `get` the path (`nonResourceURLs`). Without an answer nobody may.
 */
export function accessCheck({ client, clock, log }: AccessCheckOptions): AccessCheck {
  const kept = new Map<string, { readonly access: Access; readonly until: number }>();
  let asking = 0;

  async function ask(token: string, path: string): Promise<Access> {
    using scope = abortScope({
      deadline: { clock, ms: TIMEOUT, reason: () => new ConnectionError('ETIMEDOUT', 'no answer to a review') },
    });
    const { signal } = scope;
    const { apiVersion, kind } = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
    const review = await client.create(TokenReview, { apiVersion, kind, metadata: {}, spec: { token } }, { signal });
    const { authenticated, user } = review.status ?? {};
    if (authenticated !== true || user === undefined) return 401;
    const spec = {
      user: user.username,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
      nonResourceAttributes: { path, verb: 'get' },
    };
    const object = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    const { status } = await client.create(SubjectAccessReview, object, { signal });
    return status?.allowed === true ? 200 : 403;
  }

  return async (authorization, path) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return 401;
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const now = clock.monotonic();
    const known = kept.get(key);
    if (known && known.until > now) return known.access;
    if (asking >= MOST.asking) return 429;
    asking++;
    try {
      const access = await ask(token, path);
      kept.delete(key);
      kept.set(key, { access, until: now + (access === 200 ? KEPT.allowed : KEPT.denied) });
      const [oldest] = kept.keys();
      if (kept.size > MOST.kept && oldest !== undefined) kept.delete(oldest);
      return access;
    } catch (error) {
      log.warn('who asks for metrics could not be told', { error });
      return 500;
    } finally {
      asking--;
    }
  };
}
