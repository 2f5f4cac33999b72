import type { Awaited, Desired, Problem, Skip, Step } from '../vocabulary/step.ts';
import type { SpecFindings } from './spec-findings.ts';

/** A step while it is being put together. */
export interface StepDraft {
  readonly objects: Desired[];
  readonly needs: Set<string>;
  awaits: Awaited[];
  readonly problems: Problem[];
  readonly degraded: string[];
  readonly remarks: string[];
  readonly skipped?: Skip;
  inTurn?: true;
}

/** The steps of a resource while they are being put together, by condition; a step is there once it is spoken of. */
export class StepDrafts {
  readonly all: Record<string, StepDraft> = {};

  step(condition: string): StepDraft {
    return (this.all[condition] ??= {
      objects: [],
      needs: new Set(),
      awaits: [],
      problems: [],
      degraded: [],
      remarks: [],
    });
  }

  add(condition: string, ...objects: readonly Desired[]): void {
    if (objects.length > 0) this.step(condition).objects.push(...objects);
  }

  need(condition: string, ...needs: readonly string[]): void {
    for (const need of needs) this.step(condition).needs.add(need);
  }

  refuse(condition: string, ...problems: readonly Problem[]): void {
    this.step(condition).problems.push(...problems);
  }

  /** What is said of the spec: what refuses it, and what is told although the step can be done. */
  tell(condition: string, { problems = [], degraded = [], remarks = [] }: SpecFindings & Pick<Step, 'remarks'>): void {
    this.refuse(condition, ...problems);
    this.step(condition).degraded.push(...degraded);
    this.step(condition).remarks.push(...remarks);
  }

  skip(condition: string, skipped: Skip): void {
    this.all[condition] = { ...this.step(condition), objects: [], skipped };
  }
}

/**
 * The steps of a resource in the order in which they can be done: each after what it needs, otherwise as they were
 * written down. Needs of steps that this resource does not have fall away (a service without a database).
 * @throws when steps need each other in a circle: a mistake in a definition
 */
export function steps(
  drafts: Readonly<Record<string, StepDraft>>,
  more: Readonly<Record<string, readonly string[]>>,
): Step[] {
  const needsOf = (condition: string): string[] =>
    [...new Set([...(drafts[condition]?.needs ?? []), ...(more[condition] ?? [])])].filter(
      (need) => need in drafts && need !== condition,
    );
  const ordered: Step[] = [];
  const done = new Set<string>();
  const visit = (condition: string, path: readonly string[]): void => {
    if (done.has(condition)) return;
    if (path.includes(condition)) throw new Error(`steps need each other: ${[...path, condition].join(' -> ')}`);
    for (const need of needsOf(condition)) visit(need, [...path, condition]);
    done.add(condition);
    const draft = drafts[condition];
    if (draft === undefined) return;
    const [first] = draft.problems;
    const message = [...new Set(draft.problems.map((problem) => problem.message))].join('; ');
    ordered.push({
      condition,
      needs: needsOf(condition),
      awaits: draft.awaits,
      objects: draft.objects,
      ...(first === undefined ? {} : { problem: { reason: first.reason, message } }),
      ...(draft.degraded.length === 0 ? {} : { degraded: [...new Set(draft.degraded)] }),
      ...(draft.remarks.length === 0 ? {} : { remarks: draft.remarks }),
      ...(draft.skipped === undefined ? {} : { skipped: draft.skipped }),
      ...(draft.inTurn === undefined ? {} : { inTurn: draft.inTurn }),
    });
  };
  for (const condition of Object.keys(drafts)) visit(condition, []);
  return ordered;
}
