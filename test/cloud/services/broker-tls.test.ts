import { expect, onTestFinished, test } from 'vitest';
import { admin } from '../fixture.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

test('services and agents connect to the broker by TLS, also to a certificate of another authority', async () => {
  const { name, kubectl, change, enable: makeReady } = await serverTls('rabbitmq');
  const inServer = (...command: readonly string[]) =>
    kubectl('exec', `${name}-rabbitmq-0`, '-c', 'server', '--', ...command);
  /** Who is connected, by whether by TLS: `nova true`. */
  const connections = async () =>
    [...new Set((await inServer('rabbitmqctl', '-q', 'list_connections', 'user', 'ssl')).split('\n'))]
      .map((line) => line.replaceAll('\t', ' ').trim())
      .filter((line) => /^\w+ (true|false)$/.test(line))
      .sort();
  const connected = (users: readonly string[]) =>
    until({
      what: `connections to be ${users.join(', ')}`,
      seconds: 600,
      // The command gives up on a busy broker.
      probe: async () => (await connections().catch(() => [])).join() === users.join() || undefined,
      explain: async () => (await connections()).join('\n'),
    });
  const enable = async (enabled: boolean) => {
    await makeReady(enabled);
    await connected(users.map((user) => `${user} ${enabled}`));
  };
  /** Asks what is answered by way of the broker alone. */
  const answers = () =>
    until({
      what: 'services of Nova and agents of Neutron to be up',
      seconds: 180,
      probe: async () => {
        const services = await admin.call<{ readonly state: string }[]>('compute.services');
        const agents = await admin.call<{ readonly is_alive: boolean }[]>('network.agents');
        return (services.every(({ state }) => state === 'up') && agents.every(({ is_alive }) => is_alive)) || undefined;
      },
      explain: async () => JSON.stringify(await admin.call('compute.services')),
    });

  const users = (await connections()).map((line) => line.split(' ')[0] ?? '');
  expect(users).toEqual(['neutron', 'nova']);
  onTestFinished(async () => {
    await change(false);
  });
  await enable(true);
  await answers();

  const inShell = 'openssl s_client -connect 127.0.0.1:5671 </dev/null 2>/dev/null | openssl x509 -noout -serial';
  const shown = () => inServer('bash', '-c', inShell);
  const before = await shown();
  const apis = () =>
    kubectl('get', 'pods', '-l', 'app.kubernetes.io/component in (api,conductor,compute)', '-o', 'name');
  const pods = await apis();
  await kubectl('delete', 'secret', `${name}-rabbitmq-tls`);
  await until({
    what: 'the broker to show another certificate',
    seconds: 360,
    probe: async () => (await shown()) !== before || undefined,
    explain: shown,
  });
  await inServer('rabbitmqctl', '-q', 'close_all_connections', 'test');
  await connected(users.map((user) => `${user} true`));
  await answers();
  expect(await apis()).toBe(pods);

  await enable(false);
  await answers();
}, 2_400_000);
