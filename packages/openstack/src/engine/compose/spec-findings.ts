import { scheduleMistakes } from '../../api/schedule-words.ts';
import { rootOf } from '../names/roots.ts';
import type { Reason } from '../status/reasons.ts';
import type { Context } from '../vocabulary/context.ts';
import { groupMistakes } from '../vocabulary/node-groups.ts';
import type { Service } from '../vocabulary/service.ts';
import type { Problem, Step } from '../vocabulary/step.ts';
import { specMistakes } from './spec-mistakes.ts';

/** What is wrong with a spec: it is refused, or, where the resource is Ready with it, told. */
export interface SpecFindings {
  readonly problems?: readonly Problem[];
  readonly degraded?: readonly string[];
}

/** Mistakes of a spec that neither its schema nor its configuration shows. A control plane tells those of node groups itself. */
export function specFindings(service: Service, context: Context): SpecFindings & Pick<Step, 'remarks'> {
  const { spec, resource, surroundings } = context;
  const claimed = rootOf(resource) === undefined ? service.nodeGroups?.(spec) : undefined;
  const groups = claimed?.role === undefined ? (claimed?.groups ?? []) : [];
  const schedules = scheduleMistakes(service.kind.spec, spec).map(({ field, message }) => `${field}: ${message}`);
  const { mistakes = [], remarks = [] } = service.findings?.(context) ?? {};
  const all = [...specMistakes(spec), ...schedules, ...groupMistakes(groups, 'spec.nodeGroups'), ...mistakes];
  return { ...findingsOf(all, surroundings), remarks };
}

/**
 * The mistakes, as what is to become of them. What clashes with the operator's own is none of them: it cannot be had, and is
 * refused even where it was Ready.
 */
export function findingsOf(
  mistakes: readonly string[],
  { wasReady }: Pick<Context['surroundings'], 'wasReady'>,
  reason: Reason = 'SpecRefused',
): SpecFindings {
  if (mistakes.length === 0) return {};
  if (wasReady()) return { degraded: mistakes };
  return { problems: mistakes.map((message): Problem => ({ reason, message })) };
}
