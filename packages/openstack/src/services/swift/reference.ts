import { objectName } from '../../api/references.ts';
import { object, required } from '../../api/schema.ts';

/** `spec.swiftRef` of what may keep something in Swift; `what`: what that is, and when. */
export const swiftRef = (what: string) =>
  object(
    `The Swift that keeps ${what}.`,
    { name: required(objectName('Name of a Swift in the same namespace.')) },
    { otherwise: 'below a control plane, its own; else none' },
  );
