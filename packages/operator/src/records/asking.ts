import { type JsonApi, jsonApi, patient, trusting } from './http.ts';
import { openSession } from './identity-login.ts';
import type { RecordsWorld } from './run.ts';

/** What a command needs of the world that does something with the API of a service. */
export type AskingWorld = Omit<RecordsWorld, 'read' | 'writeMessage'> & {
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The API at its URL, with further headers; `isOnce`: what it does not answer is not sent again, as it may have been done. */
export type ApiWith = (
  headers: Readonly<Record<string, string>> | undefined,
  more?: { readonly isOnce: boolean },
) => JsonApi;

/** Seconds for which an API that is just starting is waited for. */
const patience = 60;

/** Variables without which it cannot ask. */
const needed = ['OS_AUTH_URL', 'OS_USERNAME', 'OS_PASSWORD', 'API_URL'] as const;

/** What such a command is called with, for its usage. */
export const askingUsage = needed.map((name) => `${name}=...`).join(' ');

/**
 * Logs in by OS_AUTH_URL, OS_USERNAME, OS_PASSWORD (of a user with role admin on the project OS_PROJECT_NAME, default `service`,
 * in domains OS_USER_DOMAIN_NAME and OS_PROJECT_DOMAIN_NAME), for the API at API_URL, which may have `%(project_id)s`;
 * CA_CERTIFICATE, as PEM, has signed the certificates of both, where an authority of its own has.
 * @returns undefined where a variable is missing
 * @throws HttpError when Keystone gives no token
 */
export async function openApi({ env, http, clock, signal }: AskingWorld): Promise<ApiWith | undefined> {
  const [url, username, password, base] = needed.map((name) => env[name] ?? '') as [string, string, string, string];
  if ([url, username, password, base].includes('')) return undefined;
  const once = trusting(http, env['CA_CERTIFICATE']);
  const waiting = patient(once, clock, patience, signal);
  const { token, projectId } = await openSession(waiting, url, {
    username,
    password,
    project: env['OS_PROJECT_NAME'] ?? 'service',
    userDomain: env['OS_USER_DOMAIN_NAME'] ?? 'Default',
    projectDomain: env['OS_PROJECT_DOMAIN_NAME'] ?? 'Default',
  });
  const api = base.replace('%(project_id)s', projectId);
  return (headers, { isOnce = false } = { isOnce: false }) =>
    jsonApi(isOnce ? once : waiting, api, { 'x-auth-token': token, ...headers });
}
