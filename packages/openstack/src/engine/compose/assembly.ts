import { kindOf } from '../../api/kinds.ts';
import type { ConfigSet } from '../configuration/config.ts';
import type { ConfigSets } from '../configuration/config-sets.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Kept } from '../vocabulary/keeping.ts';
import type { Awaited } from '../vocabulary/step.ts';
import type { ReferenceField } from '../vocabulary/surroundings.ts';
import type { StepDrafts } from './steps.ts';

/** What the parts of a composition work on. */
export interface Assembly extends Kept {
  readonly drafts: StepDrafts;
  readonly sets: ConfigSets;
  /** What starts a component, by its name. */
  readonly starts: Readonly<Record<string, ConfigSet>>;
}

/** A referenced resource has to be Ready first; one that somebody else runs is taken as it is. */
export function awaited(context: Context, field: ReferenceField | undefined): Awaited[] {
  const found = field && context.reference(field);
  if (found === undefined) return [];
  return [{ kind: kindOf(found), namespace: found.metadata.namespace ?? context.namespace, name: found.metadata.name }];
}
