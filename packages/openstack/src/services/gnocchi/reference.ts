import { objectName } from '../../api/references.ts';
import { object, required } from '../../api/schema.ts';

/** `spec.gnocchiRef` of what keeps or reads measures there; `what`: what it has to do with them. */
export const gnocchiRef = (what: string) =>
  object(
    `The Gnocchi that ${what}.`,
    { name: required(objectName('Name of a Gnocchi in the same namespace.')) },
    { otherwise: 'below a control plane, its own; else the oldest of the namespace, if there is one' },
  );
