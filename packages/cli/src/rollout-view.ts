import { realClock, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { rolloutRows, seconds, treeText } from './rollout-tree.ts';

/**
 * Shows how far a rollout is, whenever it is called: a tree on a terminal, plain lines elsewhere. `begun` and `now`:
 * milliseconds since the epoch, by the clock that the resources' timestamps come from.
 */
export function rolloutView(begun: number, now: () => number): Draw {
  return process.stdout.isTTY ? treeView(begun, now) : lineView(begun, now);
}

/** What a rollout that does not end is waiting for: one line for each resource that is not Ready. */
export function standstill(
  resources: readonly StoredObject[],
  { begun, patience }: { begun: number; patience: number },
): string {
  const open = rolloutRows(resources, begun).filter(({ state }) => state === 'working' || state === 'failed');
  const lines = open.map(({ title, text }) => `  ${title}: ${text}`);
  return lines.length === 0 ? '' : `not Ready within ${seconds(patience)}:\n${lines.join('\n')}`;
}

/** Draws the resources as they are now; `last`: without sparing the terminal. */
export type Draw = (resources: readonly StoredObject[], last?: boolean) => void;

/** A tree that is drawn over itself, at most ten times a second. */
function treeView(begun: number, now: () => number): Draw {
  let height = 0;
  let drawn = 0;
  return (resources, last = false) => {
    if (!last && realClock.now() - drawn < 100) return;
    drawn = realClock.now();
    const [controlPlane] = resources.filter(({ kind }) => kind === OpenStackControlPlane.kind);
    const phase = (controlPlane?.['status'] as { phase?: string } | undefined)?.phase ?? 'Pending';
    const title = `${controlPlane?.metadata.name ?? 'resources'}: ${phase}, ${seconds(now() - begun)}`;
    const lines = [title, ...treeText(rolloutRows(resources, begun), process.stdout.columns)];
    process.stdout.write(
      `${height === 0 ? '' : `\u001b[${height}A`}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`,
    );
    height = lines.length;
  };
}

/** One plain line for each thing that is new: for pipes and logs. */
function lineView(begun: number, now: () => number): Draw {
  const said = new Set<string>();
  return (resources) => {
    for (const { title, state, text } of rolloutRows(resources, begun)) {
      const line = `${title}: ${state === 'ready' ? 'Ready' : text}`;
      if (said.has(line) || state === 'waiting') continue;
      said.add(line);
      process.stdout.write(
        `${seconds(now() - begun).padStart(12)}  ${line.length > 200 ? `${line.slice(0, 199)}…` : line}\n`,
      );
    }
  };
}
