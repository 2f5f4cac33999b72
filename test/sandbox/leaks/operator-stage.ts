import { operatorNamespace } from '@openstack-operator/cli';
import {
  createClient,
  createMetrics,
  Namespace,
  noLog,
  type StoredObject,
  seededRandom,
} from '@openstack-operator/kube';
import { conditionOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { runOperator } from '@openstack-operator/operator';
import { Registry } from 'prom-client';
import { controlPlane, createCloud } from '../rollout/cloud.ts';
import type { Stage } from './stage.ts';

/** Clouds that come and go on one operator and one Kubernetes, each under a name of its own. */
export async function operatorStage(spec: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  const cloud = await createCloud();
  const { clock, rehearsal } = cloud;
  const { sandbox } = rehearsal;
  const { store } = sandbox.api;
  const registry = new Registry();
  const stop = new AbortController();
  const started = Promise.withResolvers<unknown>();
  const ended = runOperator({
    client: createClient({ transport: sandbox.transport(), clock, userAgent: 'openstack-operator' }),
    clock,
    random: seededRandom(1),
    log: noLog,
    signal: stop.signal,
    namespace: operatorNamespace,
    identity: 'leaks',
    metrics: createMetrics(registry),
    started: started.resolve,
  });
  ended.catch(started.reject);
  await cloud.settle(started.promise);

  const registries = [...new Set(sandbox.api.registry.all().map(({ id }) => id))];
  return {
    async passes() {
      const counted = await registry.getSingleMetric('controller_runtime_reconcile_total')?.get();
      return (counted?.values ?? []).reduce((sum, { value }) => sum + value, 0);
    },
    async cycle(first) {
      const name = `cloud-${first}`;
      const resource = controlPlane(spec);
      await cloud.settle(rehearsal.create({ ...resource, metadata: { name, namespace: name } }));
      await cloud.until(() => isReady(store.get(OpenStackControlPlane, `${name}/${name}`)));
      const made = registries.flatMap((id) => store.list(id, name)).length;
      await cloud.settle(sandbox.client().delete(OpenStackControlPlane, { namespace: name, name }));
      await cloud.until(() => kinds.every((kind) => store.list(kind).length === 0));
      // What outlives a cloud on purpose: volumes, and Secrets that were generated.
      await cloud.settle(sandbox.client().delete(Namespace, { name }));
      await cloud.until(() => store.get(Namespace, name) === undefined);
      return made;
    },
    async rest() {
      await clock.advance(70 * 60_000);
      store.compact();
    },
    async stop() {
      stop.abort(new Error('the stage ends'));
      await cloud.settle(ended);
      rehearsal.stop();
    },
  };
}

function isReady(object: StoredObject | undefined): boolean {
  return object !== undefined && conditionOf(object, 'Ready')?.status === 'True';
}
