import {
  type CacheReader,
  type Client,
  type Controller,
  controller,
  Gateway,
  type Kind,
  type KubeObject,
  keyOf,
  Node,
  noLog,
  type Runtime,
  run,
  StorageClass,
  Store,
  type StoredObject,
  seededRandom,
  virtualClock,
  type WatchEvent,
} from '@openstack-operator/kube';
import {
  cloudLabel,
  cloudOf,
  composeControlPlane,
  Keystone,
  kinds,
  MariaDB,
  type NodeClaim,
  nodeGroupLabel,
  OpenStackControlPlane,
  services,
  surroundingsOf,
} from '@openstack-operator/openstack';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { indexesOf, nodeLabelWatch, nodeWatch, secretsOfReferences } from './concerned.ts';
import { operatorControllers } from './controllers.ts';
import { nodeInterestOf } from './node-interest.ts';

const clouds = 500;
const nodes = 100;

/** A cluster in memory: what exists is listed, what is put is told of, and writes are not expected. */
class Cluster {
  readonly client: Client;
  readonly #objects = new Map<string, StoredObject[]>();
  readonly #watches = new Map<string, ((event: WatchEvent) => void)[]>();
  #version = 1;

  constructor() {
    const watch = (kind: Kind, { signal }: { signal: AbortSignal }) => this.#watch(kind, signal);
    this.client = { watch } as unknown as Client;
  }

  put(kind: Kind, object: KubeObject): void {
    const metadata = {
      uid: `${object.kind}/${keyOf(object)}`,
      ...object.metadata,
      resourceVersion: `${++this.#version}`,
    };
    const stored = { ...object, metadata } as StoredObject;
    const listed = this.#objects.get(kind.kind) ?? [];
    this.#objects.set(kind.kind, [...listed, stored]);
    for (const tell of this.#watches.get(kind.kind) ?? []) tell({ type: 'MODIFIED', object: stored });
  }

  async *#watch(kind: Kind, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    for (const object of this.#objects.get(kind.kind) ?? []) yield { type: 'ADDED', object };
    yield { type: 'BOOKMARK', resourceVersion: `${this.#version}`, initialEventsEnd: true };
    const news: WatchEvent[] = [];
    let wake = () => {};
    this.#watches.set(kind.kind, [
      ...(this.#watches.get(kind.kind) ?? []),
      (event) => {
        news.push(event);
        wake();
      },
    ]);
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      yield* news.splice(0);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** Kinds that may be exposed, or are told the URL of Keystone. */
const apis = services.flatMap(({ kind, dependsOn }) => {
  const isExposed = kind.spec.schema.properties?.['exposure'] !== undefined;
  return isExposed || 'keystoneRef' in dependsOn ? [kind.kind] : [];
});
/** Kinds that refer to a database server. */
const stored = services.flatMap(({ kind, dependsOn }) => ('databaseRef' in dependsOn ? [kind.kind] : []));
const suffix = (kind: string) => (kind === 'OVNNetwork' ? 'ovn' : kind.toLowerCase());
const namespace = (i: number) => `cloud-${i}`;
const controlPlane = (i: number, spec: object = { nova: { computeReplicas: 0 } }): KubeObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'c', namespace: namespace(i), uid: `c${i}`, generation: 1 },
  spec: { publicDomain: `c${i}.example.org`, ...spec },
});
const gatewayRef = { name: 'edge', namespace: 'infra' };
const child = (kind: string, i: number): KubeObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: {
    name: `c-${suffix(kind)}`,
    namespace: namespace(i),
    generation: 1,
    ownerReferences: [
      {
        apiVersion: 'openstack.k8s.io/v1alpha1',
        kind: 'OpenStackControlPlane',
        name: 'c',
        uid: `c${i}`,
        controller: true,
      },
    ],
  },
  spec: { gatewayRef },
});
const gateway = (name: string, attachedRoutes: number, port = 443): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name, namespace: 'infra', generation: 1 },
  spec: { listeners: [{ name: 'https', protocol: 'HTTPS', port }] },
  status: {
    listeners: [
      {
        name: 'https',
        attachedRoutes,
        conditions: [{ type: 'Programmed', status: 'True', message: `${attachedRoutes}` }],
      },
    ],
  },
});
const node = (i: number, labels: object = {}, status: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${i}`, labels: { 'kubernetes.io/hostname': `node-${i}`, ...labels } },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    images: Array.from({ length: 50 }, (_, image) => ({
      names: [`registry.example.org/image-${image}`],
      sizeBytes: 1,
    })),
    ...status,
  },
});
const owned = (cloud: number, group = 'default') => ({
  [cloudLabel]: cloudOf(controlPlane(cloud)),
  [nodeGroupLabel]: group,
});

/** Runs controllers whose reconciles are only counted. */
async function counting(cluster: Cluster, controllers: readonly Controller[]) {
  const clock = virtualClock();
  const stop = new AbortController();
  const counted: string[] = [];
  let runtime: Runtime | undefined;
  const ended = run({
    name: 'test',
    client: cluster.client,
    clock,
    random: seededRandom(1),
    log: noLog,
    signal: stop.signal,
    started: (started) => {
      runtime = started;
    },
    controllers: controllers.map((one) => ({
      ...one,
      reconcile: async ({ key }: { key: string }) => {
        counted.push(`${one.kind.kind} ${key}`);
      },
    })),
  });
  const settle = async () => {
    await clock.run(() => runtime?.idle === true);
    await clock.advance(5000);
  };
  await settle();
  const count = async (act: () => void): Promise<string[]> => {
    counted.length = 0;
    act();
    await settle();
    return [...counted].sort();
  };
  const end = async () => {
    let over = false;
    const mark = () => {
      over = true;
    };
    ended.then(mark, mark);
    stop.abort();
    await clock.run(() => over);
  };
  return { count, end, cache: () => (runtime as Runtime).cache };
}

describe(`${clouds} clouds behind one Gateway, and ${nodes} nodes`, () => {
  const cluster = new Cluster();
  let world: Awaited<ReturnType<typeof counting>>;
  beforeAll(async () => {
    for (let i = 0; i < clouds; i++) {
      cluster.put(OpenStackControlPlane, controlPlane(i));
      for (const kind of kinds) if (kind.kind !== 'OpenStackControlPlane') cluster.put(kind, child(kind.kind, i));
    }
    for (let i = 0; i < nodes; i++) cluster.put(Node, node(i, owned(i)));
    cluster.put(Gateway, gateway('edge', 0));
    cluster.put(Gateway, gateway('unrelated', 0));
    const facts = { operator: { name: 'test' }, operatorImage: 'image', clusterDomain: 'cluster.local' };
    world = await counting(cluster, operatorControllers(facts));
  });
  afterAll(() => world.end());

  test('routes that attach to the Gateway concern nobody', async () => {
    const woken = await world.count(() => {
      for (let routes = 1; routes <= 50; routes++) cluster.put(Gateway, gateway('edge', routes));
    });
    expect(woken).toEqual([]);
  });

  test('a listener that changes concerns whose API it carries, and who is told the URL of Keystone', async () => {
    const exposed = await world.count(() => cluster.put(Gateway, gateway('edge', 50, 8443)));
    expect(new Set(exposed.map((one) => one.split(' ')[0]))).toEqual(new Set(apis));
    expect(exposed).toHaveLength(apis.length * clouds);
    expect(await world.count(() => cluster.put(Gateway, gateway('unrelated', 0, 8443)))).toEqual([]);
  });

  test('labels, images and heartbeats of a claimed node concern nobody', async () => {
    const woken = await world.count(() => {
      for (let i = 0; i < nodes; i++) {
        cluster.put(Node, node(i, { ...owned(i), 'example.org/x': '1' }));
        const heartbeat = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
        cluster.put(Node, node(i, owned(i), { conditions: [heartbeat], images: [] }));
      }
    });
    expect(woken).toEqual([]);
  });

  test('a claimed node that is no longer Ready, or of another group, concerns its own cloud', async () => {
    const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };
    const down = await world.count(() => cluster.put(Node, node(7, owned(7), notReady)));
    expect(new Set(down.map((key) => key.split(' ')[1]?.split('/')[0]))).toEqual(new Set(['cloud-7']));
    expect(down).toContain('OpenStackControlPlane cloud-7/c');
    const moved = await world.count(() => cluster.put(Node, node(7, owned(7, 'other'))));
    expect(moved).toEqual(down);
  });

  test('nodes are kept without what nobody reads', () => {
    const kept = world.cache().get(Node, 'node-9');
    expect(Object.keys(kept?.['status'] as object)).toEqual(['conditions']);
    expect(kept?.['spec']).toEqual({});
  });

  const ready = (status: string, reason: string, message: string) => ({
    conditions: [{ type: 'Ready', status, reason, message, observedGeneration: 1 }],
  });
  test('what a database says of itself concerns the control plane alone; that it is Ready, its services', async () => {
    const says = (status: object) => cluster.put(MariaDB, { ...child('MariaDB', 3), status });
    await world.count(() => says(ready('False', 'NotAvailable', '0 of 1 pods')));
    const words = await world.count(() => {
      for (let i = 0; i < 10; i++) says(ready('False', 'NotAvailable', `pod said ${i}`));
    });
    expect(new Set(words)).toEqual(new Set(['MariaDB cloud-3/c-mariadb', 'OpenStackControlPlane cloud-3/c']));
    const done = await world.count(() => says(ready('True', 'Ready', '')));
    expect(new Set(done)).toEqual(
      new Set([
        'OpenStackControlPlane cloud-3/c',
        'MariaDB cloud-3/c-mariadb',
        ...stored.map((kind) => `${kind} cloud-3/c-${suffix(kind)}`),
      ]),
    );
  });

  test('a StorageClass concerns whose volumes are of it, or of the default one', async () => {
    const storage = (annotations: Record<string, string>): KubeObject => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast', annotations },
    });
    const came = await world.count(() => cluster.put(StorageClass, storage({})));
    const ofKinds = new Set(came.map((key) => key.split(' ')[0]));
    for (const kind of ['MariaDB', 'RabbitMQ', 'OVNNetwork', 'Glance', 'Swift']) expect(ofKinds).toContain(kind);
    for (const kind of ['Memcached', 'Keystone', 'Placement', 'Nova']) expect(ofKinds).not.toContain(kind);
    const named = { ...child('MariaDB', 5), spec: { storage: { storageClassName: 'slow' } } };
    await world.count(() => cluster.put(MariaDB, named));
    const changed = storage({ 'storageclass.kubernetes.io/is-default-class': 'true' });
    const marked = await world.count(() => cluster.put(StorageClass, changed));
    expect(came.filter((key) => !marked.includes(key))).toEqual(['MariaDB cloud-5/c-mariadb']);
    const relabelled = { ...changed, metadata: { ...changed.metadata, labels: { x: 'y' } } };
    expect(await world.count(() => cluster.put(StorageClass, relabelled))).toEqual([]);
    const growing = { ...relabelled, allowVolumeExpansion: true };
    expect(await world.count(() => cluster.put(StorageClass, growing))).toEqual(marked);
  });
});

describe('a free node', () => {
  const selector = (zone: string) => ({ nodeSelector: { zone } });
  const groups = (zone: string, replicas?: number) => ({
    nova: { nodeGroups: [{ name: 'default', ...selector(zone), ...(replicas === undefined ? {} : { replicas }) }] },
  });
  /** Every cloud is met but one; two take whatever comes, each in its zone. */
  const specOf = (i: number) => (i === 1 ? groups('a') : i === 2 ? groups('b') : groups('a', i === 3 ? 2 : 1));
  let cluster: Cluster;
  let world: Awaited<ReturnType<typeof counting>>;
  beforeEach(async () => {
    cluster = new Cluster();
    for (let i = 0; i < clouds; i++) {
      cluster.put(OpenStackControlPlane, controlPlane(i, specOf(i)));
      const labels = { ...owned(i), 'openstack.k8s.io/compute': 'true', zone: 'a' };
      if (i < nodes) cluster.put(Node, node(i, labels));
    }
    const known = (key: string) => {
      const i = Number(/\d+/.exec(key)?.[0]);
      // Clouds without a node are of no interest here.
      const steps = i < nodes ? composeControlPlane(controlPlane(i, specOf(i)), surroundingsOf()).steps : [];
      return nodeInterestOf({ steps });
    };
    const kind = OpenStackControlPlane;
    const reconcile = async () => {};
    world = await counting(cluster, [
      controller(kind, { indexes: indexesOf([]), watches: [nodeWatch(kind, known)], reconcile }),
    ]);
    return () => world.end();
  });

  test('concerns the clouds that want one like it', async () => {
    const came = await world.count(() => cluster.put(Node, node(1000, { zone: 'a' })));
    expect(came).toEqual(['OpenStackControlPlane cloud-1/c', 'OpenStackControlPlane cloud-3/c']);
    expect(await world.count(() => cluster.put(Node, node(1001, { zone: 'b' })))).toEqual([
      'OpenStackControlPlane cloud-2/c',
    ]);
    expect(await world.count(() => cluster.put(Node, node(1002, { zone: 'c' })))).toEqual([]);
  });

  test('that is not Ready concerns nobody', async () => {
    const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(await world.count(() => cluster.put(Node, node(1000, { zone: 'a' }, notReady)))).toEqual([]);
  });
});

test('a change of a Secret that thousands name concerns each of thousands that refer to them once', () => {
  const count = 2000;
  const stores = new Map(
    [MariaDB, Keystone].map((kind) => [kind.kind, new Store({ indexes: indexesOf(['databaseRef']) })] as const),
  );
  for (const [kind, store] of stores) {
    const all = Array.from({ length: count }, (_, index) => ({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind,
      metadata: { namespace: 'ns', name: `${index}`, uid: `${kind}-${index}`, resourceVersion: '1' },
      spec: kind === 'MariaDB' ? { rootSecretName: 's' } : index === 0 ? { databaseRef: { name: '7' } } : {},
    }));
    store.replace(all, '1');
  }
  const cache = { byIndex: ({ kind }: Kind, ...at: [string, string]) => stores.get(kind)?.byIndex(...at) };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'ns', name: 's' } } as StoredObject;
  const { map } = secretsOfReferences(Keystone, [['databaseRef', MariaDB]], undefined);
  expect([...(map?.(secret, cache as never) ?? [])]).toHaveLength(count);
});

test('labels of others on a node of the cloud concern who gives roles by them, and who keeps data on such nodes', () => {
  const claim = { verb: 'claim', labels: {}, selector: {} } as unknown as NodeClaim;
  const interest = (objects: readonly object[], asked = false) =>
    nodeInterestOf({ steps: [{ objects }] } as unknown as Parameters<typeof nodeInterestOf>[0], asked);
  const agent = { verb: 'apply', object: { kind: 'DaemonSet' } };
  const interests = {
    'ns/roles': interest([{ ...claim, role: 'storage' }]),
    'ns/data': interest([], true),
    'ns/groups': interest([claim]),
    'ns/agents': interest([agent], true),
  };
  const known = (key: string) => interests[key as keyof typeof interests];
  const { map, facts } = nodeLabelWatch(Node, known);
  const of = (labels: Record<string, string>) => ({ metadata: { name: 'n', labels } }) as unknown as StoredObject;
  const own = [...Object.keys(interests), 'ns/new'].map((key) => ({
    metadata: { namespace: 'ns', name: key.slice(3) },
  }));
  const cache = { byIndex: () => own } as unknown as CacheReader;
  expect([...(map?.(of({ [cloudLabel]: 'ns.c' }), cache) ?? [])].map(({ name }) => name)).toEqual(['roles', 'data']);
  expect([...(map?.(of({}), cache) ?? [])]).toEqual([]);
  expect(facts?.(of({ disks: 'yes' }))).not.toEqual(facts?.(of({})));
});
