import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';

/** What a service has on the broker. */
export interface BrokerRecords {
  /** Management API, such as `http://rabbitmq.openstack.svc:15672`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly vhosts: readonly { readonly name: string }[];
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
}

/**
 * Makes vhosts, users and permissions what the records say; says in words what it changed. Every call is a PUT that may
 * be repeated; a password is only written when the old one no longer works, because a write ends the user's sessions.
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
    const exists = (await found(admin, `/api/users/${encode(user.name)}`)) !== undefined;
    if (!exists || !(await logsIn(http, records.url, user))) {
      await admin.call('PUT', `/api/users/${encode(user.name)}`, { password: user.password, tags: 'management' });
      changes.push(exists ? `set the password of user ${user.name}` : `created user ${user.name}`);
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
  return changes;
}

async function found(api: JsonApi, path: string): Promise<unknown> {
  try {
    return await api.call('GET', path);
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

async function logsIn(http: Http, url: string, user: { name: string; password: string }): Promise<boolean> {
  try {
    await jsonApi(http, url, basic(user.name, user.password)).call('GET', '/api/whoami');
    return true;
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return false;
    throw error;
  }
}

function basic(username: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

const encode = encodeURIComponent;
