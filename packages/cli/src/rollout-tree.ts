import { type Condition, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { children, conditionOf, rootNamed } from '@openstack-operator/openstack';

/** One line of the tree: a resource, and how far it is. */
export interface Row {
  readonly title: string;
  readonly state: 'ready' | 'working' | 'failed' | 'waiting' | 'skipped';
  /** What is awaited; empty when ready. */
  readonly text: string;
  /** Steps done and steps in all. */
  readonly done: number;
  readonly steps: number;
  /** Milliseconds from the beginning until it became Ready, 0 for what was Ready before; a timestamp has whole seconds. */
  readonly readyAfter?: number;
}

/**
 * The rollout as rows: each resource of the cloud in the order of the phases, and for a child that does not exist yet
 * what its control plane says of it. `begun`: milliseconds since the epoch.
 */
export function rolloutRows(resources: readonly StoredObject[], begun: number): Row[] {
  const isOfRoot = (one: StoredObject) => rootNamed(one) !== undefined;
  const order = new Map(children.map(({ kind }, index) => [kind, index]));
  const others = resources
    .filter((one) => !isOfRoot(one))
    .sort((a, b) => (order.get(a.kind) ?? 0) - (order.get(b.kind) ?? 0));
  const awaited = resources.filter(isOfRoot).flatMap((controlPlane) =>
    children
      .filter(({ kind }) => !others.some((other) => other.kind === kind))
      .flatMap(({ kind, suffix }) => {
        const condition = conditionOf(controlPlane, `${kind}Ready`);
        const name = `${controlPlane.metadata.name}-${suffix}`;
        return condition === undefined ? [] : [waitingRow(`${kind} ${name}`, condition)];
      }),
  );
  return [...others.map((resource) => rowOf(resource, begun)), ...awaited];
}

function rowOf(resource: StoredObject, begun: number): Row {
  const { conditions = [] } = (resource['status'] ?? {}) as { conditions?: Condition[] };
  const ready = conditions.find(({ type }) => type === 'Ready');
  const steps = conditions.filter(({ type }) => type !== 'Ready');
  const row = {
    title: `${resource.kind} ${resource.metadata.name}`,
    done: steps.filter(({ status }) => status === 'True').length,
    steps: steps.length,
  };
  if (ready === undefined) return { ...row, state: 'working', text: 'has not reported yet' };
  if (ready.status === 'True') {
    return { ...row, state: 'ready', text: '', readyAfter: readyAfter(ready, begun) };
  }
  return { ...row, state: ready.reason === 'JobFailed' ? 'failed' : 'working', text: ready.message };
}

/** A timestamp is cut to its second, so that `begun` has to be, too. */
function readyAfter({ lastTransitionTime }: Condition, begun: number): number {
  return Math.max(0, parseTimestamp(lastTransitionTime) - Math.floor(begun / 1000) * 1000);
}

function waitingRow(title: string, { reason, message, status }: Condition): Row {
  return { title, done: 0, steps: 0, state: status === 'True' ? 'skipped' : 'waiting', text: message || reason };
}

const marks = { ready: '✔', working: '◐', failed: '✘', waiting: '·', skipped: '-' } as const;
const colours = { ready: 32, working: 33, failed: 31, waiting: 90, skipped: 90 } as const;

/** The rows as text of at most `width` columns (undefined or 0: unknown, nothing is cut), with colours for a terminal. */
export function treeText(rows: readonly Row[], width: number | undefined): string[] {
  const titleWidth = Math.max(...rows.map(({ title }) => title.length), 0);
  return rows.map((row, index) => {
    const branch = index === rows.length - 1 ? '└─' : '├─';
    const count = row.steps === 0 ? '     ' : `${row.done}/${row.steps}`.padStart(5);
    const text = row.state === 'ready' ? wholeSeconds(row.readyAfter ?? 0) : row.text;
    const plain = `${branch} ${marks[row.state]} ${row.title.padEnd(titleWidth)} ${count}  ${text}`;
    const line = width && plain.length > width ? `${plain.slice(0, width - 1)}…` : plain;
    return line.replace(marks[row.state], `\u001b[${colours[row.state]}m${marks[row.state]}\u001b[0m`);
  });
}

/** `12.3 s`, `2 min 05 s`. */
export function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : wholeSeconds(ms);
}

/** `12 s`, `2 min 05 s`. */
function wholeSeconds(ms: number): string {
  const whole = Math.round(ms / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
