import generated from '../generated/schemas.json' with { type: 'json' };
import type { Schema } from './schema.ts';

/** A schema as the generated file holds it: `$ref` names a definition. */
interface Reference {
  readonly $ref?: string;
  readonly items?: Reference;
  readonly additionalProperties?: Reference;
  readonly properties?: Readonly<Record<string, Reference>>;
}

const packages: Readonly<Record<string, string>> = generated.packages;
const kinds: Readonly<Record<string, string>> = generated.kinds;
const parsed = new Map<string, Readonly<Record<string, Reference>>>();
const resolved = new Map<string, Schema>();
/** Copies of definitions that refer to themselves, completed when the definition is. */
const pending = new Map<string, object[]>();

/**
 * The schema of a built-in kind, such as `apps/v1/Deployment` or `v1/Pod`. Parsed on first use, package by package.
 * Schemas are shared and may hold themselves (CustomResourceDefinition): walk them along with an object only.
 * @throws Error when the kind is not among the generated ones
 */
export function builtinSchema(apiVersionAndKind: string): Schema {
  const name = kinds[apiVersionAndKind];
  if (name === undefined) {
    throw new Error(`no generated schema for ${apiVersionAndKind}: add it to tools/generate-builtin-schemas.ts`);
  }
  return definition(name);
}

/** The schema of `metadata`. */
export function objectMetaSchema(): Schema {
  return definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
}

/** The schema of the options of a delete, which belong to no group. */
export function deleteOptionsSchema(): Schema {
  return definition('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
}

/** Whether there is a schema for a kind, such as `apps/v1/Deployment`. */
export function isBuiltin(apiVersionAndKind: string): boolean {
  return Object.hasOwn(kinds, apiVersionAndKind);
}

function definition(name: string): Schema {
  const known = resolved.get(name);
  if (known) return known;
  const packageName = name.slice(0, name.lastIndexOf('.'));
  const source = parsePackage(packageName)[name];
  if (!source) throw new Error(`the generated schemas hold no definition ${name}`);
  const target: Record<string, unknown> = {};
  resolved.set(name, target);
  pending.set(name, []);
  Object.assign(target, resolve(source), { 'x-go-name': name.split('.').slice(-2).join('.') });
  for (const copy of pending.get(name) ?? []) Object.assign(copy, { ...target, ...copy });
  pending.delete(name);
  return target;
}

function parsePackage(name: string): Readonly<Record<string, Reference>> {
  const known = parsed.get(name);
  if (known) return known;
  const chunk: Readonly<Record<string, Reference>> = JSON.parse(packages[name] ?? '{}');
  parsed.set(name, chunk);
  return chunk;
}

function resolve(source: Reference): Schema {
  const { $ref, items, additionalProperties, properties, ...rest } = source;
  const own: Record<string, unknown> = { ...rest };
  if (items) own.items = resolve(items);
  if (additionalProperties) own.additionalProperties = resolve(additionalProperties);
  if (properties) {
    own.properties = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, resolve(field)]));
  }
  if ($ref === undefined) return own;
  const referred = definition($ref);
  const copies = pending.get($ref);
  if (copies) copies.push(own);
  return copies ? own : { ...referred, ...own };
}
