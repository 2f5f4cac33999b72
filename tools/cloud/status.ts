import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, Pod, realClock } from '@openstack-operator/kube';
import { conditionOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import type { Place } from './place.ts';

/** Says what runs. Exit code 0: the control plane is Ready, 1: it is not, 3: no cloud is here. */
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
  const resources = (await Promise.all(kinds.map(async (kind) => (await client.list(kind)).items))).flat();
  const pods = (await client.list(Pod)).items;
  const ready = resources.some(
    (one) => one.kind === OpenStackControlPlane.kind && conditionOf(one, 'Ready')?.status === 'True',
  );
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ runs: true, ready, server, pods: pods.length, directory: place.directory })}\n`,
    );
    return ready ? 0 : 1;
  }
  process.stdout.write(`Kubernetes at ${server}, ${pods.length} pods, ${memory()} of memory in use on the machine\n`);
  for (const resource of resources) {
    const condition = conditionOf(resource, 'Ready');
    const text = condition?.status === 'True' ? 'Ready' : (condition?.message ?? 'has not reported yet');
    process.stdout.write(`  ${resource.kind.padEnd(22)} ${resource.metadata.name.padEnd(20)} ${text}\n`);
  }
  return ready ? 0 : 1;
}

function memory(): string {
  const [, line = ''] = execFileSync('free', ['--mebi'], { encoding: 'utf8' }).split('\n');
  return `${line.split(/\s+/)[2] ?? '?'} MiB`;
}
