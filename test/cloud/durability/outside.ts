import { inNode } from '../node.ts';
import { inComponent } from '../pods.ts';
import { outside } from '../provider-network.ts';

/** A second card of the node in the bridge of the physical network; its other end has the gateway's address. */
const [bridged, ours] = ['durable-bridge', 'durable'];

/**
 * Makes the node itself the world outside: what pings from there reaches floating addresses through the whole data
 * path, no other cloud of this machine is in the way, and the node's end takes it along.
 */
export async function connectOutside(): Promise<void> {
  await disconnectOutside();
  await inNode('ip', 'link', 'add', ours, 'type', 'veth', 'peer', 'name', bridged);
  for (const end of [ours, bridged]) {
    // Through a wire of two ends, packets with checksums that a card would have completed stay incomplete.
    await inNode('ethtool', '-K', end, 'tx', 'off');
    await inNode('ip', 'link', 'set', end, 'up');
  }
  await inNode('ip', 'address', 'add', `${outside.gateway}/24`, 'dev', ours);
  await inComponent('ovs-vswitchd', 'ovs-vsctl', '--timeout=20', '--may-exist', 'add-port', 'br-ex', bridged);
}

/** Takes the card away again. */
export async function disconnectOutside(): Promise<void> {
  await inComponent('ovs-vswitchd', 'ovs-vsctl', '--timeout=20', '--if-exists', 'del-port', 'br-ex', bridged);
  const links = await inNode('ip', '-oneline', 'link');
  if (links.includes(` ${ours}@`)) await inNode('ip', 'link', 'delete', ours);
}
