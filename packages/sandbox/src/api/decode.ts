import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { parse as parseYaml } from 'yaml';
import { objectMetaSchema } from '../resources/builtin-schema.ts';
import { notSupported, quote } from '../resources/field-error.ts';
import { isObject } from '../resources/json.ts';
import { pruneUnknown } from '../resources/pruning.ts';
import { duplicateFields } from './duplicate-fields.ts';
import type { ServedType } from './registry.ts';
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
  const error = notSupported('fieldValidation', value, ['Ignore', 'Strict', 'Warn']);
  throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [error]);
}

/** The body as JSON or YAML. @throws StatusError 400 not readable, 415 another media type */
export function parseBody({ text, contentType }: Body): unknown {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  const yaml = mediaType === 'application/yaml' || mediaType.endsWith('+yaml');
  if (!yaml && mediaType !== '' && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw unsupportedMediaType([
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/cbor',
    ]);
  }
  try {
    return yaml
      ? (parseYaml(text, { schema: 'yaml-1.1', uniqueKeys: false }) as unknown)
      : (JSON.parse(text) as unknown);
  } catch (error) {
    throw badRequest(
      yaml
        ? `error converting YAML to JSON: yaml: ${(error as Error).message}`
        : `couldn't get version/kind; json parse error: ${goJsonError(text, error as Error)}`,
    );
  }
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
): KubeObject {
  const parsed = parseBody(body);
  const { kind } = served.type;
  if (!isObject(parsed)) throw unrecognized(kind.kind, body.text, 'json: cannot unmarshal into Go value');
  const object = parsed as KubeObject;
  if (!object.apiVersion) object.apiVersion = apiVersionOf(kind);
  if (!object.kind) object.kind = kind.kind;
  if (object.kind !== kind.kind || groupOf(object.apiVersion) !== kind.group) {
    const [group, version] = splitVersion(object.apiVersion);
    if (served.custom || object.kind === kind.kind) throw wrongVersion(object.apiVersion, apiVersionOf(kind));
    throw badRequest(
      `${object.kind} in version ${quote(version)} cannot be handled as a ${kind.kind}: converting (${group || 'v1'}.${object.kind}) to (${kind.group || 'core'}.${kind.kind}): unknown conversion`,
    );
  }
  if (object.apiVersion !== apiVersionOf(kind)) throw wrongVersion(object.apiVersion, apiVersionOf(kind));
  const duplicates =
    validation === 'Ignore' || body.contentType.includes('yaml')
      ? []
      : duplicateFields(body.text).map((field) => `duplicate field ${quote(field)}`);
  const complaints = normalise(object, served, validation, duplicates, warn);
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
  duplicates: readonly string[],
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
  ].map((field) => `unknown field ${quote(field)}`);
  const complaint = served.type.decode(object);
  if (complaint) return complaint;
  dropEmptyMetadata(object);
  const strict = [...duplicates, ...unknown];
  if (strict.length === 0 || validation === 'Ignore') return undefined;
  if (validation === 'Strict') return `strict decoding error: ${strict.join(', ')}`;
  for (const message of strict) warn(message);
  return undefined;
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

function wrongVersion(given: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);
}

function unrecognized(kind: string, text: string, why: string): StatusError {
  const summary = text === '' ? '<empty>' : text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary})`);
}

function splitVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

function groupOf(apiVersion: string): string {
  return splitVersion(apiVersion)[0];
}

/** Go's words for what is most often wrong. */
function goJsonError(text: string, error: Error): string {
  if (text.trim() === '' || /end of JSON input|Unterminated/.test(error.message)) return 'unexpected end of JSON input';
  const found = /position (\d+)/.exec(error.message);
  const character = found ? text[Number(found[1])] : undefined;
  return character
    ? `invalid character '${character}' looking for beginning of value`
    : `invalid JSON: ${error.message}`;
}
