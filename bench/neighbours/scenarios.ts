import { type Client, ConfigMap, ReplicaSet, realClock, Secret, sleep } from '@openstack-operator/kube';
import { annotations, Keystone, MariaDB, Memcached, Placement } from '@openstack-operator/openstack';
import { base64, change, createMany, each, managed, manifest, nameOf, record, variable } from './objects.ts';
import { createPendingPods, labelTemplates, nodeSelector, replicaSet } from './workloads.ts';

/** What a user with `edit` in one namespace may do there. */
export interface Scenario {
  readonly name: string;
  /** What there is, in one sentence. */
  readonly sentence: string;
  /** How many `make` creates. */
  readonly objects: number;
  make(client: Client): Promise<void>;
  /** What goes on while it is measured: done every so many seconds, with the number of times that it was done before. */
  readonly disturbance?: { readonly interval: number; disturb(client: Client, turn: number): Promise<void> };
}

const pausedMetadata = { annotations: { [annotations.paused]: 'true' } };

/** All of them; what they are compared with comes first. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'nothing',
    sentence: 'No objects at all.',
    objects: 0,
    make: () => Promise.resolve(),
  },
  {
    name: 'alone',
    sentence: '900 Keystones, each with the name of a MariaDB that does not exist.',
    objects: 900,
    make: (client) =>
      createMany(client, Keystone, 900, (index) => ({ spec: { databaseRef: { name: `missing-${index}` } } })),
  },
  {
    name: 'twins',
    sentence: '900 Keystones on one MariaDB, each of which wants the same database, and one Memcached.',
    objects: 902,
    async make(client) {
      await client.create(Memcached, manifest(Memcached, 'shared', { spec: {} }));
      await client.create(MariaDB, manifest(MariaDB, 'shared', { spec: { storage: { size: '1Gi' } } }));
      await createMany(client, Keystone, 900, () => ({ spec: { databaseRef: { name: 'shared' } } }));
    },
  },
  {
    name: 'variables',
    sentence: '400 Keystones, each with 32 variables from Secrets of their own that do not exist.',
    objects: 400,
    make: (client) =>
      createMany(client, Keystone, 400, (index) => {
        const env = Array.from({ length: 32 }, (_, nth) => variable(`V${nth}`, `missing-${index}-${nth}`));
        return { spec: { databaseRef: { name: 'missing' }, components: { api: { env } } } };
      }),
  },
  {
    name: 'shared-secret',
    sentence:
      '1500 paused MariaDBs that name one Secret, changed every second; 1500 paused Keystones on "the only" MariaDB.',
    objects: 3001,
    async make(client) {
      const data = { password: base64('a password') };
      await client.create(Secret, manifest(Secret, 'shared', { data }, { labels: managed }));
      await createMany(client, MariaDB, 1500, () => ({ spec: { rootSecretName: 'shared' } }), pausedMetadata);
      await createMany(client, Keystone, 1500, () => ({ spec: {} }), pausedMetadata);
    },
    disturbance: {
      interval: 1,
      disturb: (client, turn) => change(client, Secret, 'shared', { data: { password: base64(`password ${turn}`) } }),
    },
  },
  {
    name: 'queue',
    sentence:
      '1500 Keystones without databases, 10 Secrets of 980 values; one Keystone names another Secret every 2 s.',
    objects: 1510,
    async make(client) {
      const value = (of: string) => base64('é'.repeat(240) + of);
      const dataOf = (secret: number) => record(980, (key) => [`key${key}`, value(`${secret}-${key}`)]);
      await createMany(client, Secret, 10, (index) => ({ data: dataOf(index) }), { labels: managed });
      await createMany(client, Keystone, 1500, (index) => ({ spec: { databaseRef: { name: `missing-${index}` } } }));
    },
    disturbance: {
      interval: 2,
      disturb(client, turn) {
        const env = [variable('V', `missing-${turn}`)];
        return change(client, Keystone, nameOf(Keystone, 0), { spec: { components: { api: { env } } } });
      },
    },
  },
  {
    name: 'labels',
    sentence: '20,000 labels that are added to the pod template of an own Memcached, beside 1000 pending pods.',
    objects: 1001,
    async make(client) {
      await client.create(Memcached, manifest(Memcached, 'own', { spec: { nodeSelector } }));
      await createPendingPods(client, 1000);
      await labelTemplates(
        client,
        record(20_000, (index) => [`label${index}`, 'x']),
      );
    },
  },
  {
    name: 'config-maps',
    sentence:
      '6000 ReplicaSets of as many instances, and their ConfigMaps of one Memcached, which is annotated every 2 s.',
    objects: 12_001,
    async make(client) {
      const owner = await client.create(Memcached, manifest(Memcached, 'owner', { spec: {} }));
      const { apiVersion, kind, metadata } = owner;
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
      await each(6000, async (index) => {
        const labels = { ...managed, 'app.kubernetes.io/instance': `instance-${index}` };
        const metadata = { labels, ownerReferences };
        await client.create(ReplicaSet, replicaSet(index, labels));
        await client.create(ConfigMap, manifest(ConfigMap, nameOf(ConfigMap, index), {}, metadata));
      });
    },
    disturbance: {
      interval: 2,
      disturb: (client, turn) =>
        change(client, Memcached, 'owner', { metadata: { annotations: { 'example.org/turn': String(turn) } } }),
    },
  },
  {
    name: 'keys',
    sentence: '40 Memcacheds that name 8 Secrets with 130,000 keys in their variables.',
    objects: 48,
    async make(client) {
      // In an order that is not that of the alphabet.
      const key = (index: number) => ((index * 7919) % 130_000).toString(36);
      await createMany(client, Secret, 8, (secret) => ({
        data: record(130_000, (index) => [`${key(index)}.${secret}`, '']),
      }));
      const env = Array.from({ length: 8 }, (_, secret) => variable(`V${secret}`, nameOf(Secret, secret)));
      await createMany(client, Memcached, 40, () => ({ spec: { components: { server: { env } } } }));
    },
  },
  {
    name: 'versions',
    sentence:
      '80 Placements that refer to one Keystone of 60 x 200 options, whose finalizers change before each is created.',
    objects: 82,
    async make(client) {
      await client.create(Memcached, manifest(Memcached, 'shared', { spec: {} }));
      const section = (of: number) => record(200, (option) => [`option${of}x${option}`, `v${of}x${option}`]);
      const config = { 'keystone.conf': record(60, (of) => [`section${of}`, section(of)]) };
      const spec = { databaseRef: { name: 'missing' }, config };
      const { metadata } = await client.create(Keystone, manifest(Keystone, 'large', { spec }));
      const { finalizers = [] } = metadata;
      for (let index = 0; index < 80; index++) {
        const more = index % 2 === 0 ? [] : ['example.org/finalizer'];
        await change(client, Keystone, 'large', { metadata: { finalizers: [...finalizers, ...more] } });
        // The operator has seen this version before a Placement refers to it.
        await sleep(realClock, 150);
        const external = { host: `host-${index}`, secretName: 'missing' };
        const identity = { userName: `placement-${index}` };
        const spec = { keystoneRef: { name: 'large' }, databaseRef: { external }, identity };
        await client.create(Placement, manifest(Placement, nameOf(Placement, index), { spec }));
        await sleep(realClock, 250);
      }
    },
  },
];
