import { annotations } from '@openstack-operator/openstack';
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
}

/** Three members of a StatefulSet that are ready. */
const three = (name: string) => (cloud: Cloud) => {
  const { status = {} } = (cloud.get('StatefulSet', `my-cloud-${name}`) ?? {}) as {
    status?: { readyReplicas?: number };
  };
  return status.readyReplicas === 3;
};

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

const pools = ['fast', 'slow'].map((name) => ({ name: `${name}-volumes`, purpose: 'cinder-volumes' }));
/** Volumes on these backends, each in a pool of Ceph. */
export const volumesOn = (...names: readonly string[]) => ({
  cinder: { backends: names.map((name) => ({ name, type: 'ceph', cephPoolName: `${name}-volumes` })) },
});
const backends = (...names: readonly string[]): Change => ({
  patch: { spec: volumesOn(...names) },
  arrived: (cloud) =>
    ['fast', 'slow'].every(
      (name) => names.includes(name) === (cloud.get('Deployment', `my-cloud-cinder-volume-${name}`) !== undefined),
    ),
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
      cephStorage: { ...cephStorage, pools },
      ...volumesOn('fast'),
    },
    bring: bringKeyrings,
    changes: { 'a backend more': backends('fast', 'slow'), 'a backend fewer': backends('fast') },
  },
} as const satisfies Record<string, Course>;
