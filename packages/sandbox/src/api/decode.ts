import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { parse as parseYaml } from 'yaml';
import { objectMetaSchema } from '../resources/builtin-schema.ts';
import { invalid as invalidField, notSupported, quote } from '../resources/field-error.ts';
import { isObject } from '../resources/json.ts';
import { pruneUnknown } from '../resources/pruning.ts';
import type { ServedType } from './registry.ts';
import { type StatedField, statedFields } from './stated-fields.ts';
import { badRequest, invalid, StatusError } from './status.ts';

/** What to do with fields that the kind does not have. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** A request's body as it came. */
export interface Body {
  readonly text: string;
  readonly contentType: string;
}

/** Reads `fieldValidation` of a query. @throws StatusError 422 */
export function fieldValidation(query: URLSearchParams, optionsKind: string): FieldValidation {
  const value = query.get('fieldValidation') || 'Warn';
  if (value === 'Strict' || value === 'Warn' || value === 'Ignore') return value;
  const error = notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']);
  throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [error]);
}

/** The body as JSON or YAML. @throws StatusError 400 not readable, 415 another media type */
export function parseBody({ text, contentType }: Body): unknown {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  const yaml = mediaType === 'application/yaml' || mediaType.endsWith('+yaml');
  if (!yaml && mediaType !== '' && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw unsupportedMediaType(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
  }
  try {
    return yaml ? parseYamlOrJson(text) : (JSON.parse(text) as unknown);
  } catch (error) {
    throw badRequest(
      yaml
        ? goYamlError(error as Error)
        : `couldn't get version/kind; json parse error: ${goJsonError(text, error as Error)}`,
    );
  }
}

/** Clients send JSON where YAML is allowed (server-side apply): reading it as such takes a tenth of the time. */
function parseYamlOrJson(text: string): unknown {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // A flow mapping of YAML begins so too.
    }
  }
  return parseYaml(text, { schema: 'yaml-1.1', uniqueKeys: false }) as unknown;
}

/** 415. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/**
 * The object of a POST or PUT: its kind checked, unknown fields dropped and reported, normalised.
 * @throws StatusError 400
 */
export function decodeObject(
  body: Body,
  served: ServedType,
  validation: FieldValidation,
  warn: (message: string) => void,
  known: (apiVersion: string, kind: string) => boolean,
): KubeObject {
  const { kind } = served.type;
  const parsed = parseUnrecognized(body, kind.kind);
  if (!isObject(parsed)) {
    const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(parsed) ? 'array' : typeof parsed} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    throw unrecognized(kind.kind, body.text, why);
  }
  const object = parsed as KubeObject;
  if (!object.apiVersion) object.apiVersion = apiVersionOf(kind);
  if (!object.kind) object.kind = kind.kind;
  if (object.kind !== kind.kind || object.apiVersion !== apiVersionOf(kind)) throw anotherKind(object, served, known);
  const stated = validation === 'Ignore' || body.contentType.includes('yaml') ? [] : statedFields(body.text);
  const complaints = normalise(object, served, validation, stated, warn);
  if (complaints) {
    const [, version] = splitVersion(object.apiVersion);
    throw badRequest(`${kind.kind} in version ${quote(version)} cannot be handled as a ${kind.kind}: ${complaints}`);
  }
  return object;
}

/**
 * Drops what the kind does not know and brings values into their normal form, in place. Gives the decoder's complaint,
 * if there is one; with `Warn` unknown fields become warnings.
 */
export function normalise(
  object: KubeObject,
  served: ServedType,
  validation: FieldValidation,
  stated: readonly StatedField[],
  warn: (message: string) => void,
): string | undefined {
  if (!isObject(object.metadata)) {
    if (object.metadata !== undefined && object.metadata !== null) {
      return `json: cannot unmarshal ${typeof object.metadata} into Go struct field ${object.kind}.metadata of type v1.ObjectMeta`;
    }
    object.metadata = {};
  }
  const unknown = [
    ...pruneUnknown(objectMetaSchema(), object.metadata).map((field) => `metadata.${field}`),
    ...pruneUnknown(served.type.schema, object),
  ];
  const complaint = served.type.decode(object);
  if (complaint) return complaint;
  dropEmptyMetadata(object);
  const strict = strictErrors(unknown, stated, served.custom !== undefined);
  if (strict.length === 0 || validation === 'Ignore') return undefined;
  if (validation === 'Strict') return `strict decoding error: ${strict.join(', ')}`;
  for (const message of strict) warn(message);
  return undefined;
}

/** Go's decoder meets them in the order of the document; custom resources are pruned after they are decoded. */
function strictErrors(unknown: readonly string[], stated: readonly StatedField[], custom: boolean): string[] {
  const errors = [
    ...stated.filter(({ repeated }) => repeated).map(({ path }) => ({ path, text: `duplicate field ${quote(path)}` })),
    ...unknown.map((path) => ({ path, text: `unknown field ${quote(path)}` })),
  ];
  if (!custom) {
    const place = (path: string) => stated.findIndex((field) => field.path === path);
    errors.sort((a, b) => place(a.path) - place(b.path));
  }
  return errors.map(({ text }) => text);
}

/** What `omitempty` drops of ObjectMeta. */
function dropEmptyMetadata({ metadata }: KubeObject): void {
  for (const [field, value] of Object.entries(metadata)) {
    const empty = Array.isArray(value)
      ? value.length === 0 && field !== 'managedFields'
      : isObject(value)
        ? Object.keys(value).length === 0
        : value === null || value === '';
    if (empty) delete (metadata as Record<string, unknown>)[field];
  }
}

/** Upstream tells apart what it does not know, what it cannot convert, and what it could convert but will not. */
function anotherKind(object: KubeObject, served: ServedType, known: (apiVersion: string, kind: string) => boolean) {
  const { kind } = served.type;
  const [, version] = splitVersion(object.apiVersion);
  const refused = (why: string) =>
    badRequest(`${object.kind} in version ${quote(version)} cannot be handled as a ${kind.kind}: ${why}`);
  if (!served.custom && !known(object.apiVersion, object.kind)) {
    const scheme = 'pkg/runtime/scheme.go:111';
    return refused(
      `no kind ${quote(object.kind)} is registered for version ${quote(object.apiVersion)} in scheme ${quote(scheme)}`,
    );
  }
  if (served.custom && object.apiVersion === apiVersionOf(kind)) {
    const error = invalidField('kind', object.kind, `must be ${kind.kind}`);
    return invalid({ group: kind.group, kind: object.kind }, object.metadata?.name ?? '', [error]);
  }
  if (object.kind === kind.kind || served.custom) {
    return badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersionOf(kind)})`,
    );
  }
  const name = (apiVersion: string, of: string) =>
    `${apiVersion.includes('/') ? apiVersion.split('/')[0] : 'core'}.${of}`;
  const from = `${version}.${object.kind}`;
  return refused(`converting (${from}) to (${name(apiVersionOf(kind), kind.kind)}): unknown conversion`);
}

function parseUnrecognized(body: Body, kind: string): unknown {
  try {
    return parseBody(body);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    throw unrecognized(kind, body.text, error.message);
  }
}

function unrecognized(kind: string, text: string, why: string): StatusError {
  let summary = text === '' ? '<empty>' : text.startsWith('{') ? text : Buffer.from(text).toString('hex');
  if (summary.length > 30 && text !== '') {
    summary = `${text.startsWith('{') ? text.slice(0, 30) : Buffer.from(text).subarray(0, 30).toString('hex')} ...`;
  }
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary})`);
}

function splitVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** Go's words for what is most often wrong. */
export function goJsonError(text: string, error: Error): string {
  const found = /position (\d+)/.exec(error.message);
  const atEnd = found && Number(found[1]) >= text.trimEnd().length;
  if (text.trim() === '' || atEnd || /end of JSON input|Unterminated/.test(error.message))
    return 'unexpected end of JSON input';
  const character = found ? text[Number(found[1])] : undefined;
  return character
    ? `invalid character '${character}' looking for beginning of value`
    : `invalid JSON: ${error.message}`;
}

function goYamlError(error: Error): string {
  const line = /at line (\d+)/.exec(error.message)?.[1] ?? '1';
  return `yaml: line ${line}: did not find expected node content`;
}
