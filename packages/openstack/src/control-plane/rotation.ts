import { annotations } from '../engine/names/names.ts';
import type { Step } from '../engine/vocabulary/step.ts';
import type { ServiceResource } from '../engine/vocabulary/surroundings.ts';
import { type Child, children } from './children.ts';
import { type ControlPlaneSpec, isEnabled } from './spec.ts';

/** Fields of a control plane that annotation `rotate` names; undefined where it has none, which means all services. */
function namedIn({ metadata }: ServiceResource): readonly string[] | undefined {
  const words = metadata.annotations?.[annotations.rotate]?.split(',').map((name) => name.trim());
  return words && [...new Set(words.filter((name) => name !== ''))];
}

/** Of these, what is no service of the cloud with passwords that can be rotated; and the services that are. */
function unknownIn(resource: ServiceResource, spec: ControlPlaneSpec) {
  const known = children.flatMap((child) =>
    child.has('passwordRotationDays') && isEnabled(spec, child.field) ? [child.field] : [],
  );
  return { known, unknown: (namedIn(resource) ?? []).filter((name) => !known.includes(name)) };
}

/** Whether annotation `rotate-at` of a control plane is about a child: none is meant while one of the names is unknown. */
export function isToRotate(resource: ServiceResource, spec: ControlPlaneSpec, child: Child): boolean {
  const named = namedIn(resource);
  return named === undefined || (named.includes(child.field) && unknownIn(resource, spec).unknown.length === 0);
}

/** Tells which services a request to rotate passwords is about where not all are meant, and that it is not followed. */
export function rotationStep(resource: ServiceResource, spec: ControlPlaneSpec): readonly Step[] {
  const named = namedIn(resource);
  if (named === undefined) return [];
  const { known, unknown } = unknownIn(resource, spec);
  const step = { condition: 'RotationReady', needs: [], awaits: [], objects: [] };
  const { rotate, rotateAt } = annotations;
  if (named.length > 0 && unknown.length === 0) {
    const remark =
      `annotation ${rotate}: ${rotateAt} is about ${named.join(', ')} alone; without it the others are rotated at once, ` +
      `unless ${rotateAt} is removed with it`;
    return [{ ...step, remarks: [remark] }];
  }
  const what =
    named.length === 0
      ? 'no service is named'
      : `${unknown.join(', ')} ${unknown.length === 1 ? 'is no service' : 'are no services'} of this cloud whose passwords can be rotated`;
  const message =
    `annotation ${rotate}: ${what}, and nothing is rotated on request; name some of ${known.join(', ')}, ` +
    'or remove the annotation to have all rotated';
  return [{ ...step, degraded: [message] }];
}
