import { accountName } from './names.ts';
import { secretName as brought } from './references.ts';
import { type Field, object, rule, string } from './schema.ts';

const identifier = (what: string, name: string) =>
  string(what, { maxLength: 64, form: accountName, fallback: name, immutable: name });

const secretName = (what: string, generated: string) => brought(what + generated);

const userSecret = (what: string) =>
  secretName(`Secret with the password of ${what} (key password).`, ' If absent, one is generated.');

function furtherUsers(
  users: readonly string[],
  fields: (name: string) => Readonly<Record<string, Field<string | undefined, false>>>,
) {
  if (users.length === 0) return {};
  const own = users.map((name) => {
    const account = object(`The user ${name}.`, { ...fields(name), secretName: userSecret('the user') });
    return [name, account] as const;
  });
  return { users: object('Further users of the service.', Object.fromEntries(own)) };
}

/** The databases of a service and their users: its own, and further ones, by the names that they have unless told otherwise. */
export function database<const N extends string>(user: string, names: readonly N[], users: readonly string[] = []) {
  return object('Databases of the service. Set the names to adopt an existing cloud.', {
    user: identifier('Name of the database user.', user),
    names: object(
      'Names of the databases.',
      Object.fromEntries(names.map((name) => [name, identifier(`Name of the database ${name}.`, name)])) as {
        readonly [name in N]: ReturnType<typeof identifier>;
      },
    ),
    secretName: userSecret('the user'),
    ...furtherUsers(users, (name) => ({ user: identifier('Name of the user.', name) })),
  });
}

const brokerUser = (name: string) => identifier('Name of the broker user.', name);

const sharedVhost = 'notifications';
const notificationVhost = identifier(
  'Virtual host for notifications, the same for all services of a cloud. Used while a service reads them.',
  sharedVhost,
);

/** The account at the message broker. */
export function messageQueue(user: string) {
  return object('Account at the message broker.', {
    user: brokerUser(user),
    vhost: identifier('Virtual host that the service keeps its queues in.', user),
    notificationVhost,
    secretName: userSecret('the user'),
  });
}

/** The same of a service that only sends notifications: it has no queues of its own, and the names may change. */
export function notificationQueue(user: string) {
  return object('Account at the message broker, which sends notifications. Used while a service reads them.', {
    user: string('Name of the broker user. One of another name stays at the broker.', {
      maxLength: 64,
      form: accountName,
      fallback: user,
    }),
    notificationVhost: string('Virtual host for notifications: that of the services that read them.', {
      maxLength: 64,
      form: accountName,
      fallback: sharedVhost,
    }),
    secretName: userSecret('the user'),
  });
}

/** The account at the message broker of a service that would only send notifications, which is not offered yet. */
export const noMessageQueue = object(
  'Account at the message broker, for notifications. Not offered by this version of the operator: leave it out.',
  { secretName: secretName('Secret with the password of the user (key password).', '') },
  {
    rules: [
      rule('false', 'messageQueue is not offered by this version of the operator for this service; leave it out'),
    ],
  },
);

const userName = (what: string, name: string) => identifier(`Name of ${what}.`, name);

/** The accounts in Keystone and the entry in its catalogue; `users`, `domains`: further ones, by the names that they have unless told otherwise. */
export function identity(
  name: string,
  { users = [], domains = [] }: { readonly users?: readonly string[]; readonly domains?: readonly string[] } = {},
) {
  return object('Account of the service in Keystone, and its entry in the catalogue.', {
    userName: userName('the service user', name),
    serviceName: identifier("Name of the service's entry in the catalogue.", name),
    secretName: userSecret('the service user'),
    ...furtherUsers(users, (name) => ({ userName: userName('the user', name) })),
    ...(domains.length === 0
      ? {}
      : {
          domains: object(
            'Names of the domains of the service.',
            Object.fromEntries(domains.map((domain) => [domain, identifier(`Name of the domain ${domain}.`, domain)])),
          ),
        }),
  });
}
