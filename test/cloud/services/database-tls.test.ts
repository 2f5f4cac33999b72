import { expect, onTestFinished, test } from 'vitest';
import { admin } from '../fixture.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

test('services connect to the database by TLS, also to a certificate of another authority', async () => {
  const { name, kubectl, change, enable } = await serverTls('mariadb');
  const server = `${name}-mariadb-0`;
  const inServer = (...command: readonly string[]) => kubectl('exec', server, '-c', 'server', '--', ...command);
  const sql = (statements: string) =>
    inServer('mariadb', '--defaults-extra-file=/run/mysqld/probe.cnf', '-BNe', statements);
  const users = (await sql("SELECT user FROM mysql.user WHERE host = '%' AND user <> 'root'")).split('\n');
  expect(users.length).toBeGreaterThan(4);

  /** Ends what is connected: what connects anew is answered. */
  const reconnected = async () => {
    await sql(users.map((user) => `KILL USER '${user}'`).join('; '));
    for (const ask of ['identity.users', 'image.images', 'compute.servers', 'network.networks'])
      expect(await admin.connectedAnew().call(ask)).toEqual(expect.anything());
  };
  const inShell =
    'openssl s_client -starttls mysql -connect 127.0.0.1:3306 </dev/null 2>/dev/null | openssl x509 -noout -serial';
  const shown = () => inServer('bash', '-c', inShell);
  const apis = () => kubectl('get', 'pods', '-l', 'app.kubernetes.io/component=api', '-o', 'name');
  const require = (what: 'SSL' | 'NONE') =>
    sql(users.map((user) => `ALTER USER '${user}'@'%' REQUIRE ${what}`).join('; '));

  onTestFinished(async () => {
    await require('NONE');
    await change(false);
  });
  await enable(true);
  // Whoever connects otherwise is refused from now on (1045).
  await require('SSL');
  await reconnected();

  const [before, pods] = await Promise.all([shown(), apis()]);
  await kubectl('delete', 'secret', `${name}-mariadb-tls`);
  await until({
    what: 'the server to show another certificate',
    seconds: 240,
    probe: async () => (await shown()) !== before || undefined,
    explain: shown,
  });
  // The kubelet renews the files of each pod in its own time.
  await until({
    what: 'the pods of the APIs to trust its authority',
    seconds: 240,
    probe: async () => {
      const encoded = await kubectl('get', 'secret', `${name}-mariadb-tls`, '-o', 'jsonpath={.data.ca\\.crt}');
      const served = Buffer.from(encoded, 'base64').toString().trim();
      const trusted = pods
        .split('\n')
        .map((pod) => kubectl('exec', pod, '--', 'cat', '/etc/openstack/trust/database/ca.crt'));
      return (await Promise.all(trusted)).every((one) => one.trim() === served) || undefined;
    },
    explain: apis,
  });
  await reconnected();
  expect(await apis()).toBe(pods);

  await require('NONE');
  await enable(false);
  await reconnected();
});
