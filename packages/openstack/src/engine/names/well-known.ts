/** Prefix of our annotations, labels and finalizers. */
export const prefix = 'openstack.k8s.io';

/** A name that this operator reads or writes in the metadata of objects. */
export interface WellKnownName {
  readonly name: `${typeof prefix}/${string}`;
  /** Who sets it. */
  readonly by: 'users' | 'operator';
  /** The objects that carry it. */
  readonly on: string;
  readonly value: string;
  /** What it does, or says, in Markdown. */
  readonly means: string;
}

/** Names by their keys in code. */
export type WellKnownNames = Readonly<Record<string, WellKnownName>>;

/** Every annotation, by its key in code. docs/reference/annotations.md is generated from these tables. */
export const wellKnownAnnotations = {
  paused: {
    name: `${prefix}/paused`,
    by: 'users',
    on: 'any resource',
    value: '`"true"`',
    means:
      'The operator writes nothing for this resource until the annotation is removed. The condition `Ready` says so. On a control plane it holds for the children as well. Pods keep running.',
  },
  reconcileAt: {
    name: `${prefix}/reconcile-at`,
    by: 'users',
    on: 'any resource',
    value: 'any new text, such as the time of day',
    means:
      'Jobs run once more: database migrations, catalogue entries, users of the database and the broker. `status.lastHandledReconcileAt` repeats the value when the status is about it. A control plane passes it on to its children.',
  },
  rotateAt: {
    name: `${prefix}/rotate-at`,
    by: 'users',
    on: 'any resource',
    value: 'any new text, such as the time of day',
    means:
      'Passwords of the service in the database, on the broker and in Keystone are replaced by others; those before are refused once no pod uses them any more. `status.rotated` repeats the value (`request`) when no pod does; the resource is Ready again once they are refused. A control plane passes it on to its children, or to those that `rotate` names.',
  },
  rotate: {
    name: `${prefix}/rotate`,
    by: 'users',
    on: 'a control plane',
    value: 'fields of its spec, with commas between, such as `nova,placement`',
    means:
      'The annotation `rotate-at` is about these services. Without it all are meant: removed alone, it has the others rotated at once. While one of the names is no service of the cloud with passwords, or none is named, nothing is rotated, and the condition `RotationReady` says which there are.',
  },
  rotateAuthorityAt: {
    name: `${prefix}/rotate-authority-at`,
    by: 'users',
    on: 'MariaDB, RabbitMQ, OVNNetwork, Keystone, Nova, or a control plane',
    value: 'any new text, such as the time of day',
    means:
      'The authorities that the operator signs certificates by are replaced by others, in steps, so that no connection fails. `status.authorities` says how far that is, and repeats the value (`request`) when it is done. What an issuer of cert-manager signs is not concerned. A control plane passes it on to its children.',
  },
  rollNodeAgents: {
    name: `${prefix}/roll-node-agents`,
    by: 'users',
    on: 'resources with node agents',
    value: '`"true"`',
    means:
      'While it is set, outdated node agents are replaced node by node, as long as what the resource needs is Ready. Without it a change of node agents waits, and the condition says which agents are outdated, because a restart may pause the network of guests. A control plane passes it on to its children.',
  },
  adopt: {
    name: `${prefix}/adopt`,
    by: 'users',
    on: 'an object without a controller',
    value: '`<Kind>.<name>`, such as `Keystone.my-cloud-keystone`',
    means:
      'Hands the object over to that resource. Without it the operator never touches an object that it has not created, and the condition says `ForeignObject`. In a namespace with node agents it takes the verb `use-nodes`.',
  },
  operatorClass: {
    name: `${prefix}/operator-class`,
    by: 'users',
    on: 'any resource',
    value: 'a class',
    means:
      'Only an operator that runs with `--operator-class` of this value manages the resource. A control plane passes it on to its children.',
  },
  operator: {
    name: `${prefix}/operator`,
    by: 'users',
    on: 'any resource',
    value: 'a namespace',
    means:
      'The namespace of the operator that manages the resource. The first operator that sees the resource sets it. Change it to hand the resource over to another operator.',
  },
  acceptDataLoss: {
    name: `${prefix}/accept-data-loss`,
    by: 'users',
    on: 'resources with volumes',
    value: 'uid of a PersistentVolumeClaim',
    means:
      'Accepts that an empty claim has replaced one that had data. Until then the service stays down with `VolumeLost`. The condition says the uid.',
  },
  deleteWithResources: {
    name: `${prefix}/delete-with-resources`,
    by: 'users',
    on: 'a control plane, and services that keep servers, volumes and the like for users',
    value: '`"true"`',
    means:
      'Deletes or disables the service, although it has resources of users (servers, volumes, images, ...) or cannot say how many. Servers that run then lose network and management.',
  },
  releasedFrom: {
    name: `${prefix}/released-from`,
    by: 'users',
    on: 'nodes',
    value: '`<namespace>/<name>`, with `/<uid>` where data of that cloud stay',
    means:
      'The cloud that has released the node. The operator sets it. Any other cloud cleans the node before it claims it. Remove it from a node that you have cleaned yourself.',
  },
  maintenance: {
    name: `${prefix}/maintenance`,
    by: 'users',
    on: 'nodes',
    value: 'a reason, such as `new kernel`',
    means:
      'The node is in maintenance: no new guest comes there, and those that run there are moved to other nodes. `status.nodes` says how far that is. Another reason has it tried again at once. When the annotation is removed, new guests may come there again.',
  },
  forgetNodes: {
    name: `${prefix}/forget-nodes`,
    by: 'users',
    on: 'a control plane, and resources with node agents',
    value: 'names of nodes, with commas between',
    means:
      'These nodes are gone for ever: what Nova, Placement, Neutron and OVN have recorded of them is deleted, their disks leave the rings of Swift, and `status.nodes` lists them no more. Nothing is done while one of them is a node of the cluster; one that has servers, or reports, stays. The condition `ForgettingReady` says so. Remove it when that is done: it would be done again when a node of that name goes later. A control plane passes it on to its children.',
  },
  applied: {
    name: `${prefix}/applied`,
    by: 'operator',
    on: 'every object',
    value: 'digest',
    means: 'What was applied last. The same is not sent again.',
  },
  inputs: {
    name: `${prefix}/inputs`,
    by: 'operator',
    on: 'Jobs',
    value: 'digest',
    means: 'The inputs of a Job. The Job runs again when they change.',
  },
  attempt: {
    name: `${prefix}/attempt`,
    by: 'operator',
    on: 'Jobs',
    value: 'number',
    means: 'How many times the Job was tried with the same inputs. The back-off follows from it.',
  },
  credentials: {
    name: `${prefix}/credentials`,
    by: 'operator',
    on: 'pod templates',
    value: 'digest',
    means: 'The credentials that the pods read when they start. Pods are replaced when it changes.',
  },
  adoptedCredentials: {
    name: `${prefix}/adopted-credentials`,
    by: 'operator',
    on: 'workloads',
    value: 'digest',
    means: 'The digest, by the present key, that the one in the pod template counts as.',
  },
  replacedUnasked: {
    name: `${prefix}/replaced-unasked`,
    by: 'operator',
    on: 'DaemonSets of node agents',
    value: '`"true"`',
    means: 'Outdated pods of this DaemonSet are replaced without `roll-node-agents`.',
  },
  askedAt: {
    name: `${prefix}/asked-at`,
    by: 'operator',
    on: 'Jobs that count what users keep in a service',
    value: 'time (RFC 3339)',
    means: 'When the Job was created, by the clock of the operator.',
  },
  rotatedAt: {
    name: `${prefix}/rotated-at`,
    by: 'operator',
    on: 'Secrets with keys',
    value: 'time (RFC 3339)',
    means:
      'When the keys were last rotated. While an authority is replaced: since when all Secrets have what is new of it.',
  },
  rotatedFor: {
    name: `${prefix}/rotated-for`,
    by: 'operator',
    on: 'Secrets with a password, or an authority',
    value: 'the value of `rotate-at`, or `rotate-authority-at`',
    means: 'For which request the password was generated, or the authority.',
  },
  formerAuthority: {
    name: `${prefix}/former-authority`,
    by: 'operator',
    on: 'Secrets with an authority',
    value: 'the fingerprint (SHA-256) of a certificate',
    means: 'Which authority was before the one that signs, and is trusted until nobody shows a certificate of it.',
  },
  generation: {
    name: `${prefix}/generation`,
    by: 'operator',
    on: 'Secrets with a password, or an authority',
    value: 'a number',
    means: 'How many there were, with this one. Users of the broker have another name in every second one.',
  },
  publishedBy: {
    name: `${prefix}/published-by`,
    by: 'operator',
    on: 'Secrets of what Jobs make',
    value: 'name of a ServiceAccount',
    means: 'Who may fill the Secret, beside the operator.',
  },
} as const satisfies WellKnownNames;

/** Every label beside those that Kubernetes recommends, by its key in code. */
export const wellKnownLabels = {
  nodeAgents: {
    name: `${prefix}/node-agents`,
    by: 'users',
    on: 'namespaces',
    value: '`allowed`',
    means: 'A cluster administrator allows node agents in this namespace.',
  },
  monitoring: {
    name: `${prefix}/monitoring`,
    by: 'users',
    on: 'namespaces',
    value: '`"true"`',
    means: 'Pods of this namespace may read the ports for monitoring, such as that of RabbitMQ.',
  },
  cloud: {
    name: `${prefix}/cloud`,
    by: 'operator',
    on: 'nodes',
    value: '`<namespace>.<control plane>`',
    means: 'The cloud that has claimed the node.',
  },
  nodeGroup: {
    name: `${prefix}/node-group`,
    by: 'operator',
    on: 'nodes',
    value: 'name of a node group',
    means: 'The node group that the node was claimed for.',
  },
  compute: {
    name: `${prefix}/compute`,
    by: 'operator',
    on: 'nodes',
    value: '`"true"`',
    means: 'The node runs guests. A claimed node without it only carries networks, such as a gateway.',
  },
  role: {
    name: `${prefix}/role-<role>`,
    by: 'operator',
    on: 'nodes',
    value: 'name of a node group',
    means: 'A role that the node has beside what else its cloud has it for, such as storage.',
  },
  cleanedFor: {
    name: `${prefix}/cleaned-for`,
    by: 'operator',
    on: 'nodes',
    value: '`<Kind>.<namespace>.<name>`',
    means: 'The resource that cleans the node, to claim it afterwards. No other resource takes it meanwhile.',
  },
  retainedFor: {
    name: `${prefix}/retained-for`,
    by: 'operator',
    on: 'volumes, Secrets and ConfigMaps that outlive their resource',
    value: '`<Kind>.<name>`',
    means: 'The resource that the object belongs to.',
  },
} as const satisfies WellKnownNames;

/** Every finalizer, by its key in code. */
export const wellKnownFinalizers = {
  protectServers: {
    name: `${prefix}/protect-servers`,
    by: 'operator',
    on: 'a control plane, MariaDB, resources that carry guests, and services that keep something for users',
    value: '',
    means:
      'The deletion waits while Nova has servers, and with `deletionPolicy: Delete` while services have volumes, images and the like.',
  },
  externalRecords: {
    name: `${prefix}/external-records`,
    by: 'operator',
    on: 'resources with records outside of their cloud',
    value: '',
    means: 'A Job removes the records before the resource goes, for fifteen minutes at most.',
  },
  releaseNodes: {
    name: `${prefix}/release-nodes`,
    by: 'operator',
    on: 'resources that claim nodes',
    value: '',
    means: 'The nodes are released before the resource goes.',
  },
} as const satisfies WellKnownNames;
