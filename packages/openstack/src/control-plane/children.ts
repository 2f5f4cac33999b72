import type { ReferenceField } from '../engine/surroundings.ts';

/** Phases of a control plane, in order (api-fields of `status.phase`). */
export const phases = [
  'Infrastructure',
  'Identity',
  'CoreServices',
  'Compute',
  'ExtendedServices',
  'Dashboards',
] as const;

/** A phase in which children come up. */
export type Phase = (typeof phases)[number];

/** One child of a control plane, as data. */
export interface Child {
  /** Kind of the child. */
  readonly kind: string;
  /** Field of the control plane's spec that is the child's template. */
  readonly field: string;
  /** The child is named `<control plane>-<suffix>`. */
  readonly suffix: string;
  readonly phase: Phase;
  /** Fields of children that it cannot do without, beside those that it refers to. */
  readonly needs: readonly string[];
  /**
   * Fields of children that have to be Ready before it is created: what its first steps work on. Its later steps wait
   * for what they ask themselves, so that all databases are made while Keystone comes up.
   */
  readonly after: readonly string[];
  /** References that the control plane fills in: field of the child -> field of the child that it refers to. */
  readonly references: Readonly<Partial<Record<ReferenceField, string>>>;
  /** First label of the public host name, for children with an API. */
  readonly hostname?: string;
  /** Runs agents on the nodes that the cloud claims. */
  readonly onNodes?: boolean;
}

/**
 * The children of Phase 1 in the order of the phase 1 plan (task 19). Nova comes last and in a phase of its own:
 * a server needs all the others.
 */
export const children: readonly Child[] = [
  {
    kind: 'MariaDB',
    field: 'mariadb',
    suffix: 'mariadb',
    phase: 'Infrastructure',
    needs: [],
    after: [],
    references: {},
  },
  {
    kind: 'RabbitMQ',
    field: 'rabbitmq',
    suffix: 'rabbitmq',
    phase: 'Infrastructure',
    needs: [],
    after: [],
    references: {},
  },
  {
    kind: 'Memcached',
    field: 'memcached',
    suffix: 'memcached',
    phase: 'Infrastructure',
    needs: [],
    after: [],
    references: {},
  },
  {
    kind: 'OVNNetwork',
    field: 'ovnNetwork',
    suffix: 'ovn',
    phase: 'Infrastructure',
    needs: [],
    after: [],
    references: {},
    onNodes: true,
  },
  {
    kind: 'Keystone',
    field: 'keystone',
    suffix: 'keystone',
    phase: 'Identity',
    needs: [],
    after: ['mariadb'],
    references: { databaseRef: 'mariadb', cacheRef: 'memcached' },
    hostname: 'keystone',
  },
  {
    kind: 'Glance',
    field: 'glance',
    suffix: 'glance',
    phase: 'CoreServices',
    needs: [],
    after: ['mariadb'],
    references: { databaseRef: 'mariadb', cacheRef: 'memcached', keystoneRef: 'keystone' },
    hostname: 'glance',
  },
  {
    kind: 'Placement',
    field: 'placement',
    suffix: 'placement',
    phase: 'CoreServices',
    needs: [],
    after: ['mariadb'],
    references: { databaseRef: 'mariadb', cacheRef: 'memcached', keystoneRef: 'keystone' },
    hostname: 'placement',
  },
  {
    kind: 'Neutron',
    field: 'neutron',
    suffix: 'neutron',
    phase: 'CoreServices',
    needs: [],
    after: ['mariadb'],
    references: {
      databaseRef: 'mariadb',
      messageQueueRef: 'rabbitmq',
      cacheRef: 'memcached',
      keystoneRef: 'keystone',
      ovnRef: 'ovnNetwork',
      novaRef: 'nova',
    },
    hostname: 'neutron',
    onNodes: true,
  },
  {
    kind: 'Nova',
    field: 'nova',
    suffix: 'nova',
    phase: 'Compute',
    needs: ['glance'],
    after: ['mariadb'],
    references: {
      databaseRef: 'mariadb',
      messageQueueRef: 'rabbitmq',
      cacheRef: 'memcached',
      keystoneRef: 'keystone',
      placementRef: 'placement',
      neutronRef: 'neutron',
    },
    hostname: 'nova',
    onNodes: true,
  },
];
