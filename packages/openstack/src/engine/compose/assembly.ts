import type { ConfigSet } from '../configuration/config.ts';
import type { ConfigSets } from '../configuration/config-sets.ts';
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
export function awaited({ service, context }: Kept, field: ReferenceField | undefined): Awaited[] {
  const found = field && context.reference(field);
  const kind = field && service.providers?.get(field)?.kind;
  if (found === undefined || kind === undefined) return [];
  return [{ kind, namespace: found.metadata.namespace ?? context.namespace, name: found.metadata.name }];
}
