import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { certificateDuration } from '../../api/issuer.ts';
import { accountName, nameLength } from '../../api/names.ts';
import {
  bridgeMappings,
  gateway,
  groupMaxUnavailable,
  groupTolerations,
  partName,
  tunnelNetwork,
} from '../../api/node-groups.ts';
import { serviceRef } from '../../api/references.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { nodeSelector } from '../../api/scheduling.ts';
import {
  array,
  bool,
  choice,
  type Form,
  type Infer,
  int,
  object,
  required,
  rule,
  string,
  transition,
} from '../../api/schema.ts';
import {
  authorities,
  claimedHosts,
  cloud,
  common,
  endpoints,
  lasting,
  phase,
  refusedMembers,
} from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { poolName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const virtTypes = ['kvm', 'qemu'] as const;

const cells = transition(
  array(
    'Cells, each with a database, a virtual host and conductors of its own. If absent, one cell, named cellName. An entry cannot be removed: hosts and servers are recorded under its name.',
    object('One cell.', {
      name: required(partName('Name of the cell.')),
      databaseName: string('Database of the cell.', {
        maxLength: 64,
        form: accountName,
        otherwise: 'spec.database.names.nova',
      }),
      vhost: string("Virtual host of the cell's queues.", {
        maxLength: 64,
        form: accountName,
        otherwise: 'spec.messageQueue.vhost, a hyphen, and the name of the cell',
      }),
    }),
    {
      minItems: 1,
      maxItems: 16,
      keys: ['name'],
      rules: [
        rule('self.size() <= 1', 'more than one cell is not offered by this version of the operator'),
        rule(
          'oldSelf.all(old, self.exists(cell, cell.name == old.name))',
          'a cell cannot be removed or renamed: hosts and servers are recorded under its name',
        ),
      ],
    },
  ),
  {
    absent: '[]',
    allows: (next, previous) => `(${next}.size() == 0) == (${previous}.size() == 0)`,
    message: 'cannot be introduced or left out later: hosts and servers are recorded under the names of cells',
  },
);

const guests = object(
  'What guests of a node may use together. Kubernetes gives it to no pod, and Nova gives guests no more. A change reaches a node when its agents are replaced. It overrides reserved_host_* of config. If absent, nothing is reserved.',
  {
    memory: string('Memory, such as 48Gi.', {
      maxLength: 16,
      form: { pattern: '^[1-9][0-9]*[MGT]i$', expected: 'a whole number with Mi, Gi or Ti, such as 48Gi' },
    }),
    cpus: int('Processors; cpu_allocation_ratio multiplies them. Not beside cpu_shared_set or cpu_dedicated_set.', {
      minimum: 1,
      maximum: 4096,
    }),
    disk: string('Disk, such as 400Gi. Only where /var/lib/nova is on the file system of the kubelet.', {
      maxLength: 16,
      form: { pattern: '^[1-9][0-9]*[GT]i$', expected: 'a whole number with Gi or Ti, such as 400Gi' },
    }),
  },
  {
    rules: [
      rule('has(self.memory) || has(self.cpus) || has(self.disk)', 'set memory, cpus or disk, or leave guests out'),
    ],
  },
);

/** What Nova takes for one, of ASCII (nova.api.validation.parameter_types). */
const zoneName: Form = {
  pattern: '^[!-9;-~]([ -9;-~]*[!-9;-~])?$',
  expected: "printable ASCII without ':', and no space at either end",
};

/** What nova-compute may state of its providers by a file (nova.compute.provider_config). */
const customTrait: Form = { pattern: '^CUSTOM_[A-Z0-9_]+$', expected: 'CUSTOM_, and A-Z, 0-9 and _' };

const nodeGroups = array(
  'Groups of nodes that run guests. If absent, one group named default, of computeReplicas nodes. Their agents are replaced node by node, on request.',
  object('One group of nodes.', {
    name: required(partName('Name of the group.')),
    nodeSelector: nodeSelector('Labels of its nodes. If absent, every node that is Ready and schedulable.'),
    tolerations: groupTolerations,
    maxUnavailable: groupMaxUnavailable,
    replicas: int(
      'How many of these nodes are claimed. If absent, all. A smaller number than before releases no node.',
      {
        minimum: 0,
        maximum: 5000,
      },
    ),
    virtType: choice('What runs the guests of the group.', virtTypes, { otherwise: 'spec.virtType' }),
    guests,
    cell: partName('Cell of its hosts. If absent, the only cell.'),
    availabilityZone: string('Availability zone of its hosts. A host with servers stays in the zone that it has.', {
      maxLength: 200,
      form: zoneName,
      otherwise: 'none',
      rules: [rule("!(self.lowerAscii() in ['internal', 'nova'])", 'internal and nova are zones of Nova itself')],
    }),
    traits: array(
      'Traits of its hosts in Placement. One that is taken out stays there, until somebody deletes it.',
      string('A trait.', { maxLength: 255, form: customTrait }),
      { maxItems: 64, unique: true },
    ),
    bridgeMappings: bridgeMappings('Physical networks that its nodes reach. If absent, those of Neutron.'),
    tunnelNetwork,
    gateway,
    config: config('nova.conf'),
  }),
  { minItems: 1, maxItems: 32, keys: ['name'] },
);

/** What is done with rows that Nova has marked as deleted. */
const housekeeping = object('Removal of rows of deleted servers. They are moved to shadow tables, and later removed.', {
  schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
  suspend,
  archiveAfterDays: days('Days after which rows of deleted servers are moved to the shadow tables.', 30),
  purgeAfterDays: days('Days after which rows are removed from the shadow tables, counted from the deletion.', 90),
});

/** The compute service. */
export const Nova = defineApi({
  kind: 'Nova',
  plural: 'novas',
  shortName: 'osnv',
  description: 'The compute service, which runs servers on nodes.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Nova.',
    {
      ...template({
        main: 'the API',
        components: [
          'api',
          'metadata',
          'scheduler',
          'conductor',
          'cell-conductor',
          'novncproxy',
          'compute',
          'libvirt',
          'virtlogd',
          'ssh',
        ],
        nodeAgents: ['compute', 'libvirt', 'virtlogd', 'ssh'],
        wsgi: ['api', 'metadata'],
        workers: ['scheduler', 'conductor', 'cell-conductor'],
      }),
      ...api('nova'),
      consolePublicHostname: hostname('Host name of the graphical consoles (noVNC) from outside.', {
        otherwise: 'console.<publicDomain> below a control plane; else consoles are reached inside the cluster only',
      }),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      keystoneRef,
      placementRef: serviceRef('Placement', 'that records the resources of the nodes'),
      neutronRef: serviceRef('Neutron', 'that creates the ports of servers'),
      database: database('nova', ['nova_api', 'nova_cell0', 'nova']),
      messageQueue: messageQueue('nova'),
      identity: identity('nova'),
      virtType: choice(
        'What runs the guests. kvm needs hardware support on the nodes, qemu emulates and is slow.',
        virtTypes,
        { fallback: 'kvm' },
      ),
      cellName: partName('Name of the only cell.', { fallback: 'cell1', immutable: 'cell1' }),
      cells,
      computeReplicas: int(
        'How many eligible nodes run guests. Set 0 if all compute hosts are outside of the cluster. A smaller number than before releases no node.',
        { minimum: 0, maximum: 5000, otherwise: 'every eligible node' },
      ),
      nodeGroups,
      tls: object(
        'TLS between the proxies of graphical consoles and QEMU on the nodes. Where it is stated, proxies show a certificate of an authority of this Nova (Secret <name>-console-tls) to hosts that ask for it. To enable or disable it replaces libvirt of all nodes, on request; guests run on.',
        {
          enabled: bool(
            'Whether guests that start from then on show their screens to these proxies alone, by TLS. Below a control plane, its tls.enabled does this in steps. Otherwise, in a cloud in use, state false first, and true once this Nova is Ready; after true, false for as long as such guests run.',
            { fallback: false },
          ),
          duration: certificateDuration,
        },
      ),
      liveMigration: object(
        'Moving running servers between nodes, with the disks that are on them, encrypted. To enable or disable it replaces the agents of all nodes, on request; guests run on.',
        {
          enabled: bool(
            'Whether hosts take servers of others. Nodes reach each other on ports 16514 and 49152 to 49215.',
            { fallback: false },
          ),
        },
      ),
      coldMigration: object(
        'Moving servers that are off between nodes, and resizing servers, by copies of their disks (ssh). To enable or disable it replaces nova-compute of all nodes, on request; guests run on.',
        {
          enabled: bool('Whether hosts take disks of others, by an sshd on port 8022 of each node.', {
            fallback: false,
          }),
        },
      ),
      maintenance: object(
        'What begins the maintenance of a node, besides the annotation openstack.k8s.io/maintenance.',
        {
          onCordon: bool(
            'Whether a node that is cordoned (kubectl cordon, kubectl drain) is in maintenance. Its nova-compute is disabled, and its servers move to other nodes, until it is uncordoned.',
            { fallback: false },
          ),
        },
      ),
      cephStorageRef: cephStorageRef('volumes that servers attach, and disks of servers'),
      ephemeralStorage: choice(
        'Where root and ephemeral disks are stored: local on the nodes, or ceph in a pool of cephStorageRef.',
        ['local', 'ceph'],
        { default: 'local', immutable: 'local' },
      ),
      cephPoolName: poolName('Pool (RBD) of these disks, for ephemeralStorage ceph.', {
        fallback: 'vms',
        immutable: 'vms',
      }),
      recordsAudit,
      passwordRotationDays,
      housekeeping,
      config: config('nova.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: [
        rule(
          '!(has(self.cells) && has(self.cellName))',
          'cellName is short for cells: set one of the two',
          '.cellName',
        ),
        rule(
          '!(has(self.nodeGroups) && has(self.computeReplicas))',
          'computeReplicas is short for nodeGroups: set replicas of the groups instead',
          '.computeReplicas',
        ),
      ],
    },
  ),
  status: object('Observed state of Nova.', {
    ...common,
    phase,
    ...endpoints,
    cloud,
    ...claimedHosts,
    lasting,
    authorities,
    refusedMembers,
  }),
  columns: [endpointColumn],
});

export type Nova = ObjectOf<typeof Nova>;
export type NovaSpec = SpecOf<typeof Nova>;
export type NovaStatus = StatusOf<typeof Nova>;
export type NovaCell = Infer<typeof cells>[number];
export type NodeGroup = Infer<typeof nodeGroups>[number];
export type Guests = Infer<typeof guests>;
