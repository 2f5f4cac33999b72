import { accountName } from './names.ts';
import { secretName as brought } from './references.ts';
import { object, rule, string } from './schema.ts';

const identifier = (what: string, name: string) =>
  string(what, { maxLength: 64, form: accountName, fallback: name, immutable: name });

const secretName = (what: string, generated: string) => brought(what + generated);

/** The databases of a service, by the names that they have unless told otherwise. */
export function database<const N extends string>(user: string, names: readonly N[]) {
  return object('Databases of the service. Set the names to adopt an existing cloud.', {
    user: identifier('Name of the database user.', user),
    names: object(
      'Names of the databases.',
      Object.fromEntries(names.map((name) => [name, identifier(`Name of the database ${name}.`, name)])) as {
        readonly [name in N]: ReturnType<typeof identifier>;
      },
    ),
    secretName: secretName('Secret with the password of the user (key password).', ' If absent, one is generated.'),
  });
}

/** The account at the message broker. */
export function messageQueue(user: string) {
  return object('Account at the message broker.', {
    user: identifier('Name of the broker user.', user),
    vhost: identifier('Virtual host that the service keeps its queues in.', user),
    secretName: secretName('Secret with the password of the user (key password).', ' If absent, one is generated.'),
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
const userSecret = (what: string) =>
  secretName(`Secret with the password of ${what} (key password).`, ' If absent, one is generated.');

/** The accounts in Keystone and the entry in its catalogue; `users`, `domains`: further ones, by the names that they have unless told otherwise. */
export function identity(
  name: string,
  { users = [], domains = [] }: { readonly users?: readonly string[]; readonly domains?: readonly string[] } = {},
) {
  return object('Account of the service in Keystone, and its entry in the catalogue.', {
    userName: userName('the service user', name),
    serviceName: identifier("Name of the service's entry in the catalogue.", name),
    secretName: userSecret('the service user'),
    ...(users.length === 0
      ? {}
      : {
          users: object(
            'Further users of the service.',
            Object.fromEntries(
              users.map((user) => [
                user,
                object(`The user ${user}.`, {
                  userName: userName('the user', user),
                  secretName: userSecret('the user'),
                }),
              ]),
            ),
          ),
        }),
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
