import type { KubeObject } from '@openstack-operator/kube';
import { validateCrd, validateCrdUpdate } from '../crd-validation.ts';
import { builtinType } from './builtin-type.ts';
import { nameOf } from './cells.ts';

/**
 * `apiextensions.k8s.io/v1/CustomResourceDefinition`. Accepting names and serving the kind (conditions NamesAccepted and
 * Established) is the API server's part.
 */
export const customResourceDefinition = builtinType('apiextensions.k8s.io/v1/CustomResourceDefinition', {
  hasGeneration: true,
  validate: (object: KubeObject) => validateCrd(object),
  validateUpdate: validateCrdUpdate,
  row: (object) => [nameOf(object), object.metadata.creationTimestamp ?? null],
});
