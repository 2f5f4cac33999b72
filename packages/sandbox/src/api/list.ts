import { type KubeObject, keyOf, type StoredObject } from '@openstack-operator/kube';
import { forbidden as forbiddenField, notSupported, quote } from '../resources/field-error.ts';
import { type Core, inVersion } from './core.ts';
import { fieldMatcher, type ObjectMatcher } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { ServedType } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { badRequest, expired, invalid, StatusError } from './status.ts';

/** One page of a list, before it is written as List, Table or PartialObjectMetadataList. */
export interface Page {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly items: readonly StoredObject[];
}

interface ContinueToken {
  readonly v: 'meta.k8s.io/v1';
  readonly rv: number;
  readonly start: string;
}

/** The selectors of a list or watch as one matcher. @throws StatusError 400 */
export function selectionOf(served: ServedType, info: RequestInfo): ObjectMatcher {
  const labels = info.query.get('labelSelector');
  const fields = info.query.get('fieldSelector');
  const byLabels = labels ? parseLabelSelector(labels) : undefined;
  const byFields = fields ? fieldMatcher(fields, served.type, served.custom !== undefined) : undefined;
  return (object: KubeObject) =>
    (!byLabels || byLabels(object.metadata.labels)) &&
    (!byFields || byFields(object)) &&
    (info.name === '' || object.metadata.name === info.name);
}

/** GET of a collection. @throws StatusError 400, 410, 422, 504 */
export function listPage(core: Core, served: ServedType, info: RequestInfo): Page {
  const { query } = info;
  checkListOptions(query);
  const matches = selectionOf(served, info);
  const namespace = info.namespace || undefined;
  const limit = numberOf(query, 'limit');
  const token = query.get('continue');
  const asked = query.get('resourceVersion') ?? '';
  const { version, start, stored } = token
    ? continued(core, served, token, asked, namespace)
    : current(core, served, asked, query.get('resourceVersionMatch') ?? '', namespace);
  const rest = stored.filter((object) => keyOf(object) >= start && matches(object));
  const items = (limit > 0 ? rest.slice(0, limit) : rest).map((object) => inVersion(object, served.apiVersion));
  const page = { resourceVersion: String(version), items };
  if (limit <= 0 || rest.length <= limit) return page;
  const last = items.at(-1);
  const next: ContinueToken = { v: 'meta.k8s.io/v1', rv: version, start: `${last ? keyOf(last) : ''}\u0000` };
  const selective = query.get('labelSelector') || query.get('fieldSelector');
  return {
    ...page,
    continue: encode(next),
    ...(!selective && { remainingItemCount: rest.length - limit }),
  };
}

interface Snapshot {
  readonly version: number;
  readonly start: string;
  readonly stored: readonly StoredObject[];
}

function current(
  core: Core,
  served: ServedType,
  asked: string,
  match: string,
  namespace: string | undefined,
): Snapshot {
  const { store } = core;
  if (asked === '' || asked === '0') {
    return { version: store.version, start: '', stored: store.list(served.id, namespace) };
  }
  const version = parseVersion(asked);
  if (version > store.version) throw tooLarge(version, store.version);
  if (match !== 'Exact') return { version: store.version, start: '', stored: store.list(served.id, namespace) };
  if (version < store.oldestVersion) throw expired('The resourceVersion for the provided list is too old.');
  return { version, start: '', stored: store.listAt(served.id, version, namespace) };
}

function continued(
  core: Core,
  served: ServedType,
  token: string,
  asked: string,
  namespace: string | undefined,
): Snapshot {
  const { rv, start } = decode(token);
  if (asked !== '' && asked !== '0') throw badRequest('specifying resource version is not allowed when using continue');
  const { store } = core;
  // A token without a version asks for the rest as it is now (what the 410 below offers).
  if (rv < 0) return { version: store.version, start, stored: store.list(served.id, namespace) };
  if (rv < store.oldestVersion) {
    const error = expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    error.status.metadata = { continue: encode({ v: 'meta.k8s.io/v1', rv: -1, start }) };
    throw error;
  }
  return { version: rv, start, stored: store.listAt(served.id, rv, namespace) };
}

function encode(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function decode(text: string): ContinueToken {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString()) as { v?: string } & Partial<ContinueToken>;
    if (token.v === 'meta.k8s.io/v1') return token as ContinueToken;
    const known = 'continue key is not valid: server does not recognize this encoded version';
    if (typeof token === 'object') throw badRequest(`invalid continue token: ${known} ${token.v ?? ''}`);
  } catch (error) {
    if (error instanceof StatusError) throw error;
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

/** A resourceVersion of a query as a number. @throws StatusError 400 for a list, 500 for a watch: upstream's slip */
export function parseVersion(text: string, watch = false): number {
  if (/^\d+$/.test(text)) return Number(text);
  const why = `resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;
  throw watch ? new StatusError(500, '', why) : badRequest(`invalid resource version: ${why}`);
}

/** A number of a query. @throws StatusError 400 */
export function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) || '0';
  if (/^-?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
}

/** 504: the client has seen a future that this server does not know (another cluster's resourceVersion). */
export function tooLarge(asked: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
  return new StatusError(504, 'Timeout', message, { causes: [cause], retryAfterSeconds: 1 });
}

function checkListOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const errors = [];
  if (match) {
    const field = 'resourceVersionMatch';
    if (!version) {
      errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (query.get('continue')) {
      errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && version === '0') {
      errors.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

/** The options of a watch. @throws StatusError 422 */
export function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const field = 'resourceVersionMatch';
  const errors = [];
  if (query.has('sendInitialEvents') && match !== 'NotOlderThan') {
    errors.push(forbiddenField(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match) {
    if (!query.has('sendInitialEvents')) {
      errors.push(
        forbiddenField(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      );
    }
    if (match !== 'NotOlderThan') errors.push(notSupported(field, match, ['NotOlderThan']));
    if (query.get('continue')) {
      errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'));
    }
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
