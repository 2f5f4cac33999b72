import { type Change, type Course, courses, volumesOn } from '../crash-points/courses.ts';
import { identityOnly } from '../rollout/cloud.ts';

/** What a schedule is tried on. */
export interface CloudOption extends Pick<Course, 'spec' | 'bring'> {
  /** How often it is chosen, beside the others: whole clouds take their time. */
  readonly weight: number;
  /** Stated while things go wrong. */
  readonly change: Change;
}

const nothing = { enabled: false };
const infrastructure = { ...identityOnly, keystone: nothing };
const noDatabase = { ...infrastructure, mariadb: nothing };
const broker = { ...noDatabase, rabbitmq: {} };
/** A change that a Ready control plane has made. */
const stated = (spec: object): Change => ({ patch: { spec }, arrived: () => true });
const memory = stated({ memcached: { memoryMegabytes: 128 } });
const expiration = stated({ keystone: { tokenExpiration: 7200 } });
const { quorums, tls, rotation, storage, setup, objects } = courses;

export const clouds = {
  cache: { weight: 40, spec: noDatabase, change: memory },
  database: { weight: 25, spec: infrastructure, change: memory },
  broker: { weight: 20, spec: broker, change: memory },
  identity: { weight: 14, spec: identityOnly, change: expiration },
  whole: { weight: 1, spec: {}, change: expiration },
  databases: { weight: 3, spec: identityOnly, change: quorums.changes['a database of three'] },
  brokers: { weight: 3, spec: broker, change: quorums.changes['a broker of three'] },
  networks: { weight: 2, spec: { ...noDatabase, ovnNetwork: {} }, change: quorums.changes['a network of three'] },
  secure: { weight: 3, spec: tls.spec, change: tls.changes.TLS },
  plain: { weight: 2, spec: { ...tls.spec, tls: { enabled: true } }, change: tls.changes['no TLS'] },
  rotated: { weight: 2, ...rotation, change: rotation.changes['rotation of all'] },
  grown: { weight: 1, ...storage, change: storage.changes['a backend more'] },
  shrunk: {
    weight: 1,
    ...storage,
    spec: { ...storage.spec, ...volumesOn('fast', 'slow') },
    change: storage.changes['a backend fewer'],
  },
  moved: { weight: 1, ...storage, change: storage.changes['other monitors'] },
  users: { weight: 1, ...setup, change: setup.changes['a backend more'] },
  rings: { weight: 2, ...objects, change: objects.changes['a storage node more'] },
  policies: { weight: 1, ...objects, change: objects.changes['a policy more'] },
} as const satisfies Record<string, CloudOption>;

export type CloudName = keyof typeof clouds;
