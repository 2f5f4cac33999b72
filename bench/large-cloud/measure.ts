import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect, Namespace, realClock } from '@openstack-operator/kube';
import { operatorFlags, startChild } from '../child.ts';
import type { Usage } from '../many-clouds/operator.ts';
import { ask, rest } from '../many-clouds/rollout.ts';
import { type Cloud, scenarios, startingWith } from './scenarios.ts';
import type { Asked, Largest } from './server.ts';

/** What a scenario took of a cloud of that size. */
export interface Measured {
  readonly nodes: number;
  readonly scenario: string;
  /** Nodes that it was about. */
  readonly changed: number;
  /** From its beginning until the cloud was as it should be, of operator and Kubernetes together. */
  readonly seconds: number;
  /** The operator's, until it had nothing to do any more. */
  readonly usage: Usage;
}

/** A cloud with so many nodes, and what lay in the API server in the end. */
export interface Size {
  readonly scenarios: readonly Measured[];
  readonly largest: Largest;
}

/** How it is measured. */
export interface Terms {
  /** For files that nobody keeps. */
  readonly folder: string;
  /** The operator's bundle. */
  readonly program: string;
  /** MiB of the operator's heap. */
  readonly heap: number;
  /** Flags of Node for the operator, such as `--cpu-prof`. */
  readonly flags: readonly string[];
}

/** Plays all scenarios on a cloud of so many nodes, one after the other. @throws Error when one does not come to its end */
export async function measure(nodes: number, terms: Terms, told: (text: string) => void): Promise<Size> {
  const { folder, program, heap, flags } = terms;
  const kubeconfig = join(folder, `kubeconfig-${nodes}`);
  const server = await startChild(join(import.meta.dirname, 'server.ts'), [kubeconfig], ['--max-old-space-size=8192']);
  const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
  const play = async <T = unknown>(asked: Asked) => (await answerOf(server.process, asked)) as T;
  const cloud: Cloud = { client, nodes, play };
  const measured: Measured[] = [];
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } });
  await play({ act: 'add', names: startingWith(nodes) });
  const operator = await startChild(
    program,
    [kubeconfig],
    [...operatorFlags, `--max-old-space-size=${heap}`, ...flags],
  );
  try {
    await rest(operator.process);
    for (const { name, changed, run } of scenarios) {
      const count = changed(nodes);
      if (count === 0) continue;
      told(name);
      await ask(operator.process);
      const begun = realClock.monotonic();
      await Promise.race([run(cloud, count), operator.died, server.died]);
      const seconds = (realClock.monotonic() - begun) / 1000;
      measured.push({ nodes, scenario: name, changed: count, seconds, usage: await rest(operator.process) });
    }
    const largest = await play<Largest>({ act: 'largest' });
    operator.process.send('stop');
    await once(operator.process, 'exit');
    return { scenarios: measured, largest };
  } finally {
    await client.close();
    for (const { process } of [operator, server]) process.kill();
  }
}

async function answerOf(process: ChildProcess, asked: Asked): Promise<unknown> {
  const answer = once(process, 'message');
  process.send(asked);
  return ((await answer) as [unknown])[0];
}
