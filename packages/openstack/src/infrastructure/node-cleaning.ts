import type { KubeObject } from '@openstack-operator/kube';
import { claimantOf, cleaningLabel, labelsOf } from '../engine/names/names.ts';
import { imageOf } from '../engine/objects/images.ts';
import { podSpec } from '../engine/objects/pod.ts';
import type { Mount } from '../engine/vocabulary/component.ts';
import type { ServiceSpec } from '../engine/vocabulary/surroundings.ts';
import type { Release } from '../releases/release.ts';
import { endFormer } from './outliving.ts';

/** What follows the claimant's name in the name of the DaemonSet, and the component of its pods. */
export const nodeCleaning = 'node-cleaning';

/**
 * What the agents of a cloud keep on a node: definitions, disks and consoles of guests, nova-compute's identity, the
 * bridges, and the name as a chassis. The identity of libvirt's host goes as well: the next libvirtd gives it a new one.
 */
const state: readonly string[] = [
  '/etc/libvirt/qemu',
  '/etc/libvirt/secrets',
  '/run/libvirt',
  '/run/openvswitch',
  '/var/lib/libvirt',
  '/var/lib/neutron',
  '/var/lib/nova',
  '/var/lib/openvswitch',
  '/var/log/libvirt',
];

/**
 * Looks at the node itself before it removes anything: what runs there decides, not what Kubernetes knows of it. The
 * bridges in the kernel are the next Open vSwitch's, which removes what its database does not name. A file system that
 * is mounted below is not gone into, as it may be somebody's volume: the node is then not clean until it is unmounted.
 * But `instances` may well be a disk of its own. `images` is where administrators put theirs; no agent writes there.
 */
const script = `# Removes what another cloud has left on this node.
if [ -f /tmp/clean ]; then exec sleep infinity; fi
programs=$(cat /proc/[0-9]*/comm 2> /dev/null) || true
guests=$(echo "$programs" | grep -c '^qemu-') || true
if [ "$guests" != 0 ]; then
  echo "guests of another cloud run on it ($guests processes qemu-*), and nothing is removed before they have ended" >&2
  exit 1
fi
if echo "$programs" | grep -qx nova-compute; then
  echo 'nova-compute of another cloud runs on it' >&2
  exit 1
fi
if ovsdb-client --timeout=3 list-dbs unix:/run/openvswitch/db.sock > /dev/null 2>&1; then
  echo "another Open vSwitch answers on /run/openvswitch/db.sock of it (another cloud's, or the cluster's own network's)" >&2
  exit 1
fi
${endFormer('libvirtd')}${endFormer('virtlogd')}for namespace in /run/netns/ovnmeta-*; do
  if [ -e "$namespace" ]; then ip netns delete "\${namespace##*/}"; fi
done
for directory in ${state.join(' ')} /var/lib/nova/instances; do
  for entry in "$directory"/* "$directory"/.[!.]*; do
    case "$entry" in
      /var/lib/nova/instances | /var/lib/libvirt/images) ;;
      *) rm -rf --one-file-system --preserve-root=all "$entry" ;;
    esac
  done
done
touch /tmp/clean
echo 'the node is clean'
exec sleep infinity
`;

/**
 * The DaemonSet that cleans nodes for a resource that claims some. A DaemonSet, not Jobs: it is what namespaces with node
 * agents let in, its pods follow the label of the node, and one that finds guests is started again until they have ended.
 */
export function nodeCleaner(
  resource: KubeObject,
  { service, spec, release }: { readonly service: string; readonly spec: ServiceSpec; readonly release: Release },
): KubeObject {
  const { name = '', namespace = 'default' } = resource.metadata;
  const labels = labelsOf(service, name, nodeCleaning);
  const mounts: readonly Mount[] = [
    ...state.map((path): Mount => ({ path, host: 'DirectoryOrCreate' })),
    { path: '/run/netns', host: 'DirectoryOrCreate', shared: true },
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: `${name}-${nodeCleaning}`, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: podSpec({
          name: nodeCleaning,
          image: imageOf('openvswitch-vswitchd', { component: 'ovs-vswitchd', main: false, spec, release }),
          user: 'root',
          runs: { command: ['bash', '-eu', '-c', script] },
          configs: [],
          mounts,
          health: { exec: ['test', '-f', '/tmp/clean'] },
          nodeAgent: { nodes: { [cleaningLabel]: claimantOf(resource) } },
          host: { network: true, pid: true, privileged: true },
          resources: { cpu: '10m', memory: '64Mi' },
          spec: { ...spec, resources: undefined },
        }),
      },
    },
  };
}
