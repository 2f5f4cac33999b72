import {
  type Client,
  ConfigMap,
  CustomResourceDefinition,
  connect,
  controller,
  Deployment,
  isApiError,
  type Kind,
  type KubeObject,
  noLog,
  type RunOptions,
  realClock,
  run,
  seededRandom,
  sleep,
  virtualClock,
} from '@openstack-operator/kube';
import { createSandbox } from '@openstack-operator/sandbox';
import { websiteCrd } from '../../packages/kube/example/crd.ts';
import { Website, websites } from '../../packages/kube/example/website.ts';
import { web } from '../../packages/sandbox/example/web.ts';
import { play } from './play.ts';
import type { Cluster } from './suite.ts';

/**
 * A contestant: the example operator of packages/kube, on a sandbox in virtual time, or, with a kubeconfig, on an API
 * server on which nothing runs Deployments; there a controller marks them as ready, as tests on envtest do.
 */
const [kubeconfig] = process.argv.slice(2);
const kinds: Readonly<Record<string, Kind>> = { Website, ConfigMap, Deployment };

const marks = controller(Deployment, {
  reconcile: async ({ object: { metadata, spec, status }, client }) => {
    const { generation = 0 } = metadata;
    const replicas = spec?.replicas ?? 1;
    if (status?.observedGeneration === generation) return;
    const ready = { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: generation };
    await client.patch(Deployment, metadata, 'merge', { status: ready }, { subresource: 'status' });
  },
});

function clusterOf(client: Client, pause: () => Promise<unknown>): Cluster {
  const at = (name: string) => ({ namespace: 'default', name });
  const kindOf = ({ kind }: Pick<KubeObject, 'kind'>) => kinds[kind] as Kind;
  return {
    create: (object) => client.create(kindOf(object), object),
    replace: (object) => client.replace(kindOf(object), object),
    patch: (kind, name, patch) => client.patch(kindOf({ kind }), at(name), 'merge', patch),
    remove: (kind, name) => client.delete(kindOf({ kind }), at(name)),
    read: async (kind, name) => {
      try {
        return await client.get(kindOf({ kind }), at(name));
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    pause,
  };
}

/** Resolves when the controllers work. */
function start(options: Pick<RunOptions, 'client' | 'controllers' | 'clock' | 'random'>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { signal } = new AbortController();
    run({ ...options, name: 'website-operator', log: noLog, signal, started: resolve }).catch(reject);
  });
}

if (kubeconfig === undefined) {
  const clock = virtualClock();
  const random = seededRandom(1);
  const sandbox = createSandbox({ clock, random, images: [web] });
  const client = sandbox.client();
  await client.create(CustomResourceDefinition, websiteCrd);
  const started = start({ client, controllers: [websites], clock, random });
  await clock.advance(1);
  await started;
  // Virtual time costs nothing: ten times as much at once.
  await play(clusterOf(client, () => clock.advance(100)));
} else {
  const { client } = await connect({ kubeconfig, env: {} });
  await start({ client, controllers: [websites, marks] });
  await play(clusterOf(client, () => sleep(realClock, 10)));
}
