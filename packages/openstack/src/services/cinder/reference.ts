import { objectName } from '../../api/references.ts';
import { object, required } from '../../api/schema.ts';

/** `spec.cinderRef` of what may keep something in volumes; `what`: what that is, and when. */
export const cinderRef = (what: string) =>
  object(
    `The Cinder that keeps ${what}.`,
    { name: required(objectName('Name of a Cinder in the same namespace.')) },
    { otherwise: 'below a control plane, its own; else none' },
  );
