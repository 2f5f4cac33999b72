import { annotations } from '@openstack-operator/openstack';
import { bringCeph, fsid, keyOf, keyring, monitor, secret } from '../rollout/ceph.ts';
import { type Cloud, cephStorage, identityOnly } from '../rollout/cloud.ts';
import { bringKeyrings } from '../rollout/full-sample.ts';

/** A change of a control plane that takes many steps. */
export interface Change {
  /** A merge patch. */
  readonly patch: object;
  /** Whether all has come about that a Ready control plane may still be at. */
  readonly arrived: (cloud: Cloud) => boolean;
}

/** A cloud at first, and what becomes of it. */
export interface Course {
  readonly spec: Readonly<Record<string, unknown>>;
  /** Brings what its users bring. */
  readonly bring?: (cloud: Cloud) => Promise<void>;
  readonly changes: Readonly<Record<string, Change>>;
  /** Not for `make test`: it takes hours of virtual time, or much of it is in other courses. */
  readonly isApart?: true;
  /** So many of its points are tried with `CRASH_POINTS=all`; by default every one. */
  readonly most?: number;
}

/** Three members of a StatefulSet that are ready. */
const three = (name: string) => (cloud: Cloud) => readyReplicas(cloud, name) === 3;

function readyReplicas(cloud: Cloud, name: string): number | undefined {
  const { status = {} } = (cloud.get('StatefulSet', `my-cloud-${name}`) ?? {}) as {
    status?: { readyReplicas?: number };
  };
  return status.readyReplicas;
}

const tls = (enabled: boolean): Change => ({
  patch: { spec: { tls: { enabled } } },
  arrived: (cloud) => {
    const { tls: state } = (cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'] ?? {}) as { tls?: string };
    return state === (enabled ? 'Enabled' : undefined);
  },
});

/** A rotation of every password and key of the services: so many. */
const rotation = (count: number): Change => ({
  patch: { metadata: { annotations: { [annotations.rotateAt]: 'all' } } },
  arrived: (cloud) => {
    const rotated = ['Keystone', 'Barbican'].flatMap((kind) => {
      const [{ status } = {}] = cloud.list(kind) as { status?: { rotated?: Record<string, { request?: string }> } }[];
      return Object.values(status?.rotated ?? {});
    });
    const previous = cloud.list('Secret').filter(({ metadata }) => metadata.name.endsWith('-previous'));
    return (
      rotated.filter(({ request }) => request === 'all').length === count &&
      previous.every(({ data }) => Object.keys(data ?? {}).length === 0)
    );
  },
});

const pools = [
  ...['fast', 'slow'].map((name) => ({ name: `${name}-volumes`, purpose: 'cinder-volumes' })),
  { name: 'backups', purpose: 'cinder-backups' },
  { name: 'images', purpose: 'glance-images' },
];
/** Volumes on these backends, each in a pool of Ceph. */
export const volumesOn = (...names: readonly string[]) => ({
  cinder: {
    backends: names.map((name) => ({ name, type: 'ceph', cephPoolName: `${name}-volumes` })),
    backup: { type: 'ceph', cephPoolName: 'backups' },
  },
});
const backends = (...names: readonly string[]): Change => ({
  patch: { spec: volumesOn(...names) },
  arrived: (cloud) =>
    ['fast', 'slow'].every(
      (name) => names.includes(name) === (cloud.get('Deployment', `my-cloud-cinder-volume-${name}`) !== undefined),
    ),
});

/** What services in Ceph are told where its monitors are. */
const monitors = (monitorHosts: string): Change => ({
  patch: { spec: { cephStorage: { external: { monitorHosts } } } },
  arrived: (cloud) => {
    const { found } = (cloud.get('CephStorage', 'my-cloud-ceph')?.['status'] ?? {}) as {
      found?: Record<string, string>;
    };
    return found?.['monitorHosts'] === monitorHosts;
  },
});

const storageNodes = (count: number): Change => ({
  patch: { spec: { swift: { storageNodes: count } } },
  arrived: (cloud) => readyReplicas(cloud, 'swift-storage') === count,
});

const policies = (name: string): Change => ({
  patch: { spec: { swift: { storagePolicies: [{ index: 1, name, replicaCount: 2 }] } } },
  arrived: (cloud) => {
    const { data = {} } = (cloud.get('Secret', 'my-cloud-swift-rings-policies') ?? {}) as { data?: object };
    return Object.hasOwn(data, 'object-1.ring.gz');
  },
});

/**
 * What an operator leads a cloud through by many steps. `quorums` is for schedules of faults: where an operator dies while members are
 * replaced, the primary may move once more, and northd be told of members once more. The objects are the same in the end, their
 * histories are not.
 */
export const courses = {
  quorums: {
    spec: { ...identityOnly, rabbitmq: {}, ovnNetwork: {} },
    changes: {
      'a database of three': {
        patch: { spec: { mariadb: { replicas: 3 } } },
        arrived: three('mariadb'),
      },
      'a broker of three': {
        patch: { spec: { rabbitmq: { replicas: 3 } } },
        arrived: three('rabbitmq'),
      },
      'a network of three': {
        patch: { spec: { ovnNetwork: { northboundDBReplicas: 3, southboundDBReplicas: 3 } } },
        arrived: three('ovn-sb-db'),
      },
    },
  },
  tls: { spec: identityOnly, changes: { TLS: tls(true), 'no TLS': tls(false) } },
  rotation: {
    spec: { ...identityOnly, rabbitmq: {}, barbican: {} },
    changes: { 'rotation of all': rotation(6) },
  },
  storage: {
    spec: {
      ...identityOnly,
      rabbitmq: {},
      cephStorage: { ...cephStorage, pools, fileSystems: [{ name: 'files' }] },
      glance: { storageType: 'ceph', cephPoolName: 'images', nodeNetworks: ['10.0.0.0/16'] },
      manila: { backends: [{ name: 'files', type: 'cephfs', cephFSName: 'files' }] },
      ...volumesOn('fast'),
    },
    bring: bringKeyrings,
    changes: {
      'a backend more': backends('fast', 'slow'),
      'a backend fewer': backends('fast'),
      'other monitors': monitors('10.0.0.12,10.0.0.13'),
    },
    most: 100,
  },
  setup: {
    spec: {
      ...identityOnly,
      rabbitmq: {},
      cephStorage: {
        external: { monitorHosts: monitor, fsid, admin: { keyringSecretName: 'ceph-admin' } },
        pools,
        fileSystems: [{ name: 'files' }],
      },
      ...volumesOn('fast'),
    },
    bring: async (cloud) => {
      await bringCeph(cloud);
      await cloud.settle(
        cloud.rehearsal.create(secret('ceph-admin', { 'ceph.client.admin.keyring': keyring(keyOf('a')) })),
      );
    },
    changes: { 'a backend more': backends('fast', 'slow') },
    isApart: true,
    most: 40,
  },
  objects: {
    spec: {
      ...identityOnly,
      imageRegistry: 'registry.example.com/openstack',
      swift: { storagePolicy: { partitionPower: 4, minPartHours: 1 } },
      glance: { storageType: 'swift' },
    },
    changes: {
      'a storage node more': storageNodes(4),
      'a policy more': policies('gold'),
    },
    most: 100,
  },
  leaving: {
    spec: {
      ...identityOnly,
      imageRegistry: 'registry.example.com/openstack',
      swift: { storagePolicy: { partitionPower: 4, minPartHours: 1, replicaCount: 2 } },
    },
    changes: { 'a storage node fewer': storageNodes(2) },
    isApart: true,
    most: 20,
  },
} as const satisfies Record<string, Course>;
