import type { KubeObject } from '@openstack-operator/kube';
import { notSupported, quote, required } from '../resources/field-error.ts';
import { isObject, type JsonObject } from '../resources/json.ts';
import type { Core, WriteRequest } from './core.ts';
import {
  type Body,
  decodeObject,
  fieldValidation,
  goJsonError,
  normalise,
  parseBody,
  unsupportedMediaType,
} from './decode.ts';
import { deleteObject, deleteRequest } from './delete.ts';
import { applyJsonPatch } from './json-patch.ts';
import { listPage } from './list.ts';
import { managerOfUserAgent } from './managed-fields.ts';
import { applyMergePatch } from './merge-patch.ts';
import { negotiate } from './negotiation.ts';
import type { ServedType } from './registry.ts';
import { includeObject, representList, representObject } from './representation.ts';
import { header, isTrue, type RequestInfo } from './request-info.ts';
import { badRequest, invalid, methodNotAllowed, notFound, StatusError } from './status.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { applyObject, createObject, liveObject, patchObject, replaceObject, type Written } from './write.ts';

/** An answer before it becomes bytes. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is a stream of bytes or a text with a content type of its own. */
  readonly body: unknown;
}

/** Handles a request for a kind that is served, on the object itself or its `status`. @throws StatusError */
export function handleResource(
  core: Core,
  served: ServedType,
  info: RequestInfo,
  body: Body,
  warn: (message: string) => void,
): Reply {
  const wanted = negotiate(header(info, 'accept'));
  const include = includeObject(info.query);
  const represent = (object: KubeObject) => representObject(object, served, wanted, include, core.clock);
  const write = writeRequest(served, info, warn);
  const known = (apiVersion: string, kind: string) => core.registry.findKind(apiVersion, kind) !== undefined;
  switch (info.verb) {
    case 'get': {
      const object = liveObject(core, write);
      if (!object) throw notFound(served.groupResource, info.name);
      return { status: 200, body: represent(object) };
    }
    case 'list':
      return { status: 200, body: representList(listPage(core, served, info), served, wanted, include, core.clock) };
    case 'create': {
      if (info.name !== '') throw methodNotAllowed();
      const validation = fieldValidation(info.query, 'CreateOptions');
      const object = decodeObject(body, served, validation, warn, known);
      return { status: 201, body: represent(createObject(core, write, object)) };
    }
    case 'update': {
      const validation = fieldValidation(info.query, 'UpdateOptions');
      const written = replaceObject(core, write, decodeObject(body, served, validation, warn, known));
      return { status: written.created ? 201 : 200, body: represent(written.object) };
    }
    case 'patch': {
      const written = patch(core, write, info, body);
      return { status: written.created ? 201 : 200, body: represent(written.object) };
    }
    case 'delete': {
      const options = deleteRequest(deleteBody(body), info.query);
      const deleted = deleteObject(core, { ...write, dryRun: options.dryRun }, options);
      return { status: 200, body: 'object' in deleted ? represent(deleted.object) : deleted.status };
    }
    case 'deletecollection': {
      const options = deleteRequest(deleteBody(body), info.query);
      const page = listPage(core, served, info);
      for (const { metadata } of page.items) {
        const one = { ...write, namespace: metadata.namespace ?? '', name: metadata.name, dryRun: options.dryRun };
        deleteObject(core, one, options);
      }
      return { status: 200, body: representList(page, served, wanted, include, core.clock) };
    }
    default:
      throw methodNotAllowed();
  }
}

/** What a request says of the write it asks for. @throws StatusError 422 */
export function writeRequest(served: ServedType, info: RequestInfo, warn: (message: string) => void): WriteRequest {
  const dryRun = info.query.getAll('dryRun');
  if (dryRun.some((value) => value !== 'All')) {
    const error = notSupported('dryRun', dryRun, ['All']);
    throw invalid({ group: 'meta.k8s.io', kind: optionsKind(info.verb) }, '', [error]);
  }
  const manager = info.query.get('fieldManager') ?? '';
  if (manager.length > 128) {
    const error = { type: 'TooLong', field: 'fieldManager', detail: 'may not be more than 128 bytes' } as const;
    throw invalid({ group: 'meta.k8s.io', kind: optionsKind(info.verb) }, '', [error]);
  }
  return {
    served,
    namespace: served.type.kind.namespaced ? info.namespace : '',
    name: info.name,
    subresource: info.subresource,
    user: info.user,
    manager: manager || managerOfUserAgent(header(info, 'user-agent')),
    dryRun: dryRun.length > 0,
    warn,
  };
}

function optionsKind(verb: string): string {
  return { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' }[verb] ?? 'DeleteOptions';
}

function deleteBody(body: Body): KubeObject | undefined {
  return body.text === '' ? undefined : (parseBody(body) as KubeObject);
}

const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

function patch(core: Core, write: WriteRequest, info: RequestInfo, body: Body): Written {
  const { served } = write;
  const contentType = body.contentType.split(';')[0]?.trim() ?? '';
  const accepted = [JSON_PATCH, MERGE, ...(served.custom ? [] : [STRATEGIC]), APPLY];
  if (!accepted.includes(contentType)) {
    if (served.custom) throw unsupportedMediaType(accepted);
    // Of built-in kinds the router upstream refuses it before any handler could say more.
    throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  }
  const validation = fieldValidation(info.query, 'PatchOptions');
  const force = info.query.get('force');
  if (contentType === APPLY) return apply(core, write, info, body, isTrue(force));
  if (force !== null) {
    const error = { type: 'Forbidden', field: 'force', detail: 'may not be specified for non-apply patch' } as const;
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [error]);
  }
  const parsed = parsePatch(body, contentType);
  return patchObject(core, write, (live) => {
    const patched = patchers[contentType]?.(live, parsed, served) as KubeObject;
    if (!isObject(patched)) throw badRequest('the patched object is no object');
    const complaint = normalise(patched, served, validation, [], write.warn);
    if (complaint) {
      const value = contentType === STRATEGIC ? JSON.stringify(parsed) : JSON.stringify(patched);
      throw invalid({ group: '', kind: '' }, '', [{ type: 'Invalid', field: 'patch', value, detail: complaint }]);
    }
    return patched;
  });
}

const patchers: Record<string, (live: KubeObject, patch: unknown, served: ServedType) => unknown> = {
  [MERGE]: (live, patch) => applyMergePatch(live, patch),
  [JSON_PATCH]: (live, patch) => applyJsonPatch(live, patch),
  [STRATEGIC]: (live, patch, served) => applyStrategicMergePatch(live, patch as JsonObject, served.schema),
};

function parsePatch(body: Body, contentType: string): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${goJsonError(body.text, error as Error)}`);
  }
  if (contentType === MERGE && !isObject(parsed)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  }
  return parsed;
}

function apply(
  core: Core,
  write: WriteRequest,
  info: RequestInfo,
  body: Body,

  force: boolean,
): Written {
  const manager = info.query.get('fieldManager');
  if (!manager) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      required('fieldManager', 'is required for apply patch'),
    ]);
  }
  let config: unknown;
  try {
    config = parseBody(body);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
  if (!isObject(config)) throw badRequest(`error decoding YAML: ${quote(body.text)} is no object`);
  const object = config as KubeObject;
  object.metadata ??= {};
  return applyObject(core, { ...write, manager }, object, force);
}
