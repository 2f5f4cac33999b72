import { type KubeObject, type StoredObject, timestamp } from '@openstack-operator/kube';
import { invalid as invalidField } from '../resources/field-error.ts';
import { isObject, type JsonObject } from '../resources/json.ts';
import { formatSelector } from '../resources/metadata.ts';
import type { ScalePaths } from '../resources/resource-type.ts';
import type { Core, WriteRequest } from './core.ts';
import { type Body, parseBody, unsupportedMediaType } from './decode.ts';
import { evict } from './eviction.ts';
import { at, setAt } from './json.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import type { ServedType } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { type Reply, writeRequest } from './resource-handler.ts';
import {
  badRequest,
  conflict,
  internalError,
  invalid,
  methodNotAllowed,
  notFound,
  notOffered,
  OPTIMISTIC_LOCK,
} from './status.ts';
import { OFFERED_SUBRESOURCES } from './subresources.ts';
import { liveObject, patchObject } from './write.ts';

/** Handles `scale`, `eviction`, `binding` and `finalize`. @throws StatusError */
export function handleSubresource(
  core: Core,
  served: ServedType,
  info: RequestInfo,
  body: Body,
  warn: (message: string) => void,
): Reply {
  const offered = OFFERED_SUBRESOURCES[info.subresource];
  const { group, resource } = served.groupResource;
  if (!offered) throw notOffered(`the subresource ${info.subresource} of ${resource}${group ? `.${group}` : ''}`);
  if (!offered.verbs.includes(info.verb)) throw methodNotAllowed();
  const write = writeRequest(served, info, warn);
  const live = liveObject(core, write);
  if (!live) throw notFound(served.groupResource, info.name);
  switch (info.subresource) {
    case 'scale':
      return handleScale(core, write, live, info, body);
    case 'eviction':
      return { status: 201, body: evict(core, write, live, parseBody(body)) };
    case 'binding':
      return bind(core, write, parseBody(body));
    case 'finalize':
      return finalize(core, write, parseBody(body));
    default:
      throw notOffered(`the subresource ${info.subresource} of ${resource}`);
  }
}

interface Scale {
  readonly metadata?: KubeObject['metadata'];
  readonly spec?: { readonly replicas?: number };
}

function handleScale(core: Core, write: WriteRequest, live: StoredObject, info: RequestInfo, body: Body): Reply {
  const { scale } = write.served.type;
  if (!scale) throw internalError(`${info.resource} has no paths for its scale`);
  const before = scaleOf(live, scale, write.served);
  if (info.verb === 'get') return { status: 200, body: before };
  const asked = info.verb === 'update' ? parseBody(body) : patched(before, body);
  if (!isObject(asked)) throw badRequest('the body is no Scale');
  const { metadata, spec } = asked as Scale;
  const replicas = spec?.replicas ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, info.name, [error]);
  }
  if (metadata?.resourceVersion && metadata.resourceVersion !== live.metadata.resourceVersion) {
    throw conflict(write.served.groupResource, info.name, OPTIMISTIC_LOCK);
  }
  const written = patchObject(core, write, (object) => {
    setAt(object, steps(scale.specReplicas), replicas);
    return object;
  });
  return { status: 200, body: scaleOf(written.object, scale, write.served) };
}

function patched(scale: unknown, body: Body): unknown {
  const contentType = body.contentType.split(';')[0]?.trim() ?? '';
  const target = structuredClone(scale) as JsonObject;
  switch (contentType) {
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
      return applyMergePatch(target, parseBody(body));
    case 'application/json-patch+json':
      return applyJsonPatch(target, parseBody(body));
    case 'application/apply-patch+yaml':
      throw notOffered('server-side apply of a Scale');
    default:
      throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
  }
}

/** The `autoscaling/v1` Scale of an object. */
function scaleOf(object: StoredObject, paths: ScalePaths, served: ServedType): unknown {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorText(at(object, steps(paths.labelSelector ?? '')));
  const replicas = at(object, steps(paths.specReplicas));
  if (replicas === undefined && served.custom) {
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
  }
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: at(object, steps(paths.statusReplicas)) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** Built-in workloads carry a LabelSelector, custom ones a text; a Scale has it as text. */
function selectorText(selector: unknown): unknown {
  if (!isObject(selector)) return selector;
  const text = formatSelector(selector);
  return text === '<none>' ? '' : text;
}

function steps(path: string): string[] {
  return path.split('.').filter((step) => step !== '');
}

/** What the scheduler does: the pod gets its node, once. */
function bind(core: Core, write: WriteRequest, binding: unknown): Reply {
  const target = at(binding, ['target', 'name']);
  if (typeof target !== 'string' || target === '') throw badRequest('target.name of the Binding must name a node');
  patchObject(core, write, (pod) => {
    const spec = (pod['spec'] ?? {}) as JsonObject;
    const status = (pod['status'] ?? {}) as { conditions?: { type: string }[] };
    if (spec['nodeName']) {
      throw conflict(
        { group: '', resource: 'pods/binding' },
        write.name,
        `pod ${write.name} is already assigned to node ${JSON.stringify(spec['nodeName'])}`,
      );
    }
    const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(core.clock) };
    return { ...pod, spec: { ...spec, nodeName: target }, status: { ...status, conditions: [...others, scheduled] } };
  });
  return { status: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

/** How the namespace controller ends a namespace: `spec.finalizers` are emptied here, and nowhere else. */
function finalize(core: Core, write: WriteRequest, body: unknown): Reply {
  const finalizers = (at(body, ['spec', 'finalizers']) ?? []) as string[];
  const written = patchObject(core, write, (live) => {
    const spec = { ...(live['spec'] as object), finalizers };
    return { ...live, spec };
  });
  return { status: 200, body: written.object };
}
