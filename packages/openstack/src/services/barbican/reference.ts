import { objectName } from '../../api/references.ts';
import { object, required } from '../../api/schema.ts';

/** `spec.barbicanRef` of what has its keys kept there; `what`: the keys. */
export const barbicanRef = (what: string) =>
  object(
    `The key manager that keeps ${what}.`,
    { name: required(objectName('Name of a Barbican in the same namespace.')) },
    { otherwise: 'below a control plane, its own; else the oldest of the namespace, if there is one' },
  );
