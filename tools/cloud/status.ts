import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { type Client, ConnectionError, connect, isApiError, type Kind, Pod, realClock } from '@openstack-operator/kube';
import { conditionOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import type { Place } from './place.ts';
import { availableMemory } from './preconditions.ts';
import { StepError } from './step.ts';

/**
 * Says what runs. Exit code 0: the control plane is Ready, 1: it is not, 3: no cloud is here.
 * @throws StepError when its Kubernetes does not answer
 */
export async function status(place: Place, { json }: { json: boolean }): Promise<number> {
  if (!existsSync(place.kubeconfig)) {
    process.stdout.write(
      json ? `${JSON.stringify({ runs: false })}\n` : 'No cloud runs here: make cloud brings one up.\n',
    );
    return 3;
  }
  const { client, server } = await connect({
    kubeconfig: place.kubeconfig,
    env: process.env,
    clock: realClock,
    requestTimeout: 5000,
  });
  const { resources, pods } = await read(client).catch((error: unknown) => {
    if (!(error instanceof ConnectionError)) throw error;
    throw new StepError(
      `The cloud's Kubernetes does not answer: ${error.message}\nmake cloud-down removes what is left of it.`,
    );
  });
  const ready = resources.some(
    (one) => one.kind === OpenStackControlPlane.kind && conditionOf(one, 'Ready')?.status === 'True',
  );
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ runs: true, ready, server, pods: pods.length, directory: place.directory })}\n`,
    );
    return ready ? 0 : 1;
  }
  process.stdout.write(
    `Kubernetes at ${server}, ${pods.length} pods, ${Math.round((totalmem() - availableMemory()) / 2 ** 20)} MiB of memory in use on the machine\n`,
  );
  for (const resource of resources) {
    const condition = conditionOf(resource, 'Ready');
    const text = condition?.status === 'True' ? 'Ready' : (condition?.message ?? 'has not reported yet');
    process.stdout.write(`  ${resource.kind.padEnd(22)} ${resource.metadata.name.padEnd(20)} ${text}\n`);
  }
  return ready ? 0 : 1;
}

/** What the cluster has of ours, and its pods: while it comes up our kinds are not known there yet. */
async function read(client: Client) {
  const list = async (kind: Kind) => {
    const { items } = await client.list(kind).catch((error: unknown) => {
      if (isApiError(error, 404)) return { items: [] };
      throw error;
    });
    return items;
  };
  return { resources: (await Promise.all(kinds.map(list))).flat(), pods: (await client.list(Pod)).items };
}
