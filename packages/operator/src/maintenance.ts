import { Job, type KubeObject, Pod, type StoredObject } from '@openstack-operator/kube';
import {
  annotations,
  type ClaimedNode,
  type Composition,
  eventOf,
  linesLeftBy,
  type NodeFacts,
  ownershipOf,
} from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/** How far the maintenance of a node is, as the status has it. */
export type Maintenance = NonNullable<ClaimedNode['maintenance']>;

/** The reason of a node that is in maintenance as it is cordoned. */
const cordoned = 'cordoned';

/** What compose may know of the maintenance of a node; `recorded`: the status has it; `onCordon`: a cordon begins one. */
export function maintenanceFacts(
  node: StoredObject,
  { recorded, onCordon }: { readonly recorded: boolean; readonly onCordon: boolean },
): Pick<NodeFacts, 'maintenance'> {
  const { unschedulable = false } = (node['spec'] ?? {}) as { unschedulable?: boolean };
  const reason =
    node.metadata.annotations?.[annotations.maintenance] ?? (onCordon && unschedulable ? cordoned : undefined);
  if (reason !== undefined) return { maintenance: { reason } };
  return recorded ? { maintenance: {} } : {};
}

/** What the program has left of a host, on a line of its own. */
const told = /^(\S+): (emptied|occupied|returned)(?:: (.*))?$/u;

/** The Job of nodes in maintenance, that of nodes that are gone, and the inputs with which Jobs have run to their end. */
export interface Maintaining {
  readonly emptying: Composition['emptying'];
  readonly forgetting: Composition['forgetting'];
  readonly finishedJobs: Readonly<Record<string, string>>;
}

/**
 * How far the maintenance of a node is: as the Job says that was run as it is stated now, else as the status had it, also
 * while the node is no host, having been lost. Undefined for a node that is in none.
 */
export function maintenanceOf(
  context: ComposeContext,
  { emptying, finishedJobs }: Pick<Maintaining, 'emptying' | 'finishedJobs'>,
): (node: string, before: Maintenance | undefined) => Maintenance | undefined {
  if (emptying === undefined) return (_node, before) => before;
  const { job, hosts, back } = emptying;
  const isFinished = finishedJobs[job.metadata.name ?? ''] === inputsOf(job) && !isOther(context, job);
  const words = new Map(
    linesOf(context, job).flatMap((line) => {
      const [, host, what, message] = told.exec(line) ?? [];
      return host === undefined ? [] : [[host, { what, message }] as const];
    }),
  );
  return (node, before) => {
    const { what, message } = words.get(node) ?? {};
    if (back.includes(node)) return isFinished || what === 'returned' ? undefined : { phase: 'Returning' };
    if (!hosts.includes(node)) return before;
    if (what === 'emptied') return { phase: 'Emptied' };
    if (what === 'occupied') return { phase: 'Occupied', ...(message === undefined ? {} : { message }) };
    // It ended well, and its pod is gone.
    if (isFinished) return { phase: 'Emptied' };
    return before?.phase === 'Occupied' ? before : { phase: 'Emptying' };
  };
}

/** What the Job's pods have left; nothing of a run of before, which was about other nodes. */
function linesOf({ cache, object }: ComposeContext, job: KubeObject): readonly string[] {
  const { name = '', namespace = '' } = job.metadata;
  const live = cache.get(Job, { namespace, name });
  if (live === undefined || ownershipOf(object, false).ours?.(live) !== true) return [];
  return inputsOf(live) === inputsOf(job) ? cache.controlledBy(Pod, live).flatMap(linesLeftBy) : [];
}

/** Whether the Job that is there was run for something else. */
function isOther({ cache }: ComposeContext, job: KubeObject): boolean {
  const { name = '', namespace = '' } = job.metadata;
  const live = cache.get(Job, { namespace, name });
  return live !== undefined && inputsOf(live) !== inputsOf(job);
}

function inputsOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[annotations.inputs];
}

/** Events of nodes that are empty, or cannot be emptied, or whose maintenance is over, since the last report. */
export function announceMaintenance(context: ComposeContext, status: Readonly<Record<string, unknown>>): void {
  const [before, now] = [context.object['status'], status].map(phasesIn);
  for (const [name, { phase, message = '' }] of now ?? []) {
    if (phase === before?.get(name)?.phase) continue;
    if (phase === 'Emptied') context.event(eventOf('NodeEmptied', `node ${name} is empty`));
    if (phase === 'Occupied') context.event(eventOf('NodeOccupied', `node ${name}: ${message}`));
  }
  for (const name of before?.keys() ?? [])
    if (now?.has(name) === false) context.event(eventOf('NodeReturned', `node ${name} is in maintenance no more`));
}

function phasesIn(status: unknown): ReadonlyMap<string, Maintenance> {
  const { nodes = [] } = (status ?? {}) as { nodes?: readonly ClaimedNode[] };
  return new Map(nodes.flatMap(({ name, maintenance }) => (maintenance === undefined ? [] : [[name, maintenance]])));
}
