import type { KubeObject } from '@openstack-operator/kube';
import { isObject } from '../resources/json.ts';
import type { Core } from './core.ts';
import { type Access, mayAccess, rulesFor } from './rbac.ts';
import type { RequestInfo, User } from './request-info.ts';
import type { Reply } from './resource-handler.ts';
import { badRequest } from './status.ts';

/** Without RBAC everybody may what this one may. */
const ADMINISTRATOR: User = { name: 'kubernetes-admin', groups: ['system:masters'] };

/** Kinds that are asked and never stored. */
const REVIEWS: Readonly<Record<string, (core: Core, info: RequestInfo, review: Review, open: boolean) => unknown>> = {
  'selfsubjectaccessreviews.authorization.k8s.io': (core, info, { spec }, open) => decide(core, info.user, spec, open),
  'subjectaccessreviews.authorization.k8s.io': (core, _, { spec }, open) => decide(core, userOf(spec), spec, open),
  'localsubjectaccessreviews.authorization.k8s.io': (core, _, { spec }, open) => decide(core, userOf(spec), spec, open),
  'selfsubjectrulesreviews.authorization.k8s.io': (core, { user }, { spec }, open) =>
    rules(core, open ? ADMINISTRATOR : user, spec?.namespace ?? ''),
  'selfsubjectreviews.authentication.k8s.io': (_, { user }) => ({
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      groups: user.groups,
      ...(user.extra && { extra: user.extra }),
    },
  }),
};

interface Review extends KubeObject {
  readonly spec?: {
    readonly resourceAttributes?: {
      readonly verb?: string;
      readonly group?: string;
      readonly resource?: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
    };
    readonly nonResourceAttributes?: { readonly verb?: string; readonly path?: string };
    readonly namespace?: string;
    readonly user?: string;
    readonly groups?: readonly string[];
  };
}

/** Whether a kind is a review. */
export function isReview(id: string): boolean {
  return Object.hasOwn(REVIEWS, id);
}

/** Answers a review. `open`: without RBAC everything is allowed. */
export function handleReview(core: Core, id: string, info: RequestInfo, body: unknown, open: boolean): Reply {
  if (!isObject(body)) throw badRequest('the body is no review');
  const review = body as Review;
  const status = REVIEWS[id]?.(core, info, review, open);
  return { status: 201, body: { ...review, metadata: review.metadata ?? {}, status } };
}

function decide(core: Core, user: User, spec: Review['spec'], open: boolean): unknown {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec ?? {};
  const access: Access = resource
    ? {
        verb: resource.verb ?? '',
        group: resource.group ?? '',
        resource: resource.subresource ? `${resource.resource}/${resource.subresource}` : (resource.resource ?? ''),
        namespace: resource.namespace ?? '',
        name: resource.name ?? '',
      }
    : { verb: path?.verb ?? '', path: path?.path ?? '' };
  return { allowed: open || mayAccess(core.store, user, access) };
}

function rules(core: Core, user: User, namespace: string): unknown {
  const all = rulesFor(core.store, user, namespace);
  return {
    resourceRules: all.filter((rule) => rule.resources?.length),
    nonResourceRules: all.filter((rule) => rule.nonResourceURLs?.length),
    incomplete: false,
  };
}

function userOf(spec: Review['spec']): User {
  return { name: spec?.user ?? '', groups: spec?.groups ?? [] };
}
