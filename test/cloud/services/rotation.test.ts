import { expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { underRequests } from '../under-requests.ts';
import { until } from '../until.ts';

/** Those with a user in Keystone. */
const identities = ['glance', 'neutron', 'nova', 'placement'];
const services = ['keystone', 'glance', 'placement', 'neutron', 'nova'];

test('passwords of database, broker and Keystone are rotated under requests: none fails, and those before are refused', async () => {
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);
  const passwordOf = async (service: string) =>
    Buffer.from(
      await kubectl('get', 'secret', `${name}-${service}-db-password`, '-o', 'jsonpath={.data.password}'),
      'base64',
    ).toString();
  const login = ['exec', '-i', `${name}-mariadb-0`, '-c', 'server', '--', 'mariadb', '-h127.0.0.1', '-BNe', 'SELECT 1'];
  const accepts = async (service: string, password: string) => {
    try {
      return (await kubectl(...login, `-u${service}`, `-p${password}`)) === '1';
    } catch (error) {
      expect(String(error)).toContain('ERROR 1045');
      return false;
    }
  };
  const before = await Promise.all(services.map(passwordOf));
  const broker = [`${name}-rabbitmq-0`, '-c', 'server'];
  const brokerUsers = async () => {
    const listed = await kubectl('exec', ...broker, '--', 'rabbitmqctl', '-q', 'list_users', '--no-table-headers');
    return listed.split('\n').flatMap((line) => /^((?:nova|neutron)\S*)\s/.exec(line)?.[1] ?? []);
  };
  /** Users of services in Keystone that may log in. */
  const identityUsers = async () =>
    (await admin.call<{ name: string; is_enabled: boolean }[]>('identity.users'))
      .filter(({ name, is_enabled }) => is_enabled && identities.includes(name.replace(/\.b$/, '')))
      .map(({ name }) => name)
      .toSorted();
  const identitiesBefore = await identityUsers();
  expect(identitiesBefore).toHaveLength(identities.length);
  const usersBefore = await brokerUsers();
  expect(usersBefore).toHaveLength(2);
  const since = (await kubectl('exec', ...broker, '--', 'date', '-u', '+%Y-%m-%dT%H:%M:%SZ')).trim();

  const value = `${process.hrtime.bigint()}`;
  await underRequests(async () => {
    await kubectl('annotate', 'openstackcontrolplane', name, '--overwrite', `openstack.k8s.io/rotate-at=${value}`);
    const rotated = () =>
      Promise.all(
        services.map((service) => kubectl('get', service, `${name}-${service}`, '-o', 'jsonpath={.status.rotated}')),
      );
    await until({
      what: 'all passwords to be rotated',
      seconds: 900,
      // Beside its password in the database a service may have a user on the broker, and a user in Keystone with a key of its cache.
      probe: async () =>
        (await rotated()).flatMap((text) => text.split(value).slice(1)).length ===
          services.length + usersBefore.length + 2 * identities.length || undefined,
      explain: async () => (await rotated()).join('\n'),
    });
    await until({
      what: 'the passwords before to be refused',
      seconds: 300,
      probe: async () =>
        (await Promise.all(services.map((service, index) => accepts(service, before[index] ?? '')))).every(
          (is) => !is,
        ) || undefined,
      explain: () => kubectl('get', 'jobs'),
    });
    await until({
      what: 'the users before to be gone from the broker',
      seconds: 300,
      probe: async () => {
        const users = await brokerUsers();
        return (users.length === 2 && users.every((user) => !usersBefore.includes(user))) || undefined;
      },
      explain: async () => (await brokerUsers()).join(),
    });
    await until({
      what: 'the users before to be disabled in Keystone',
      seconds: 300,
      probe: async () => {
        const users = await identityUsers();
        return (
          (users.length === identities.length && users.every((user) => !identitiesBefore.includes(user))) || undefined
        );
      },
      explain: async () => (await identityUsers()).join(),
    });
  });
  const said = await kubectl('logs', ...broker, `--since-time=${since}`);
  expect(said.split('\n').filter((line) => /refused|was deleted/.test(line))).toEqual([]);
  const after = await Promise.all(services.map(passwordOf));
  expect(await Promise.all(services.map((service, index) => accepts(service, after[index] ?? '')))).toEqual(
    services.map(() => true),
  );
}, 1_500_000);
