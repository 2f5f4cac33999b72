import type { Keeping } from '../../engine/keeping.ts';
import { recordsFile } from '../../engine/records.ts';
import { secretReference } from '../../oslo/references.ts';

/** User, virtual hosts, permissions and policy of a service on the broker (`<name>-mq-create`), by its management API. */
export const brokerRecords: Keeping = {
  suffix: 'mq-create',
  step: 'MessagingReady',
  target: 'rabbitmq',
  holds: 'data',
  concerns: ({ messaging }) => messaging === true,
  list({ service, context }) {
    const { managementUrl, adminUser, adminPassword } = context.broker;
    const { user, vhost, secret } = context.accounts.broker;
    const vhosts = [...new Set([vhost, ...(service.vhosts?.(context) ?? [])])];
    return recordsFile({
      url: managementUrl,
      username: adminUser('quoted'),
      password: adminPassword('quoted'),
      vhosts: vhosts.map((name) => ({ name })),
      users: [
        {
          name: user,
          password: secretReference(secret, 'password', 'quoted'),
          permissions: vhosts.map((vhost) => ({ vhost, configure: '.*', write: '.*', read: '.*' })),
        },
      ],
    });
  },
  things: ({ context }) => `user ${context.accounts.broker.user} and its virtual hosts on the broker`,
};
