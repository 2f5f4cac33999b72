import { writeFileSync } from 'node:fs';
import { createRehearsal } from '@openstack-operator/cli';
import { CustomResourceDefinition, noLog, realClock, realRandom, type StoredObject } from '@openstack-operator/kube';
import { HollowNodes } from '../hollow-nodes.ts';

/** What is asked of the embedded Kubernetes, and done when it answers. */
export type Asked =
  | { readonly act: 'add' | 'silence' | 'restore'; readonly names: readonly string[] }
  | { readonly act: 'report' }
  | { readonly act: 'largest' }
  | { readonly act: 'without control plane' };

/** The largest object of the cloud, and the largest list of environment variables of a container. */
export interface Largest {
  /** Kind and name. */
  readonly object: string;
  /** As JSON. */
  readonly bytes: number;
  readonly environment: number;
}

/** A process of its own: an embedded Kubernetes of hollow nodes, over sockets. Says `ready` when it serves. */
const [kubeconfig = ''] = process.argv.slice(2);
const rehearsal = await createRehearsal({ clock: realClock, random: realRandom, log: noLog, nodes: [] });
const { sandbox } = rehearsal;
const nodes = new HollowNodes(sandbox, realClock);
const listening = await sandbox.listen();
writeFileSync(kubeconfig, await listening.kubeconfig(), { mode: 0o600 });

async function act(asked: Asked): Promise<unknown> {
  switch (asked.act) {
    case 'add':
      return await nodes.add(asked.names);
    case 'silence':
      return await nodes.silence(asked.names);
    case 'restore':
      return await nodes.restore(asked.names);
    case 'report':
      return await nodes.report();
    case 'without control plane':
      return nodes.withoutControlPlane();
    case 'largest':
      return largest(rehearsal.objects());
  }
}

function largest(all: readonly StoredObject[]): Largest {
  const [first] = all
    .filter(({ kind }) => kind !== CustomResourceDefinition.kind)
    .map((object) => ({ object: `${object.kind} ${object.metadata.name}`, bytes: bytesOf(object) }))
    .sort((one, other) => other.bytes - one.bytes);
  const environments = all.flatMap(({ kind, spec }) =>
    kind === 'Pod' ? (spec as { containers: readonly { env?: unknown }[] }).containers.map(({ env = [] }) => env) : [],
  );
  return { object: '', bytes: 0, ...first, environment: Math.max(0, ...environments.map(bytesOf)) };
}

/** As JSON. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

process.on('message', (asked: Asked) => {
  void act(asked).then((answer) => process.send?.(answer ?? 'done'));
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
