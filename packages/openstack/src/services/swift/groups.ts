import { label } from '../../api/names.ts';
import { nodeSelector, tolerations } from '../../api/scheduling.ts';
import {
  array,
  type Infer,
  int,
  object,
  required,
  rule,
  string,
  transition,
  transitionRules,
} from '../../api/schema.ts';
import { storage } from '../../api/storage.ts';

/** How many storage nodes and devices there are, and of what size, where nobody says it. */
export const counts = { storageNodes: 3, devicesPerNode: 1 };
export const volumeSize = '50Gi';

/** What the devices of `spec.storageNodes` have in the rings. */
export const first = { zone: 1, weight: 100 };

/** Where disks of nodes are mounted, as Swift's guides have it. */
const folder = '/srv/node';

const hostPath = object('Mount points on nodes, in place of volumes.', {
  path: string('Directory of the node above them.', {
    maxLength: 128,
    form: { pattern: '^(/[a-zA-Z0-9][-_.a-zA-Z0-9]*)+$', expected: 'a path such as /srv/node' },
    fallback: folder,
    immutable: folder,
  }),
  devices: required(
    array(
      'Their names there, such as sdb. None can be taken away.',
      string('A name.', {
        maxLength: 32,
        form: { pattern: '^[a-zA-Z0-9][-_a-zA-Z0-9]*$', expected: 'the name of a directory, such as sdb' },
      }),
      {
        minItems: 1,
        maxItems: 16,
        unique: true,
        rules: [
          rule(
            'oldSelf.all(one, one in self)',
            'no device can be taken away: replicas lie there; state it, or take the nodes away',
          ),
        ],
      },
    ),
  ),
});

const group = object(
  'A group.',
  {
    name: required(
      // With that of the longest Swift, StatefulSets of its name have 52 characters.
      string('Its name, at the end of that of its StatefulSet.', {
        minLength: 1,
        maxLength: 7,
        form: label,
      }),
    ),
    zone: required(
      transition(
        int(
          `Zone of its devices in the rings. Replicas of a partition are in as many zones as they can; the devices of spec.storageNodes are of zone ${first.zone}. Cannot be changed later.`,
          { minimum: 1, maximum: 255 },
        ),
        {
          absent: '0',
          allows: (next, previous) => `${next} == ${previous}`,
          message: 'cannot be changed: replicas lie there by it; set it back, or add another group',
        },
      ),
    ),
    storageNodes: int('Its storage nodes.', {
      minimum: 1,
      maximum: 100,
      fallback: counts.storageNodes,
    }),
    devicesPerNode: int('Devices of each of them.', {
      minimum: 1,
      maximum: 16,
      fallback: counts.devicesPerNode,
      immutable: counts.devicesPerNode,
    }),
    weight: int(`Weight of each of its devices, beside ${first.weight} of those of spec.storageNodes.`, {
      minimum: 1,
      maximum: 100_000,
      otherwise: `as their size is to that of spec.storage, of which ${first.weight} is the weight`,
    }),
    storage: storage('Volume of each device.', volumeSize),
    nodeSelector: nodeSelector('Node labels that its pods require. Default: those of components.storage.'),
    tolerations: tolerations('Taints that its pods tolerate. Default: those of components.storage.'),
    hostPath,
  },
  {
    rules: [
      rule(
        '!has(self.hostPath) || has(self.nodeSelector) && self.nodeSelector.size() > 0',
        'hostPath needs nodeSelector: labels of the nodes that have these devices',
        '.nodeSelector',
      ),
      rule(
        '!has(self.hostPath) || !(has(self.storageNodes) || has(self.devicesPerNode) || has(self.storage))',
        'with hostPath nodes and devices are what nodeSelector and hostPath say: leave out storageNodes, devicesPerNode and storage',
        '.hostPath',
      ),
      rule(
        'has(self.hostPath) == has(oldSelf.hostPath)',
        'a group keeps its volumes or its hostPath: add another group, and take this one away',
        '.hostPath',
      ),
    ],
  },
);

/** Further storage nodes. */
export const storageGroups = array(
  'Further storage nodes, in other zones or with other devices. A group that is removed runs until everything has moved away from it (RemovedNodesEmpty); its volumes stay.',
  {
    ...group,
    schema: {
      ...group.schema,
      'x-kubernetes-validations': [...(group.schema['x-kubernetes-validations'] ?? []), ...transitionRules(group)],
    },
  },
  { maxItems: 8, keys: ['name'] },
);

/** A group as it is stated. */
export type StorageGroup = Infer<typeof group>;

/** What can never change of a group while anything lies there. */
export const fixedOf = ({ zone, devicesPerNode = counts.devicesPerNode, storage, hostPath }: StorageGroup) => ({
  zone,
  devicesPerNode,
  'storage.storageClassName': storage?.storageClassName ?? '',
  'hostPath.path': hostPath === undefined ? '' : pathOf(hostPath),
});

/** The directory of nodes above the devices. */
export const pathOf = ({ path = folder }: HostPath): string => path;

/** Mount points of nodes, as a group states them. */
export type HostPath = NonNullable<StorageGroup['hostPath']>;
