import { schedules } from './schedules.ts';
import { array, bool, choice, type Infer, int, map, object, required, string } from './schema.ts';

/**
 * The phases in which a service comes from one release to the next, in their order:
 * - `Expand`: the schema gets what the next release needs; the programs are those of the release before
 * - `Rollout`: the programs are replaced; both releases run beside each other
 * - `Contract`: no program of the release before is left; the schema loses what only that one needed
 */
export const upgradePhases = ['Expand', 'Rollout', 'Contract'] as const;

/** One of `upgradePhases`. */
export type UpgradePhase = (typeof upgradePhases)[number];

/** Steps in which one authority takes the place of another: `Trusted` beside it, and then `Signing` in its place. */
export const authorityPhases = ['Trusted', 'Signing'] as const;

/** `metav1.Condition`s. */
const conditions = array(
  'Conditions of the resource, one for each step. Ready is the last one. It is True when every step is done for this generation and the service is usable.',
  object('One condition.', {
    type: required(string('Type of the condition, such as DatabaseReady.', { maxLength: 316 })),
    status: required(choice('Status of the condition.', ['True', 'False', 'Unknown'])),
    observedGeneration: int('Generation of the resource that the condition is about.', {
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    lastTransitionTime: required(string('When its status changed last.', { maxLength: 64, format: 'date-time' })),
    reason: required(string('Reason of the status, in one word.', { maxLength: 1024 })),
    message: required(
      string('What is awaited, what the program or server says, and what to do.', { maxLength: 32768 }),
    ),
  }),
  { maxItems: 64, keys: ['type'] },
);

const quorum = 'Members of the quorum. Absent where there is one server.';
const size = int('How many hold the data. It never becomes fewer.', { minimum: 1, maximum: 7 });

/** `status.members`, of kinds whose pods are members of a quorum. */
export const members = object(quorum, { size });

/** The same, where clients are led to one of them. */
export const ledMembers = object(quorum, {
  size,
  primary: string('Name of the pod that clients are led to.', { maxLength: 253 }),
});

/** `status.data`, of kinds that keep what other resources make there. */
export const data = string(
  'Another value when its data begin anew, on an empty volume: what other resources have made there is made again. Absent where they began before this was recorded.',
  { maxLength: 256 },
);

/** The phases of a service or an infrastructure kind. */
export const phases = ['Pending', 'Progressing', 'Ready', 'Degraded', 'Failed', 'Paused', 'Deleting'] as const;

/** The most characters of annotation `reconcile-at` that a status repeats. */
export const mostOfRequest = 256;

/** `status.authorities`, of kinds that sign certificates. */
export const authorities = map(
  'Authorities that the operator signs certificates by, by Secret.',
  object('One authority.', {
    generation: int('How many authorities the Secret has had, with the newest.', {
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    phase: choice(
      'How far its replacement is. Trusted: the newest is trusted beside the one before, which signs. Signing: it signs, and the one before is still trusted. Absent while none is under way.',
      authorityPhases,
    ),
    request: string(
      'The last value of the annotation rotate-authority-at that was followed. Absent until that is done.',
      {
        maxLength: mostOfRequest,
      },
    ),
    ends: string('When the certificate of the one that signs ends.', { maxLength: 64, format: 'date-time' }),
    next: string('When it is replaced because of its age.', { maxLength: 64, format: 'date-time' }),
  }),
  { maxProperties: 16 },
);

/** Status fields that every kind has. */
export const common = {
  observedGeneration: int('Generation of the resource that this status is about.', {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  lastHandledReconcileAt: string(
    'Value of the annotation reconcile-at that this status is about. While the annotation has another value, what it asks for has not begun.',
    { maxLength: mostOfRequest },
  ),
  readyGeneration: int(
    'The newest generation that has been Ready. If it is the present generation and Ready is not True, something has failed since. If it is older, a change is being rolled out.',
    { minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  ),
  references: map(
    'What the resource was composed with, by the field that refers to it. While one of them has another generation, Ready is not about it yet.',
    object('The resource that was referred to.', {
      name: required(string('Its name.', { maxLength: 253 })),
      generation: required(int('Its generation.', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    }),
    { maxProperties: 32 },
  ),
  peers: array(
    'Kinds of the same cloud whose presence counts, and that were wanted when the resource was composed. While its control plane wants others, Ready is not about that yet.',
    string('Kind, such as Barbican.', { maxLength: 63 }),
    { maxItems: 64 },
  ),
  rotated: map(
    'Passwords that were rotated, or will be, by Secret. No pod uses the one before any more, and it is refused once the resource is Ready again.',
    object('The last rotation, and the next one.', {
      generation: int('How many passwords there were, with the present one.', {
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
      }),
      time: string('When it was completed.', { maxLength: 64, format: 'date-time' }),
      request: string('The last value of the annotation rotate-at that was followed.', {
        maxLength: mostOfRequest,
      }),
      next: string('When the password is rotated because of its age. Absent without passwordRotationDays.', {
        maxLength: 64,
        format: 'date-time',
      }),
    }),
    { maxProperties: 16 },
  ),
  conditions,
  message: string('What is awaited, in one sentence. The column MESSAGE shows it.', { maxLength: 1024 }),
  agentsLeaving: bool(
    'Whether agents on nodes are being replaced that have read other credentials or addresses than those of now.',
  ),
  release: object('Releases of the resource.', {
    deployed: string('Release that is running.', { maxLength: 16 }),
    target: string('Release that is being rolled out.', { maxLength: 16 }),
    phase: choice('Phase of an upgrade. It is absent outside of one.', upgradePhases),
  }),
  volumes: map(
    'Volume claims by name, with their uid. A claim with another uid is an empty volume. It is reported, and not used.',
    string('uid of the claim.', { maxLength: 64 }),
    // A Swift has as many devices as rings have room for.
    { maxProperties: 1024 },
  ),
  jobs: map(
    'Finished Jobs by name, with the hash of what they ran. A Job with the same hash is not run again.',
    string('Hash of command, image, configuration and credentials.', { maxLength: 64 }),
    { maxProperties: 64 },
  ),
  schedules,
};

/** The phase of a service or an infrastructure kind. */
export const phase = choice(
  'Phase of the resource. Degraded: it was Ready, and something has failed or takes too long; it may recover by itself. Failed: somebody has to change something; the message says what.',
  phases,
);

/** Status fields of a service with an API. */
export const endpoints = {
  apiEndpoint: string('URL of the API inside the cluster.', { maxLength: 2048 }),
  endpoints: object('URLs of the API in the catalogue.', {
    internal: string('Inside the cluster.', { maxLength: 2048 }),
    public: string('From outside.', { maxLength: 2048 }),
  }),
};

/** What fields were when they were stated first, where data lie by them. */
export const lasting = map(
  'What fields were when they were stated first, where data are found by them. They stay that, even where they were left out meanwhile. The ConfigMap <name>-lasting has the same for a resource of this name that comes later.',
  string('What it was.', { maxLength: 1024 }),
  { maxProperties: 512 },
);

/** What Jobs have found. */
export const found = map(
  'What Jobs of the resource have found of what it stands for.',
  string('What it is.', { maxLength: 2048 }),
  { maxProperties: 16 },
);

/** Members of what a service keeps in itself that are not where they belong. */
export const refusedMembers = array(
  'Members of what the service keeps for the resource that it did not take in or let go, and why, such as hosts of zones.',
  string('Which, and why.', { maxLength: 2048 }),
  { maxItems: 16 },
);

/** Endpoints of all services of a cloud. */
export const serviceEndpoints = map(
  'Public URLs of the APIs in the catalogue, by service.',
  string('URL.', { maxLength: 2048 }),
  { maxProperties: 64 },
);

const ofClaimed =
  'Nodes that are claimed. Their bridges, chassis and guests belong to this cloud until they are released.';

const claimed = {
  name: required(string('Name of the Kubernetes node.', { maxLength: 253 })),
  group: string('Node group that claimed it.', { maxLength: 63 }),
  phase: string(
    'Phase of the node. Claimed: it belongs to the cloud. Joined: its agents have been up, and what follows from it was done. Lost: its Node object or its labels are gone; it is claimed again as soon as it is there.',
    { maxLength: 32 },
  ),
};

const most = { maxItems: 5000, keys: ['name'] };

const furtherNodes = map(
  'Of a cloud with more than 200 nodes, those that nodes does not list: names with spaces between them, by group and phase, such as default/Joined. nodes lists those in maintenance, lost and not joined first.',
  string('Names of Kubernetes nodes.', { maxLength: 1_048_576 }),
  { maxProperties: 256 },
);

/** Nodes that a resource has claimed: one by one. */
export const nodes = array(ofClaimed, object('One node.', claimed), most);

/** The same, of who runs guests there. */
export const hosts = array(
  ofClaimed,
  object('One node.', {
    ...claimed,
    maintenance: object(
      'Of a node in maintenance: the annotation openstack.k8s.io/maintenance says so, or a cordon with maintenance.onCordon.',
      {
        phase: choice(
          'Emptying: new guests are kept away, and those that run there are moved. Emptied: none is left. Occupied: some stay, which is tried again. Returning: the maintenance is over, and new guests are let in again.',
          ['Emptying', 'Emptied', 'Occupied', 'Returning'],
        ),
        message: string('Which guests stay, and why.', { maxLength: 4096 }),
      },
    ),
  }),
  most,
);

/** The nodes that a resource has claimed. */
export const claimedNodes = { nodes, furtherNodes };

/** The same, of who runs guests there. */
export const claimedHosts = { nodes: hosts, furtherNodes };

/** The cloud that a resource with node agents is of. */
export const cloud = string(
  'The cloud that its nodes and agents belong to: the value of their label openstack.k8s.io/cloud. A resource that loses its control plane stays in this cloud, whatever its labels say.',
  { maxLength: 63 },
);

export type ClaimedNode = Infer<typeof hosts>[number];
export type References = Readonly<Infer<typeof common.references>>;
export type ReleaseStatus = Infer<typeof common.release>;
