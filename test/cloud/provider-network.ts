import { readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { program } from './kubernetes.ts';
import { inComponent } from './pods.ts';

/** The network outside of the cloud: this machine is its gateway, and takes what guests send out. */
export const outside = { cidr: '172.24.4.0/24', gateway: '172.24.4.1', first: '172.24.4.100', last: '172.24.4.200' };

/** The two ends of the wire: this machine's, and the one that the node has in its bridge. */
const here = 'os-outside';
const there = 'outside';

/**
 * Gives the node a second network card, in the bridge of the physical network, whose other end is this machine: what a
 * real gateway node has in a switch. Nothing is done where the machine has the gateway's address already.
 */
export async function connectProviderNetwork(): Promise<void> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (addresses.some(({ address }) => address === outside.gateway)) return;
  await disconnectProviderNetwork();
  const node = await switchOfNode();
  const inNode = (...command: readonly string[]) => program('nsenter', '--net', '--target', node, ...command);
  await program('ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', node);
  // Through a wire of two ends, packets with checksums that a card would have completed stay incomplete.
  await program('ethtool', '-K', here, 'tx', 'off');
  await program('ip', 'link', 'set', here, 'up');
  await inNode('ethtool', '-K', there, 'tx', 'off');
  await inNode('ip', 'link', 'set', there, 'up');
  await inComponent('ovs-vswitchd', 'ovs-vsctl', '--timeout=20', '--may-exist', 'add-port', 'br-ex', there);
  // Last: it says that the wire is whole.
  await program('ip', 'address', 'add', `${outside.gateway}/24`, 'dev', here);
}

/** Takes the card away again. */
export async function disconnectProviderNetwork(): Promise<void> {
  if (networkInterfaces()[here] === undefined) return;
  await inComponent('ovs-vswitchd', 'ovs-vsctl', '--timeout=20', '--if-exists', 'del-port', 'br-ex', there);
  await program('ip', 'link', 'delete', here);
}

/** A process of the node, which shares the node's network. Other clusters of this machine have their own. */
async function switchOfNode(): Promise<string> {
  const path = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const address = await program('kubectl', 'get', 'nodes', '-o', path);
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (nameOf(pid) !== 'ovs-vswitchd') continue;
    const has = await program('nsenter', '--net', '--target', pid, 'ip', '-oneline', 'address');
    if (has.includes(` ${address}/`)) return pid;
  }
  throw new Error(`no ovs-vswitchd runs here on a node with the address ${address}: is the node on another machine?`);
}

function nameOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined; // it ended meanwhile
  }
}
