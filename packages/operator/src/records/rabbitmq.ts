import { createHash } from 'node:crypto';
import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';

/** What a service has on the broker. */
export interface BrokerRecords {
  /** Management API, such as `http://rabbitmq.openstack.svc:15672`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** `shared`: others have rights to it as well. */
  readonly vhosts: readonly { readonly name: string; readonly shared?: boolean }[];
  readonly users: readonly {
    readonly name: string;
    readonly password: string;
    readonly permissions: readonly {
      readonly vhost: string;
      readonly configure: string;
      readonly write: string;
      readonly read: string;
    }[];
  }[];
  /** Users whose passwords are not accepted any more. */
  readonly absentUsers?: readonly string[];
}

/**
 * Makes vhosts, users and permissions what the records say; says in words what it changed. Every call is a PUT that may
 * be repeated; a password is only written when it differs. Users get no tags: services speak AMQP, and the management
 * API is the administrator's.
 */
export async function keepBrokerRecords(records: BrokerRecords, http: Http): Promise<string[]> {
  const admin = jsonApi(http, records.url, basic(records.username, records.password));
  const changes: string[] = [];
  for (const { name } of records.vhosts) {
    if ((await found(admin, `/api/vhosts/${encode(name)}`)) !== undefined) continue;
    await admin.call('PUT', `/api/vhosts/${encode(name)}`, { default_queue_type: 'quorum' });
    changes.push(`created vhost ${name}`);
  }
  for (const user of records.users) {
    const current = (await found(admin, userPath(user.name))) as BrokerAccount | undefined;
    const change = current === undefined ? `created user ${user.name}` : differenceOf(user, current);
    if (change !== undefined) {
      await admin.call('PUT', userPath(user.name), { password: user.password, tags: '' });
      changes.push(change);
    }
    for (const { vhost, ...permissions } of user.permissions) {
      const path = `/api/permissions/${encode(vhost)}/${encode(user.name)}`;
      const current = (await found(admin, path)) as typeof permissions | undefined;
      if (
        current !== undefined &&
        (['configure', 'write', 'read'] as const).every((one) => current[one] === permissions[one])
      )
        continue;
      await admin.call('PUT', path, permissions);
      changes.push(`granted user ${user.name} vhost ${vhost}`);
    }
  }
  for (const name of records.absentUsers ?? []) changes.push(...(await remove(admin, `user ${name}`, userPath(name))));
  return changes;
}

/** Removes the users and vhosts of the records, with their queues, but for vhosts that others use; says in words what it removed. */
export async function removeBrokerRecords(records: BrokerRecords, http: Http): Promise<string[]> {
  const admin = jsonApi(http, records.url, basic(records.username, records.password));
  const changes: string[] = [];
  for (const name of [...records.users.map(({ name }) => name), ...(records.absentUsers ?? [])])
    changes.push(...(await remove(admin, `user ${name}`, userPath(name))));
  for (const { name, shared } of records.vhosts) {
    const path = `/api/vhosts/${encode(name)}`;
    const others = shared === true ? ((await found(admin, `${path}/permissions`)) ?? []) : [];
    // Administrators have rights to what they have made.
    const isUsed = (others as readonly { user: string }[]).some(({ user }) => user !== records.username);
    if (!isUsed) changes.push(...(await remove(admin, `vhost ${name}`, path)));
  }
  return changes;
}

/** @returns what it removed, in words; nothing when there was none */
async function remove(admin: JsonApi, title: string, path: string): Promise<string[]> {
  if ((await found(admin, path)) === undefined) return [];
  await admin.call('DELETE', path);
  return [`removed ${title}`];
}

async function found(api: JsonApi, path: string): Promise<unknown> {
  try {
    return await api.call('GET', path);
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

/** A user as the management API shows it to an administrator. */
interface BrokerAccount {
  readonly password_hash?: string;
  readonly hashing_algorithm?: string;
  /** A list; a text with commas before RabbitMQ 3.9. */
  readonly tags?: readonly string[] | string;
}

/** What of an account is not as it should be, in words; undefined when nothing is. */
function differenceOf(user: { name: string; password: string }, account: BrokerAccount): string | undefined {
  if (!isPassword(user.password, account)) return `set the password of user ${user.name}`;
  const tags = [account.tags ?? []].flat().filter((tag) => tag !== '');
  return tags.length === 0 ? undefined : `took tags ${tags.join(', ')} from user ${user.name}`;
}

/**
 * Whether a password is the one of an account: its hash is four bytes of salt, and the digest of salt and password
 * (https://www.rabbitmq.com/docs/passwords). A user without tags cannot log in to the API to prove it.
 */
function isPassword(password: string, { password_hash = '', hashing_algorithm = '' }: BrokerAccount): boolean {
  const algorithm = /^rabbit_password_hashing_(md5|sha256|sha512)$/.exec(hashing_algorithm)?.[1];
  const hash = Buffer.from(password_hash, 'base64');
  if (algorithm === undefined || hash.length <= saltLength) return false;
  const salted = createHash(algorithm).update(hash.subarray(0, saltLength)).update(password).digest();
  return salted.equals(hash.subarray(saltLength));
}

const saltLength = 4;

function basic(username: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

const encode = encodeURIComponent;

const userPath = (name: string): string => `/api/users/${encode(name)}`;
