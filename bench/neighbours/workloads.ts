import {
  type Client,
  ConfigMap,
  Deployment,
  type Kind,
  type KubeObject,
  Pod,
  ReplicaSet,
  realClock,
  StatefulSet,
  sleep,
} from '@openstack-operator/kube';
import { change, createMany, managed, manifest, nameOf, neighbour } from './objects.ts';

/** A selector that no node has. */
export const nodeSelector = { no: 'where' };

const containers = [{ name: 'main', image: 'example.org/main:1' }];
/** Milliseconds between two looks for a workload. */
const LOOK = 200;
/** Seconds in which the operator has made it. */
const PATIENCE = 60;

/** Pods with the operator's label that no node can take. */
export function createPendingPods(client: Client, count: number): Promise<void> {
  return createMany(client, Pod, count, () => ({ spec: { nodeSelector, containers } }), { labels: managed });
}

/** A ReplicaSet without pods whose template names the ConfigMap of the same index. */
export function replicaSet(index: number, labels: Readonly<Record<string, string>>): KubeObject {
  const volumes = [{ name: 'config', configMap: { name: nameOf(ConfigMap, index) } }];
  const matchLabels = { app: 'main' };
  const template = { metadata: { labels: matchLabels }, spec: { containers, volumes } };
  const spec = { replicas: 0, selector: { matchLabels }, template };
  return manifest(ReplicaSet, nameOf(ReplicaSet, index), { spec }, { labels });
}

/** Adds labels to the pod templates of all that the operator has made here. @throws Error when it makes nothing */
export async function labelTemplates(client: Client, labels: Readonly<Record<string, string>>): Promise<void> {
  const workloads = await madeWorkloads(client);
  for (const [kind, name] of workloads)
    await change(client, kind, name, { spec: { template: { metadata: { labels } } } });
}

async function madeWorkloads(client: Client): Promise<(readonly [Kind, string])[]> {
  const end = performance.now() + PATIENCE * 1000;
  while (performance.now() < end) {
    const found: (readonly [Kind, string])[] = [];
    for (const kind of [Deployment, StatefulSet] as Kind[])
      for (const { metadata } of (await client.list(kind, { namespace: neighbour })).items)
        found.push([kind, metadata.name]);
    if (found.length > 0) return found;
    await sleep(realClock, LOOK);
  }
  throw new Error(`the operator has made no Deployment or StatefulSet in ${neighbour} within ${PATIENCE} s`);
}
