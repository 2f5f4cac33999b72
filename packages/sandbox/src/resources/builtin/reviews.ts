import type { ResourceType } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';

/** Questions to authorization and authentication: they are answered (api/access-reviews.ts) and never stored. */
export const reviews: readonly ResourceType[] = [
  'authentication.k8s.io/v1/SelfSubjectReview',
  'authorization.k8s.io/v1/LocalSubjectAccessReview',
  'authorization.k8s.io/v1/SelfSubjectAccessReview',
  'authorization.k8s.io/v1/SelfSubjectRulesReview',
  'authorization.k8s.io/v1/SubjectAccessReview',
].map((name) => builtinType(name, { row: () => [] }));
