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

/**
 * What `openstack-operator <command> PLAN` begins with: the plan, as JSON, whose `lists` have to be lists, and the API.
 * @returns undefined, and prints the usage, where the arguments or a variable are wrong
 * @throws HttpError when Keystone gives no token
 */
export async function openPlan<P extends object>(
  command: string,
  args: readonly string[],
  { world, lists }: { readonly world: AskingWorld; readonly lists: readonly (keyof P & string)[] },
): Promise<{ readonly plan: P; readonly apiWith: ApiWith } | undefined> {
  const plan = args.length === 1 ? planIn<P>(args[0] ?? '', lists) : undefined;
  const apiWith = plan && (await openApi(world));
  if (plan !== undefined && apiWith !== undefined) return { plan, apiWith };
  world.print(`usage: ${needed.map((name) => `${name}=...`).join(' ')} openstack-operator ${command} PLAN`);
  return undefined;
}

function planIn<P extends object>(text: string, lists: readonly (keyof P & string)[]): P | undefined {
  try {
    const plan = JSON.parse(text) as P | null;
    return lists.every((name) => Array.isArray(plan?.[name])) ? (plan ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Logs in by OS_AUTH_URL, OS_USERNAME, OS_PASSWORD (of a user with role admin on the project OS_PROJECT_NAME, default `service`,
 * in domains OS_USER_DOMAIN_NAME and OS_PROJECT_DOMAIN_NAME), for the API at API_URL, which may have `%(project_id)s`;
 * CA_CERTIFICATE, as PEM, has signed the certificates of both, where an authority of its own has.
 * @returns undefined where a variable is missing
 * @throws HttpError when Keystone gives no token
 */
async function openApi({ env, http, clock, signal }: AskingWorld): Promise<ApiWith | undefined> {
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
