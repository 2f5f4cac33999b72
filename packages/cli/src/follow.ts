import {
  Cache,
  ConnectionError,
  connect,
  isApiError,
  type KubeObject,
  noLog,
  type ObjectRef,
  parseTimestamp,
  realClock,
  realRandom,
} from '@openstack-operator/kube';
import { conditionOf, isStale, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { CommandError } from './command-error.ts';
import { seconds } from './rollout-tree.ts';
import { rolloutView, standstill } from './rollout-view.ts';

/** `kubectl openstack follow`: shows the rollout of a control plane in a cluster until it is Ready as it is now. */
export async function followCommand(
  name: string,
  options: { kubeconfig?: string; namespace?: string; timeout: string },
): Promise<void> {
  const patience = Number(options.timeout) * 1000;
  if (!(patience > 0)) throw new CommandError(`--timeout ${options.timeout}: expected seconds, such as 600`, 2);
  const { kubeconfig } = options;
  const { client, ...found } = await connect({
    env: process.env,
    clock: realClock,
    userAgent: 'kubectl-openstack',
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  const ref: ObjectRef = { namespace: options.namespace ?? found.namespace, name };
  const controlPlane = await client.get(OpenStackControlPlane, ref).catch((error: unknown) => {
    if (error instanceof ConnectionError) {
      throw new CommandError(`${error.message}; check that the cluster runs, or name another one with --kubeconfig`);
    }
    if (!isApiError(error, 404)) throw error;
    throw new CommandError(
      `OpenStackControlPlane ${ref.namespace}/${name} does not exist; kubectl get oscp -A lists them`,
      1,
    );
  });
  const begun = parseTimestamp(controlPlane.metadata.creationTimestamp ?? '');
  const cache = new Cache({
    client,
    clock: realClock,
    random: realRandom,
    log: noLog,
    namespaces: [ref.namespace ?? ''],
  });
  const draw = rolloutView(begun, () => realClock.now());
  const resources = () => kinds.flatMap((kind) => cache.list(kind)).filter((one) => belongsTo(one, name));
  // A child that is not listed yet would look like one that is not there.
  const known = () => cache.unsynced().every(({ error }) => error !== undefined);
  const ended = new Promise<'ready' | 'late' | 'deleted'>((resolve) => {
    realClock.after(patience, () => resolve('late'), { ref: false });
    const look = () => {
      if (!known()) return;
      draw(resources());
      const live = cache.get(OpenStackControlPlane, ref);
      const ready = live && conditionOf(live, 'Ready');
      // Each kind has a watch of its own: what a child said before may arrive after what the control plane says.
      const all = resources().every((one) => conditionOf(one, 'Ready')?.status === 'True');
      if (all && live && ready?.status === 'True' && !isStale(ready, live)) resolve('ready');
      if (live === undefined && cache.synced(OpenStackControlPlane)) resolve('deleted');
    };
    for (const kind of kinds) {
      cache.watch(kind);
      cache.onChange(kind, look);
      cache.onState(kind, look);
    }
  });
  cache.start();
  const end = await ended;
  draw(resources(), true);
  await cache.stop();
  if (end === 'deleted') throw new CommandError(`OpenStackControlPlane ${ref.namespace}/${name} was deleted`, 1);
  if (end === 'late') throw new CommandError(standstill(resources(), { begun, patience }) || `${name} is not Ready`, 1);
  process.stdout.write(`Ready ${seconds(realClock.now() - begun)} after it was created.\n`);
}

/** The control plane itself and its children. */
function belongsTo({ kind, metadata }: KubeObject, name: string): boolean {
  if (kind === OpenStackControlPlane.kind) return metadata.name === name;
  return (
    metadata.ownerReferences?.some((owner) => owner.kind === OpenStackControlPlane.kind && owner.name === name) ?? false
  );
}
