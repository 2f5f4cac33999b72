import type { ReconcileResult, StoredObject } from '@openstack-operator/kube';
import { annotations, type Progress } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { type Findings, isPaused, reconciled, report, statusOf } from './report.ts';
import { redactor } from './secrets/redact.ts';

/** Nothing could be composed: a mistake in the operator, or an input that no validation refused. */
export class CompositionError extends Error {
  override readonly name = 'CompositionError';

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Says that annotation `paused`, of the resource or of the control plane above it, stops its reconciliation. */
export async function reportPaused(context: OperatorContext, by: StoredObject, isDeleting: boolean): Promise<void> {
  const whose = by === context.object ? '' : ` of ${by.kind} ${by.metadata.name}`;
  const message = `annotation ${annotations.paused}${whose} is true: nothing is written${isDeleting ? ' or let go' : ''} until it is removed`;
  const phase = isDeleting ? 'Deleting' : 'Paused';
  await reportInstead(context, phase, { condition: reconciled, status: 'False', reason: 'Paused', message });
}

/** Milliseconds between two looks at whether a child has let go of its data. */
const lettingGo = 2000;

/** Says which child of a control plane keeps its deletion waiting (children.ts). */
export async function reportRetaining(
  context: OperatorContext,
  child: StoredObject,
  failures: ReadonlyMap<string, Error> = new Map(),
): Promise<ReconcileResult> {
  const { kind, metadata } = child;
  const failure = failures.get(`${kind}Ready`);
  if (failure !== undefined)
    context.log.warn('a child could not be told to keep its data', { kind, error: failure.message });
  const refused = failure === undefined ? '' : `: ${failure.message}`;
  const why = isPaused(child) ? `: it is paused; take annotation ${annotations.paused} from it` : '';
  const message = `${kind} ${metadata.name} does not let go of its volumes and Secrets yet, which deletionPolicy Retain keeps${why}${refused}; the deletion goes on when it has`;
  await reportInstead(context, 'Deleting', { condition: reconciled, status: 'False', reason: 'Deleting', message });
  return { requeueAfter: lettingGo };
}

/** What has been made stays as it is; the error is retried with a back-off, and by every change. */
export async function reportUncomposed(context: OperatorContext, { message: words }: CompositionError): Promise<void> {
  const message =
    `the operator cannot tell what ${context.object.kind} ${context.object.metadata.name} should be: ${words}. ` +
    'What exists is left as it is. Look for a field of the spec that the error speaks of; the operator logs where it arose';
  const phase = context.object.metadata.deletionTimestamp === undefined ? 'Failed' : 'Deleting';
  await reportInstead(context, phase, { condition: reconciled, status: 'False', reason: 'InternalError', message });
}

/** Says why nothing is judged: one condition; what else the status says stays. */
export async function reportInstead(context: OperatorContext, phase: string, why: Progress): Promise<void> {
  const { jobs = {} } = (context.object['status'] ?? {}) as { jobs?: Record<string, string> };
  const findings: Findings = {
    composition: { complete: false, status: {}, steps: [] },
    progress: [why],
    failures: new Map(),
    lasting: new Set(),
    phase,
    volumes: {},
    finishedJobs: jobs,
    redact: redactor(context),
  };
  await report(context, statusOf(context, findings));
}
