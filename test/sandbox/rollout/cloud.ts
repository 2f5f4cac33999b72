import {
  createRehearsal,
  minimalControlPlane,
  type OperatorLife,
  type Rehearsal,
  type RehearsalOptions,
  type RunningOperator,
} from '@openstack-operator/cli';
import {
  type Condition,
  createLog,
  type Kind,
  type KubeObject,
  type StoredObject,
  seededRandom,
  type VirtualClock,
  virtualClock,
} from '@openstack-operator/kube';
import { children, conditionOf, isStale, kinds } from '@openstack-operator/openstack';

/** A cloud that comes up in virtual time. */
export interface Cloud {
  readonly clock: VirtualClock;
  readonly rehearsal: Rehearsal;
  /** Lets virtual time pass until a promise is settled. */
  settle<T>(promise: Promise<T>): Promise<T>;
  /** Lets virtual time pass until the condition holds; fails with what is awaited. */
  until(holds: () => boolean, minutes?: number): Promise<void>;
  /** An object as the API server has it now. */
  get(kind: string, name: string, namespace?: string): StoredObject | undefined;
  /** All objects of a kind. */
  list(kind: string): StoredObject[];
  startOperator(life?: OperatorLife): Promise<RunningOperator>;
  isReady(kind: string, name: string): boolean;
  /** A condition of a resource of ours (default: `Ready`). */
  condition(kind: Kind, name: string, type?: string): Condition | undefined;
  /** Changes an object by a merge patch, and lets the change arrive. */
  change(kind: Kind, name: string, patch: object): Promise<void>;
  /** Deletes an object, and lets that arrive. */
  remove(kind: Kind, name: string): Promise<void>;
  /** Lets virtual time pass until the cloud is Ready at its present generation. */
  ready(minutes?: number): Promise<void>;
}

/** A sandbox with our CRDs, in virtual time, repeatable by its seed. */
export async function createCloud({
  seed = 1,
  ...options
}: Pick<RehearsalOptions, 'nodes' | 'capacity' | 'files' | 'images' | 'resolver' | 'wire' | 'server'> & {
  seed?: number;
} = {}): Promise<Cloud> {
  const clock = virtualClock();
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    await clock.run(() => settled);
    return await promise;
  };
  const errors: string[] = [];
  const log = createLog({ clock, write: (line) => errors.push(line.slice(0, 2000)), level: 'error' });
  const rehearsal = await settle(createRehearsal({ clock, random: seededRandom(seed), log, ...options }));
  const { registry, store } = rehearsal.sandbox.api;
  /** Asked at every quiet moment: of the one kind only. */
  const list = (kind: string) =>
    [...new Set(registry.all().flatMap(({ id, type }) => (type.kind.kind === kind ? [id] : [])))].flatMap((id) =>
      store.list(id),
    );
  const get = (kind: string, name: string, namespace = 'openstack') =>
    list(kind).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? namespace) === namespace);
  const isReady = (kind: string, name: string) => {
    const object = get(kind, name);
    return object !== undefined && conditionOf(object, 'Ready')?.status === 'True';
  };
  const arrived = 2000;
  const until = async (holds: () => boolean, minutes = 30) => {
    try {
      await clock.run(holds, { limit: minutes * 60_000 });
    } catch (error) {
      throw new Error([(error as Error).message, ...awaited(list), ...errors.slice(-2)].join('\n'), { cause: error });
    }
  };
  return {
    clock,
    rehearsal,
    settle,
    get,
    list,
    isReady,
    startOperator: (life) => settle(rehearsal.startOperator(life)),
    until,
    condition(kind, name, type = 'Ready') {
      const object = get(kind.kind, name);
      return object && conditionOf(object, type);
    },
    async change(kind, name, patch) {
      await settle(rehearsal.sandbox.client().patch(kind, { namespace: 'openstack', name }, 'merge', patch));
      await clock.advance(arrived);
    },
    async remove(kind, name) {
      await settle(rehearsal.sandbox.client().delete(kind, { namespace: 'openstack', name }));
      await clock.advance(arrived);
    },
    ready: (minutes) =>
      until(() => {
        const object = get('OpenStackControlPlane', 'my-cloud');
        const ready = object && conditionOf(object, 'Ready');
        return object !== undefined && ready?.status === 'True' && !isStale(ready, object);
      }, minutes),
  };
}

/** What every resource of ours waits for: the first thing that one wants to know when a rollout stands still. */
function awaited(list: (kind: string) => StoredObject[]): string[] {
  return kinds
    .flatMap(({ kind }) => list(kind))
    .map((object) => {
      const ready = conditionOf(object, 'Ready');
      return `  ${object.kind} ${object.metadata.name}: ${ready?.status === 'True' ? 'Ready' : (ready?.message ?? 'no status')}`;
    });
}

/** Whether a Job or pod is no run of a schedule: these come and go with the time of day. */
export function isLasting({ metadata }: StoredObject): boolean {
  return !/-(?:records-audit|db-archive|db-purge)-[0-9]+/.test(metadata.name);
}

const ofNamespace = ['EndpointSlice', 'Event', 'ServiceAccount'];

/** What is left in the namespace, beside what Kubernetes itself keeps there, and the key that all its clouds share. */
export function left(cloud: Cloud): string[] {
  return cloud.rehearsal
    .objects()
    .filter(({ kind, metadata }) => metadata.namespace === 'openstack' && !ofNamespace.includes(kind))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => !['ConfigMap kube-root-ca.crt', 'Secret openstack-digest-key'].includes(name))
    .sort();
}

/** Whether an object's condition Ready is True: a pod's, a node's. */
export function isReady(object: StoredObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

/** The operator as somebody whom faults tell from the tests' own clients. */
export const asOperator: OperatorLife = { user: { name: 'operator', groups: ['system:masters'] } };

/** The minimal cloud, with changes. */
export function controlPlane(spec: Record<string, unknown> = {}, name = 'my-cloud'): KubeObject {
  return {
    ...minimalControlPlane,
    metadata: { ...minimalControlPlane.metadata, name },
    spec: { ...(minimalControlPlane['spec'] as object), ...spec },
  };
}

/** Brings a cloud to Ready. */
export async function readyCloud(
  options: Parameters<typeof createCloud>[0] & { spec?: Record<string, unknown>; life?: OperatorLife } = {},
) {
  const cloud = await createCloud(options);
  const operator = await cloud.startOperator(options.life);
  await cloud.settle(cloud.rehearsal.create(controlPlane(options.spec)));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  return { cloud, operator };
}

/** A patch that lets services be disabled, or deleted, with what users keep in them. */
export const withResources = { metadata: { annotations: { 'openstack.k8s.io/delete-with-resources': 'true' } } };

/** A control plane's spec in which no other children are enabled. */
export const only = (...fields: string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    children.flatMap(({ field }) => (fields.includes(field) ? [] : ([[field, { enabled: false }]] as const))),
  );

/** Only database, cache and Keystone: enough to show what the engine does, in a tenth of the time. */
export const identityOnly = only('mariadb', 'memcached', 'keystone');

/** A Ceph cluster whose pools nobody names: nothing is asked of it. */
export const cephStorage = { external: { monitorHosts: '10.0.0.11', keyringSecretName: 'ceph-keyrings' } };

/** Block storage that needs nothing of users: a backend without a Secret. */
export const blockStorage = {
  backends: [
    {
      name: 'share',
      type: 'custom',
      rootHelpers: true,
      config: {
        'cinder.conf': {
          share: {
            volume_driver: 'cinder.volume.drivers.nfs.NfsDriver',
            nas_host: '10.0.0.20',
            nas_share_path: '/volumes',
          },
        },
      },
    },
  ],
};

/** Shared file systems that need nothing of users: a backend without a Secret. */
export const fileStorage = {
  backends: [
    {
      name: 'filer',
      type: 'custom',
      config: {
        'manila.conf': {
          filer: {
            share_driver: 'manila.share.drivers.generic.GenericShareDriver',
            service_instance_user: 'manila',
            service_instance_name_or_id: 'filer',
          },
        },
      },
    },
  ],
};

/** The network alone: it has four node agents. */
export const networkOnly = { ...only('ovnNetwork'), ovnNetwork: { nodeGroups: [{ name: 'chassis' }] } };

/** Neutron on that network, and what it needs: no hypervisors. */
export const networking = {
  ...only('mariadb', 'rabbitmq', 'memcached', 'keystone', 'ovnNetwork', 'neutron'),
  ovnNetwork: networkOnly.ovnNetwork,
};

/** The monitors that a service's processes, or the check, are told of. */
export function monitorsOf(cloud: Cloud, name: string): string[] {
  const texts = ['Secret', 'ConfigMap'].flatMap((kind) =>
    cloud.list(kind).filter(({ metadata }) => metadata.name.startsWith(name)),
  );
  const files = texts.flatMap(({ kind, data = {} }) =>
    Object.values(data as Record<string, string>).map((text) =>
      kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text,
    ),
  );
  return [
    ...new Set(files.flatMap((text) => [...text.matchAll(/^mon_host = (.*)$/gm)].map(([, hosts = '']) => hosts))),
  ];
}
