import { readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { program } from './kubernetes.ts';
import { type Container, containers, execute } from './pods.ts';

/** The network outside of the cloud: this machine is its gateway, and takes what guests send out. */
export const outside = { cidr: '172.24.4.0/24', gateway: '172.24.4.1', first: '172.24.4.100', last: '172.24.4.200' };

/** This machine's switch, and the end of a wire to it that each node has in its bridge. */
const here = 'os-outside';
const there = 'outside';

/**
 * Gives each node a further network card, in the bridge of the physical network, whose other end is in a switch of this
 * machine: what a real gateway node has. Nothing is done where the machine has the gateway's address already.
 */
export async function connectProviderNetwork(): Promise<void> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (addresses.some(({ address }) => address === outside.gateway)) return;
  await disconnectProviderNetwork();
  await program('ip', 'link', 'add', here, 'type', 'bridge');
  await program('ethtool', '-K', here, 'tx', 'off');
  await program('ip', 'link', 'set', here, 'up');
  for (const [index, { pod, pid }] of (await switches()).entries()) {
    const inNode = (...command: readonly string[]) => program('nsenter', '--net', '--target', pid, ...command);
    const wire = `${here}-${index + 1}`;
    await program('ip', 'link', 'add', wire, 'type', 'veth', 'peer', 'name', there, 'netns', pid);
    // Through a wire of two ends, packets with checksums that a card would have completed stay incomplete.
    await program('ethtool', '-K', wire, 'tx', 'off');
    await program('ip', 'link', 'set', wire, 'master', here, 'up');
    await inNode('ethtool', '-K', there, 'tx', 'off');
    await inNode('ip', 'link', 'set', there, 'up');
    await inSwitch(pod, '--may-exist', 'add-port', 'br-ex', there);
  }
  // Last: it says that the wires are whole.
  await program('ip', 'address', 'add', `${outside.gateway}/24`, 'dev', here);
}

/** Takes the cards away again. */
export async function disconnectProviderNetwork(): Promise<void> {
  const links = readdirSync('/sys/class/net').filter((name) => name === here || name.startsWith(`${here}-`));
  if (links.length === 0) return;
  for (const { pod } of await switches()) await inSwitch(pod, '--if-exists', 'del-port', 'br-ex', there);
  for (const link of links) await program('ip', 'link', 'delete', link);
}

interface Switch {
  readonly pod: Container;
  /** Of a process that shares the network of its node. */
  readonly pid: string;
}

/** The Open vSwitch of each node. Other clusters of this machine have their own. */
async function switches(): Promise<Switch[]> {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && nameOf(entry) === 'ovs-vswitchd');
  const addresses = await Promise.all(
    pids.map((pid) => program('nsenter', '--net', '--target', pid, 'ip', '-oneline', 'address')),
  );
  const pods = (await containers()).filter(({ component }) => component === 'ovs-vswitchd');
  return pods.map((pod) => {
    const pid = pids.find((_, index) => addresses[index]?.includes(` ${pod.address}/`));
    if (pid === undefined)
      throw new Error(
        `no ovs-vswitchd runs here on a node with the address ${pod.address}: is the node on another machine?`,
      );
    return { pod, pid };
  });
}

async function inSwitch(pod: Container, ...command: readonly string[]): Promise<void> {
  const { code, stderr } = await execute(pod, ['ovs-vsctl', '--timeout=20', ...command]);
  if (code !== 0) throw new Error(`ovs-vsctl ${command.join(' ')} in ${pod.pod} ended with ${code}: ${stderr.trim()}`);
}

function nameOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined; // it ended meanwhile
  }
}
