import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientCertificate } from '../../engine/vocabulary/certificate.ts';
import { applySettings } from './ovs-settings.ts';

/** A node with one uplink, eth0 of br-ex, that is to be lo: each of them is an interface of whoever runs the test. */
const ovsVsctl = `case " $* " in
  *ovn-bridge-datapath-type*) echo netdev ;;
  *' list-br '*) echo br-ex; echo br-int ;;
  *' find port '*) cat "$STATE/uplink" ;;
  *' get port eth0 name '*) echo eth0 ;;
  *' port-to-br eth0 '*) echo br-ex ;;
  *' get interface lo error '*) echo '[]' ;;
  *' system-id '*) echo node-1 ;;
  *' del-port br-ex eth0 '*) : > "$STATE/uplink" ;;
  *' add-port br-ex lo '*)
    if [ -s "$STATE/uplink" ]; then touch "$STATE/two-uplinks"; fi
    ;;
esac
`;
const ip = `case " $* " in
  *' to 192.0.2.7 '*) echo '2: eth0    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0' ;;
  *' to 198.51.100.0/24 '*) echo '3: eth2    inet 198.51.100.7/24 scope global eth2'; echo 'second' ;;
  *' route show default '*) echo 'default via 192.0.2.1 dev eth0' ;;
esac
`;

const certificates = ['ca.crt', 'client.crt', 'client.key'];

/** Runs the script with the real bash, where the command of that number times out; the commands, and how it ended. */
function run(failing: number) {
  const state = mkdtempSync(join(tmpdir(), 'ovs-settings-'));
  try {
    for (const [name, body] of Object.entries({ 'ovs-vsctl': ovsVsctl, ip })) {
      const program = `#!/bin/bash
echo "${name} $*" >> "$STATE/commands"
if [ "$(wc -l < "$STATE/commands")" = ${failing} ]; then exit 142; fi
${body}`;
      writeFileSync(join(state, name), program);
      chmodSync(join(state, name), 0o755);
    }
    writeFileSync(join(state, 'uplink'), 'eth0\n');
    const script = applySettings(clientCertificate())
      .replaceAll('/tmp/', `${state}/`)
      .replaceAll('/etc/openstack/tls', `${state}/tls`)
      .replaceAll('/run/openvswitch', state)
      .replace('while sleep 60', 'while false')
      .replace('exec sleep infinity', 'exit 0');
    mkdirSync(join(state, 'tls'));
    for (const file of certificates) writeFileSync(join(state, 'tls', file), file);
    writeFileSync(join(state, 'script'), script);
    const { status, stderr } = spawnSync('bash', ['-eu', join(state, 'script')], {
      encoding: 'utf8',
      env: {
        PATH: `${state}:${process.env['PATH'] ?? ''}`,
        STATE: state,
        NODE_NAME: 'node-1',
        NODE_IP: '192.0.2.7',
        TUNNEL_NETWORK: '198.51.100.0/24',
        SOUTHBOUND: 'tcp:sb:6642',
        CMS_OPTIONS: '',
        BRIDGES: 'physnet1 br-ex lo',
      },
    });
    const commands = readFileSync(join(state, 'commands'), 'utf8').trim().split('\n');
    const has = (name: string) => existsSync(join(state, name));
    const given = certificates.filter((file) => has(`ovn-tls/${file}`));
    return { status, stderr, commands, given, applied: has('applied'), twoUplinks: has('two-uplinks') };
  } finally {
    rmSync(state, { recursive: true });
  }
}

test('whichever question to Open vSwitch or the kernel has no answer, a node gets no two uplinks, and is not told half', () => {
  const whole = run(0);
  expect(whole).toMatchObject({ status: 0, given: certificates, applied: true, twoUplinks: false });
  expect(whole.commands.join('\n')).toContain('external_ids:ovn-encap-ip=198.51.100.7');
  const tolerant: string[] = [];
  whole.commands.forEach((command, index) => {
    const { status, applied, twoUplinks } = run(index + 1);
    expect(twoUplinks, command).toBe(false);
    expect(applied, command).toBe(status === 0);
    if (status === 0) tolerant.push(command.replace(/ --timeout.*ovn-bridge/u, ' ovn-bridge'));
  });
  expect(tolerant).toEqual([
    'ovs-vsctl ovn-bridge-datapath-type',
    'ip -oneline -6 address show scope global permanent',
    'ip -6 route show default',
  ]);
});
