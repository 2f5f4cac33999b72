import {
  connect,
  controller,
  DaemonSet,
  Deployment,
  Job,
  type Kind,
  Node,
  noLog,
  on,
  PersistentVolumeClaim,
  Pod,
  realClock,
  realRandom,
  run,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';

/**
 * A process of its own: says of every workload, Job and claim at once that it is done, in the place of controllers,
 * scheduler and kubelet. What is left of a rollout is what operator and API server take.
 */
const [kubeconfig = ''] = process.argv.slice(2);

type Status = Readonly<Record<string, unknown>>;

/** A controller that writes a kind's status once for each generation. */
const instantly = (kind: Kind, statusOf: (object: StoredObject) => Status) =>
  controller(kind, {
    concurrency: 16,
    async reconcile({ object, client }) {
      const { generation = 1, namespace = '', name } = object.metadata;
      const told = (object['status'] ?? {}) as Status;
      const isDone =
        told['observedGeneration'] === generation ||
        told['completionTime'] ||
        told['phase'] === 'Bound' ||
        told['phase'] === 'Running';
      if (isDone) return;
      await client.patch(kind, { namespace, name }, 'merge', { status: statusOf(object) }, { subresource: 'status' });
    },
  });

const replicated = ({ metadata: { generation: observedGeneration }, ...object }: StoredObject): Status => {
  const { replicas = 1 } = object['spec'] as { replicas?: number };
  return {
    observedGeneration,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    updatedReplicas: replicas,
  };
};

const onEveryNode = ({ metadata: { generation: observedGeneration } }: StoredObject): Status => ({
  observedGeneration,
  currentNumberScheduled: 1,
  desiredNumberScheduled: 1,
  numberAvailable: 1,
  numberMisscheduled: 0,
  numberReady: 1,
  updatedNumberScheduled: 1,
});

const running = ({ metadata: { creationTimestamp: at } }: StoredObject): Status => ({
  phase: 'Running',
  startTime: at,
  conditions: [{ type: 'Ready', status: 'True', lastProbeTime: at, lastTransitionTime: at }],
});

/** Makes a pod of a DaemonSet on every node that its selector takes: the operator looks at those of its node agents. */
const pods = controller(DaemonSet, {
  name: 'pods',
  owns: [Pod],
  watches: [on(Node, { map: (_node, cache) => cache.list(DaemonSet).map(({ metadata }) => metadata) })],
  async reconcile({ object: daemonSet, cache, create }) {
    const { template } = daemonSet.spec as unknown as { template: Pick<Pod, 'metadata' | 'spec'> };
    const selector = Object.entries(template.spec?.nodeSelector ?? {});
    if (selector.length === 0) return;
    for (const { metadata } of cache.list(Node)) {
      if (!selector.every(([key, value]) => metadata.labels?.[key] === value)) continue;
      const name = `${daemonSet.metadata.name}-${metadata.name}`;
      const labels = template.metadata?.labels ?? {};
      const spec = { containers: [], ...template.spec, nodeName: metadata.name };
      await create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec });
    }
  },
});

const succeeded = ({ metadata: { creationTimestamp: at } }: StoredObject): Status => ({
  startTime: at,
  completionTime: at,
  succeeded: 1,
  conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: at,
    lastTransitionTime: at,
  })),
});

const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('the measurement is over')));
await run({
  name: 'node',
  controllers: [
    instantly(Deployment, replicated),
    instantly(StatefulSet, replicated),
    instantly(DaemonSet, onEveryNode),
    instantly(Job, succeeded),
    instantly(PersistentVolumeClaim, () => ({ phase: 'Bound' })),
    instantly(Pod, running),
    pods,
  ],
  client,
  clock: realClock,
  random: realRandom,
  log: noLog,
  signal: stop.signal,
  started: () => process.stdout.write('"ready"\n'),
});
await client.close();
