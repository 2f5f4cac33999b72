import { kubectl } from './kubectl.ts';
import { controlPlane, type Place } from './place.ts';

/** Network of the addresses that nodes have for their tunnels (tools/kubernetes/node/init gives them). */
export const tunnelNetwork = ({ instance }: Place): string => `10.88.${instance}.0/24`;

/**
 * Puts the second card of each node into a bridge of its Open vSwitch, as soon as there is one: a switch in user space sends
 * tunnels through its own bridges alone. The node gives the bridge its address.
 */
export async function makeTunnelBridges(place: Place, nodes: number): Promise<void> {
  const all = Array.from({ length: nodes }, (_, index) => `node${index + 1}`);
  await Promise.all(all.map((node) => makeTunnelBridge(place, node)));
}

async function makeTunnelBridge(place: Place, node: string): Promise<void> {
  const { namespace } = controlPlane;
  const switches = [
    '-n',
    namespace,
    '-l',
    'app.kubernetes.io/component=ovs-vswitchd',
    `--field-selector=spec.nodeName=${node}`,
  ];
  await kubectl(place, ['wait', 'pod', ...switches, '--for=create', '--timeout=900s']);
  await kubectl(place, ['wait', 'pod', ...switches, '--for=condition=Ready', '--timeout=900s']);
  const pod = (await kubectl(place, ['get', 'pod', ...switches, '-o', 'name'])).trim();
  const bridge = ['--may-exist', 'add-br', 'br-tunnel', '--', 'set', 'bridge', 'br-tunnel', 'datapath_type=netdev'];
  const port = ['--', '--may-exist', 'add-port', 'br-tunnel', 'eth1'];
  await kubectl(place, ['-n', namespace, 'exec', pod, '--', 'ovs-vsctl', '--timeout=30', ...bridge, ...port]);
}
