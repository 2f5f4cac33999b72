import type { Keeping } from '../../engine/vocabulary/keeping.ts';
import { recordsFile } from '../../engine/vocabulary/records.ts';
import { authorityOf } from '../../engine/vocabulary/trust.ts';
import { secretReference } from '../../oslo/references.ts';

/** Users, virtual hosts and permissions of a service on the broker (`<name>-mq-create`), by its management API. */
export const brokerRecords: Keeping = {
  suffix: 'mq-create',
  step: 'MessagingReady',
  target: 'rabbitmq',
  holds: 'data',
  concerns: ({ messaging }) => messaging !== undefined,
  list({ service, context }) {
    const { managementUrl, adminUser, adminPassword } = context.broker;
    const { user, userIn, vhost, notifications, secret } = context.accounts.broker;
    const previous = context.previousOf(secret);
    const users = new Map(previous === undefined ? [] : [[userIn(previous.generation), previous.secret]]);
    users.set(user, secret);
    const own = service.messaging === true ? [...new Set([vhost, ...(service.vhosts?.(context) ?? [])])] : [];
    const hasNotifications = service.listens !== undefined || context.topics.length > 0;
    const vhosts = [
      ...own.map((name) => ({ name })),
      // It goes with the last service that has rights to it.
      ...(hasNotifications ? [{ name: notifications, shared: true }] : []),
    ];
    return recordsFile({
      url: managementUrl,
      ...authorityOf(context.broker),
      username: adminUser('quoted'),
      password: adminPassword('quoted'),
      vhosts,
      users: [...users].map(([name, secret]) => ({
        name,
        password: secretReference(secret, 'password', 'quoted'),
        permissions: vhosts.map(({ name }) => ({ vhost: name, configure: '.*', write: '.*', read: '.*' })),
      })),
      absentUsers: context.isShared(secret) ? [] : [1, 2].map(userIn).filter((name) => !users.has(name)),
    });
  },
  things: ({ context }) => `user ${context.accounts.broker.user} and its virtual hosts on the broker`,
};
