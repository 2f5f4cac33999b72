import { apiVersionOf, type StoredObject } from '@openstack-operator/kube';
import { type Composition, carriesGuests, kinds, type Step } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/**
 * The steps, with those held back that carry guests, while something else that carries guests was disabled and is
 * still there: what OVN is told without Nova takes its agents from Nova's nodes, and Nova may yet be switched on again.
 */
export function keptForGuests(context: ComposeContext, { complete, steps }: Composition): readonly Step[] {
  if (!complete) return steps;
  const carrying = steps.filter(({ objects }) =>
    objects.some((desired) => 'object' in desired && carriesGuests(desired.object)),
  );
  if (carrying.length === 0) return steps;
  const wanted = new Set(
    carrying.flatMap(({ objects }) =>
      objects.flatMap((desired) =>
        'object' in desired ? [`${desired.object.kind} ${desired.object.metadata.name}`] : [],
      ),
    ),
  );
  const leaving = ownedCarriers(context).find(({ kind, metadata }) => !wanted.has(`${kind} ${metadata.name}`));
  if (leaving === undefined) return steps;
  const message = `it stays as it is until ${leaving.kind} ${leaving.metadata.name}, which is disabled, is gone`;
  return steps.map((step) =>
    carrying.includes(step) && step.problem === undefined ? { ...step, problem: { reason: 'Waiting', message } } : step,
  );
}

function ownedCarriers({ cache, object }: ComposeContext): StoredObject[] {
  return kinds
    .filter((kind) => carriesGuests({ apiVersion: apiVersionOf(kind), kind: kind.kind }) && cache.has(kind))
    .flatMap((kind) => cache.controlledBy(kind, object));
}
