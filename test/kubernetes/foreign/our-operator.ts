import { type CustomResourceDefinition, createLog, realClock, realRandom } from '@openstack-operator/kube';
import { crd, kinds } from '@openstack-operator/openstack';
import { runOperator } from '@openstack-operator/operator';
import { type Cluster, serveDefinitions } from './cluster.ts';

/** Our own operator, with its definitions, as an administrator, in some namespaces. */
export async function startOurOperator(cluster: Cluster, namespaces: readonly string[]) {
  await serveDefinitions(
    cluster,
    kinds.map((kind) => crd(kind) as unknown as CustomResourceDefinition),
  );
  const stop = new AbortController();
  const started = Promise.withResolvers<unknown>();
  const ended = runOperator({
    client: cluster.client,
    clock: realClock,
    random: realRandom,
    log: createLog({ clock: realClock, write: (line) => process.stderr.write(line), level: 'error' }),
    signal: stop.signal,
    namespace: 'default',
    namespaces,
    started: started.resolve,
  });
  ended.catch(started.reject);
  await started.promise;
  return {
    async stop() {
      stop.abort(new Error('stopped'));
      await ended;
    },
  };
}
