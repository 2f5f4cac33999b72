import {
  type Clock,
  CustomResourceDefinition,
  isApiError,
  type KubeObject,
  type Log,
  Namespace,
  type Random,
  type Runtime,
  type StoredObject,
} from '@openstack-operator/kube';
import { crd, kindOf, kinds } from '@openstack-operator/openstack';
import { runOperator } from '@openstack-operator/operator';
import { openstackImages } from '@openstack-operator/processes';
import { createSandbox, type Sandbox } from '@openstack-operator/sandbox';
import { operatorImage } from './operator-image.ts';

/** Namespace of the operator, on the sandbox as in `config/default`. */
export const operatorNamespace = 'openstack-operator-system';

/** How a rehearsal is set up. */
export interface RehearsalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Names of the sandbox's nodes; default one. */
  readonly nodes?: readonly string[];
}

/** A sandbox with our CRDs in it, and an operator that can be started and stopped. */
export interface Rehearsal {
  readonly sandbox: Sandbox;
  /** Starts an operator; resolves when its controllers work. */
  startOperator(): Promise<RunningOperator>;
  /** Creates an object, and its namespace where that is missing. */
  create(object: KubeObject): Promise<StoredObject>;
  stop(): Promise<void>;
}

/** An operator in this process. */
export interface RunningOperator {
  readonly runtime: Runtime;
  /** Rejects when the operator fails. */
  readonly ended: Promise<void>;
  /** Ends it gracefully, as SIGTERM does. */
  stop(): Promise<void>;
}

/** Brings up a sandbox whose nodes know OpenStack's images, and installs our CRDs. */
export async function createRehearsal({
  clock,
  random,
  log,
  nodes = ['node-1'],
}: RehearsalOptions): Promise<Rehearsal> {
  const sandbox = createSandbox({
    clock,
    random,
    images: [...openstackImages(), operatorImage],
    nodes: nodes.map((name) => ({ name })),
  });
  const client = sandbox.client();
  for (const kind of kinds)
    await client.create(CustomResourceDefinition, crd(kind) as unknown as CustomResourceDefinition);
  const ensureNamespace = async (name: string) => {
    try {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    } catch (error) {
      if (!isApiError(error, 409)) throw error;
    }
  };
  await ensureNamespace(operatorNamespace);

  return {
    sandbox,
    async startOperator() {
      const stop = new AbortController();
      const started = Promise.withResolvers<Runtime>();
      const ended = runOperator({
        client: sandbox.client(),
        clock,
        random,
        log,
        signal: stop.signal,
        namespace: operatorNamespace,
        started: started.resolve,
      });
      ended.catch(started.reject);
      const runtime = await started.promise;
      return {
        runtime,
        ended,
        async stop() {
          stop.abort(new Error('stopped'));
          await ended;
        },
      };
    },
    async create(object) {
      const { namespace = 'default' } = object.metadata;
      await ensureNamespace(namespace);
      return await client.create(kindOf(object), { ...object, metadata: { ...object.metadata, namespace } });
    },
    stop: () => sandbox.stop(),
  };
}

/** Every resource of ours that the cache knows. */
export function resourcesIn({ cache }: Runtime): StoredObject[] {
  return kinds.flatMap((kind) => cache.list(kind));
}
