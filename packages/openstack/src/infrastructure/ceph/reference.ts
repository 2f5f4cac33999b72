import { objectName } from '../../api/references.ts';
import { object, required } from '../../api/schema.ts';

/** `spec.cephStorageRef` of what keeps something in Ceph; `what`: what that is. */
export const cephStorageRef = (what: string) =>
  object(
    `The Ceph cluster that keeps ${what}.`,
    { name: required(objectName('Name of a CephStorage in the same namespace.')) },
    { otherwise: 'below a control plane, its own; else none' },
  );
