import { apiVersionOf, type KubeObject, keyOf } from '@openstack-operator/kube';
import { type Api, crd, group, kinds, nearest, type Root, rootNamed, withWords } from '@openstack-operator/openstack';
import {
  type FieldError,
  pruneUnknown,
  type ResourceType,
  resourceTypeFromCrd,
  type Schema,
} from '@openstack-operator/sandbox/schema';
import { CommandError } from './command-error.ts';
import { composedMistakes } from './composed-mistakes.ts';

import { readResources } from './read-resources.ts';

/** One mistake: where, and what is wrong with it. */
export interface Mistake {
  readonly field: string;
  readonly message: string;
}

/** `kubectl openstack validate`: exit 1 and one line for each mistake; warnings go to standard error. */
export function validateCommand({ file }: { file: string }): void {
  const all = readResources(file);
  const resources = all.filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`));
  for (const { apiVersion, kind } of all.filter((one) => !resources.includes(one))) {
    process.stderr.write(`not checked: ${apiVersion} ${kind} is not of ${group}\n`);
  }
  if (resources.length === 0) throw new CommandError(`${file} has no resource of ${group}`);
  const lines = resources.flatMap((resource) => {
    const title = `${resource.kind} ${keyOf(resource) || '(without a name)'}`;
    return validateResource(resource).map(({ field, message }) => `${title}: ${field}: ${message}`);
  });
  // What is composed of mistakes would be told a second time, in other words.
  for (const { title, field, message, isWarning } of lines.length === 0 ? composedMistakes(resources) : []) {
    const line = `${title}: ${field}: ${message}`;
    if (isWarning === true) process.stderr.write(`warning: ${line}\n`);
    else lines.push(line);
  }
  for (const line of lines) process.stdout.write(`${line}\n`);
  if (lines.length > 0)
    throw new CommandError(`${lines.length} ${lines.length === 1 ? 'mistake' : 'mistakes'} in ${file}`);
  process.stdout.write(
    `${file}: ${resources.length} ${resources.length === 1 ? 'resource is' : 'resources are'} valid\n`,
  );
}

/** What admission would say of a resource of ours, with strict field validation; unknown kinds are a mistake as well. */
export function validateResource(resource: KubeObject): Mistake[] {
  const api = kinds.find((kind) => kind.kind === resource.kind);
  if (api === undefined) return [unknownKind(resource)];
  if (resource.apiVersion !== apiVersionOf(api)) {
    return [
      {
        field: 'apiVersion',
        message: `${JSON.stringify(resource.apiVersion)} is not known; it has to be ${apiVersionOf(api)}`,
      },
    ];
  }
  const mistakes = admissionOf(api, resource);
  const root = rootNamed(resource);
  if (root === undefined) return mistakes;
  const told = new Set(mistakes.map(({ field }) => field));
  return [...mistakes, ...embeddedMistakes(resource, root).filter(({ field }) => !told.has(field))];
}

function admissionOf(api: Api, resource: KubeObject): Mistake[] {
  const type = typeOf(api);
  const object = structuredClone(resource);
  object.metadata.namespace ??= 'default';
  const unknown = pruneUnknown(type.schema, object).map((field) => unknownField(type.schema, field));
  type.prepareForCreate(object);
  return [...unknown, ...type.validateCreate(object).filter(isOfTheUser).map(mistakeOf)];
}

const types = new Map<Api, ResourceType>();

function typeOf(api: Api): ResourceType {
  const type = types.get(api) ?? resourceTypeFromCrd(crd(api), api.version);
  types.set(api, type);
  return type;
}

/** Mistakes in the services of a cloud that only the services' own definitions know, in its root's fields. */
function embeddedMistakes({ apiVersion, spec }: KubeObject & { spec?: unknown }, { children }: Root): Mistake[] {
  return children.flatMap(({ kind, field }) => {
    const api = kinds.find((one) => one.kind === kind);
    const template: unknown = isObject(spec) ? spec[field] : undefined;
    if (api === undefined || !isObject(template)) return [];
    const { enabled: _enabled, ...own } = template;
    const mistakes = admissionOf(api, { apiVersion, kind, metadata: { name: field.toLowerCase() }, spec: own });
    return mistakes.map((mistake) => ({
      ...mistake,
      field: mistake.field.replace(/^spec(?![^.[])/u, `spec.${field}`),
    }));
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownKind({ apiVersion, kind }: KubeObject): Mistake {
  const known = kinds.map((one: Api) => one.kind);
  const near = nearest(kind, known);
  return {
    field: 'kind',
    message: `${apiVersion} ${kind} is not a kind of ${group} in this version${near === undefined ? `; known: ${known.join(', ')}` : `; did you mean ${near}?`}`,
  };
}

function unknownField(schema: Schema, path: string): Mistake {
  const parts = path
    .replaceAll(/\[\d+\]/g, '.[]')
    .split('.')
    .filter((part) => part !== '');
  const name = parts.pop() ?? path;
  let parent: Schema | undefined = schema;
  for (const part of parts) {
    const next: Schema | undefined = part === '[]' ? parent?.items : parent?.properties?.[part];
    parent = next ?? (typeof parent?.additionalProperties === 'object' ? parent.additionalProperties : undefined);
  }
  const known = Object.keys(parent?.properties ?? {});
  const near = nearest(name, known);
  const hint =
    near === undefined
      ? known.length === 0
        ? ''
        : `; known here: ${known.sort().join(', ')}`
      : `; did you mean ${near}?`;
  return { field: path, message: `unknown field ${JSON.stringify(name)}${hint}` };
}

/** CEL rules are only checked on objects of the right shape; that this was not done is no mistake of its own. */
function isOfTheUser({ field }: FieldError): boolean {
  return field !== '<nil>';
}

/** The API server's words without what stands in front of them already: the field, and the value. */
function mistakeOf({ type, field, value, detail }: FieldError): Mistake {
  const words = (type === 'Duplicate' ? 'duplicate of another item' : withWords(detail))
    .replace(`${field} in body `, '')
    .replace(/^must be of type (\w+): "(\w+)"$/, 'must be of type $1, not $2');
  if (type === 'Required') return { field, message: `required${words === '' ? '' : `: ${words}`}` };
  const shown =
    value === undefined || type === 'Forbidden' || type === 'TypeInvalid' ? '' : `${JSON.stringify(value)}: `;
  return { field: field === '' ? '(root)' : field, message: `${shown.length > 120 ? '' : shown}${words}` };
}
