import { expect, onTestFinished, test } from 'vitest';
import { admin } from '../fixture.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

const ports = { clear: 6642, tls: 16_642 };

test('all who use the databases of OVN connect by TLS, also to a certificate of another authority', async () => {
  const { name, kubectl, change, enable } = await serverTls('ovnNetwork');
  const inServer = (script: string) => kubectl('exec', `${name}-ovn-sb-db-0`, '--', 'bash', '-c', script);
  /** How many are connected to the southbound database, by how. */
  const connected = async () => {
    const lines = (await inServer('cat /proc/net/tcp /proc/net/tcp6'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    const at = (port: number) =>
      lines.filter(
        ([, local = '', , state]) => state === '01' && Number.parseInt(local.split(':')[1] ?? '', 16) === port,
      ).length;
    return { clear: at(ports.clear), tls: at(ports.tls) };
  };
  const come = (by: keyof typeof ports) =>
    until({
      what: `clients of the southbound database to connect ${by === 'tls' ? 'by TLS' : 'in the clear'} alone`,
      seconds: 300,
      probe: async () => {
        const { clear, tls } = await connected();
        return (by === 'tls' ? clear === 0 && tls >= before.clear : tls === 0 && clear >= before.clear) || undefined;
      },
      explain: async () => JSON.stringify(await connected()),
    });
  /** Neutron writes into the northbound database, and its agents answer by the southbound one. */
  const works = async () => {
    const network = await admin.call<{ readonly id: string }>('network.create_network', { name: 'by-tls' });
    await admin.call('network.delete_network', { network: network.id });
    await until({
      what: 'agents of Neutron to be up',
      seconds: 180,
      probe: async () => {
        const agents = await admin.call<{ readonly is_alive: boolean }[]>('network.agents');
        return (agents.length > 1 && agents.every(({ is_alive }) => is_alive)) || undefined;
      },
      explain: async () => JSON.stringify(await admin.call('network.agents')),
    });
  };
  /** What the database answers to one who comes by TLS. */
  const answers = (shown: string) =>
    kubectl(
      'exec',
      `deployment/${name}-ovn-northd`,
      '--',
      'bash',
      '-c',
      `cd /etc/openstack/tls; { echo '{"id":0,"method":"list_dbs","params":[]}'; sleep 3; } | timeout 8 openssl s_client -quiet ${shown} -CAfile ca.crt -verify_return_error -connect ${name}-ovn-sb-db-0:${ports.tls} 2>&1 || true`,
    );

  /** Neutron's agents on the nodes are replaced on request. */
  const rollAgents = (value: '=true' | '-') =>
    kubectl('annotate', '--overwrite', 'openstackcontrolplane', name, `openstack.k8s.io/roll-node-agents${value}`);

  const before = await connected();
  expect(before.clear).toBeGreaterThan(2);
  expect(before.tls).toBe(0);
  onTestFinished(async () => {
    await change(false);
    await rollAgents('-');
  });
  await rollAgents('=true');
  await enable(true);
  await come('tls');
  await works();
  const byCertificate = '-cert client.crt -key client.key';
  expect(await answers(byCertificate)).toContain('OVN_Southbound');
  expect(await answers('')).toMatch(/certificate required|handshake failure/);

  const serial = () => inServer('openssl x509 -noout -serial -in /etc/openstack/tls/tls.crt');
  const first = await serial();
  const pods = () => kubectl('get', 'pods', '-l', 'app.kubernetes.io/name=ovn', '-o', 'name');
  const there = await pods();
  await kubectl('delete', 'secret', `${name}-ovn-tls`);
  await until({
    what: 'the servers to have another certificate',
    seconds: 240,
    probe: async () => (await serial()) !== first || undefined,
    explain: serial,
  });
  await until({
    what: 'clients to have another certificate',
    seconds: 240,
    probe: async () => (await answers(byCertificate)).includes('OVN_Southbound') || undefined,
    explain: () => answers(byCertificate),
  });
  // All come anew, by what they have read meanwhile.
  await inServer('ovn-appctl -t /run/ovn/ovnsb_db.ctl ovsdb-server/reconnect');
  await come('tls');
  await works();
  expect(await pods()).toBe(there);

  await enable(false);
  await come('clear');
  await works();
}, 1_800_000);
