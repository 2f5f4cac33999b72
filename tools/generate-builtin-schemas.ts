// Writes packages/sandbox/src/generated/: what the sandbox knows of the built-in kinds.
//   node tools/generate-builtin-schemas.ts
// Two sources, both of the release that tools/kubernetes builds: a running kube-apiserver (/openapi/v3: types, list types,
// patch strategies, descriptions; discovery; the heads of its tables), and the Go structs behind it (pointers and
// omitempty, which OpenAPI does not tell, but which decide how an absent or empty field is stored; and the numbers of
// fields in protobuf, which kubectl writes).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..');
const target = join(root, 'packages/sandbox/src/generated');
const command = 'node tools/generate-builtin-schemas.ts';

/** Group versions whose documents hold the kinds that the sandbox serves, and the kinds that begin each walk. */
const served: Readonly<Record<string, readonly string[]>> = {
  'api/v1': [
    'Binding',
    'ConfigMap',
    'Endpoints',
    'Event',
    'Eviction',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'Secret',
    'Service',
    'ServiceAccount',
    'TokenRequest',
  ],
  'apis/admissionregistration.k8s.io/v1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apis/apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apis/apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'apis/authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenReview'],
  'apis/authorization.k8s.io/v1': [
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ],
  'apis/autoscaling/v2': ['HorizontalPodAutoscaler'],
  'apis/batch/v1': ['CronJob', 'Job'],
  'apis/coordination.k8s.io/v1': ['Lease'],
  'apis/discovery.k8s.io/v1': ['EndpointSlice'],
  'apis/events.k8s.io/v1': ['Event'],
  'apis/networking.k8s.io/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'apis/policy/v1': ['PodDisruptionBudget'],
  'apis/rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'apis/scheduling.k8s.io/v1': ['PriorityClass'],
  'apis/storage.k8s.io/v1': ['StorageClass'],
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

/** A field of a Go struct as its declaration says. */
interface GoField {
  readonly type: string;
  readonly options: readonly string[];
  /** Protobuf field numbers, outermost first: more than one where structs are embedded. */
  readonly numbers: readonly string[];
}

function word(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function object(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

// --- the real server's documents ---

/** GETs a path of the running API server. */
type Get = (path: string, accept?: string) => Promise<JsonObject>;

async function withServer<T>(use: (get: Get) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'builtin-schemas-'));
  const tools = join(root, 'tools/kubernetes');
  execFileSync(join(tools, 'up'), ['--api-only', '--dir', directory], { stdio: 'ignore' });
  try {
    const read = (file: string) => readFileSync(join(directory, file));
    const [, port] = /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(read('kubeconfig').toString()) ?? [];
    const tls = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key'), host: '127.0.0.1', port };
    return await use(async (path, accept = 'application/json') => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ ...tls, path: `/${path}`, headers: { accept }, agent: false }, resolve).on('error', reject);
      });
      return JSON.parse(await text(response)) as JsonObject;
    });
  } finally {
    execFileSync(join(tools, 'down'), ['--dir', directory], { stdio: 'ignore' });
  }
}

/** What the server says of a kind in discovery and in the head of its table. */
async function describeKinds(get: Get, path: string): Promise<Record<string, JsonObject>> {
  const list = await get(path);
  const resources = (Array.isArray(list.resources) ? list.resources : []).map(object);
  const result: Record<string, JsonObject> = {};
  for (const resource of resources) {
    const { name, kind, singularName, namespaced, verbs, shortNames = [], categories = [] } = resource;
    if (word(name).includes('/') || !served[path]?.includes(word(kind)) || !Array.isArray(verbs)) continue;
    const subresources = resources
      .map((other) => word(other.name))
      .filter((other) => other.startsWith(`${word(name)}/`))
      .map((other) => other.slice(word(name).length + 1));
    const table = verbs.includes('list')
      ? await get(`${path}/${word(name)}`, 'application/json;as=Table;g=meta.k8s.io;v=v1')
      : {};
    result[`${path.replace(/^apis?\//, '')}/${word(kind)}`] = {
      plural: name ?? '',
      singular: singularName ?? '',
      namespaced: namespaced ?? false,
      shortNames,
      categories,
      verbs,
      subresources,
      columns: table.columnDefinitions ?? [],
    };
  }
  return result;
}

const { documents, facts } = await withServer(async (get) => {
  const documents: Record<string, JsonObject> = {};
  const facts: Record<string, JsonObject> = {};
  for (const path of Object.keys(served)) {
    documents[path] = object((await get(`openapi/v3/${path}`)).components);
    Object.assign(facts, await describeKinds(get, path));
  }
  return { documents, facts };
});

// --- the Go structs ---

const moduleDirectories = new Map<string, string>();

function moduleDirectory(module: string): string {
  const known = moduleDirectories.get(module);
  if (known) return known;
  const options = { cwd: join(root, 'tools/kubernetes'), encoding: 'utf8' } as const;
  const directory = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], options).trim();
  moduleDirectories.set(module, directory);
  return directory;
}

/** `io.k8s.api.apps.v1.Deployment` -> module, folder within it, package alias, type name. */
function locate(definition: string): { module: string; folder: string; alias: string; name: string } {
  const parts = definition.split('.');
  const name = parts.pop() ?? '';
  const alias = parts.at(-1) ?? '';
  return { module: `k8s.io/${parts[2]}`, folder: parts.slice(3).join('/'), alias, name };
}

const packages = new Map<string, Map<string, Map<string, GoField>>>();

function structsOf(module: string, folder: string): Map<string, Map<string, GoField>> {
  const key = `${module}/${folder}`;
  const known = packages.get(key);
  if (known) return known;
  const structs = new Map<string, Map<string, GoField>>();
  const directory = join(moduleDirectory(module), folder);
  for (const file of readdirSync(directory).filter((name) => /^(.*_)?types(_.*)?\.go$/.test(name))) {
    let current: Map<string, GoField> | undefined;
    for (const line of readFileSync(join(directory, file), 'utf8').split('\n')) {
      const start = /^type (\w+) struct \{/.exec(line) ?? /^\t(\w+) struct \{/.exec(line);
      if (start?.[1]) structs.set(start[1], (current = new Map()));
      else if (line.startsWith('}')) current = undefined;
      const field = /^\t(?:(\w+)\s+)?([\w.*[\]]+)\s+`.*json:"([^"]*)"/.exec(line);
      if (!current || !field) continue;
      const [, , type = '', tag = ''] = field;
      const [json = '', ...options] = tag.split(',');
      const [, number] = /protobuf:"\w+,(\d+)/.exec(line) ?? [];
      current.set(json === '' ? `inline ${type}` : json, { type, options, numbers: number ? [number] : [] });
    }
  }
  packages.set(key, structs);
  return structs;
}

/** The struct's field of that JSON name, looked up through embedded structs. */
function goField(definition: string, name: string): GoField {
  const { module, folder, name: struct } = locate(definition);
  const find = (structName: string): GoField | undefined => {
    const fields = structsOf(module, folder).get(structName);
    if (!fields) return undefined;
    const direct = fields.get(name);
    if (direct) return direct;
    for (const [key, { type, numbers }] of fields) {
      const found = key.startsWith('inline ') && !type.includes('.') ? find(type.replace('*', '')) : undefined;
      if (found) return { ...found, numbers: [...numbers, ...found.numbers] };
    }
    return undefined;
  };
  const found = find(struct);
  // TypeMeta is embedded from another package.
  if (!found && (name === 'kind' || name === 'apiVersion'))
    return { type: 'string', options: ['omitempty'], numbers: [] };
  if (!found) throw new Error(`${definition}: the Go struct ${struct} has no field ${name}`);
  return found;
}

// --- compact schemas ---

const specialTypes: Readonly<Record<string, JsonObject>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    'x-kubernetes-int-or-string': true,
    'x-go-type': 'quantity',
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    'x-kubernetes-int-or-string': true,
    'x-go-type': 'intOrString',
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': { type: 'string', format: 'date-time', 'x-go-type': 'time' },
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': { type: 'string', format: 'date-time', 'x-go-type': 'microTime' },
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': raw('object'),
  'io.k8s.apimachinery.pkg.runtime.RawExtension': raw('object'),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': raw(),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': raw(),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': raw(),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': raw(),
};

function raw(type?: string): JsonObject {
  return { ...(type && { type }), 'x-kubernetes-preserve-unknown-fields': true, 'x-go-type': 'raw' };
}

const kept = [
  'type',
  'format',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-patch-strategy',
];

/** A definition's or field's schema without descriptions; `$ref` names a definition. */
function compact(schema: JsonObject): JsonObject {
  const allOf = Array.isArray(schema.allOf) ? object(schema.allOf[0]) : {};
  const reference = schema.$ref ?? allOf.$ref;
  const result: JsonObject = {};
  if (typeof reference === 'string') result.$ref = reference.replace('#/components/schemas/', '');
  for (const name of kept) if (schema[name] !== undefined) result[name] = schema[name];
  if (schema.items !== undefined) result.items = compact(object(schema.items));
  if (schema.additionalProperties !== undefined) {
    result.additionalProperties = compact(object(schema.additionalProperties));
  }
  return result;
}

/** How Go writes the field when it is absent or zero; see `x-go-zero` in resources/schema.ts. */
function zeroOf(field: GoField, schema: JsonObject): 'drop' | 'fill' | 'null' | undefined {
  const omits = field.options.includes('omitempty');
  if (field.type.startsWith('*')) return omits ? undefined : 'null';
  const special = specialTypes[word(schema.$ref)]?.['x-go-type'];
  if (special === 'time' || special === 'microTime' || special === 'raw') {
    return field.options.includes('omitzero') ? 'drop' : special === 'raw' && omits ? undefined : 'null';
  }
  if (schema.$ref !== undefined) return field.options.includes('omitzero') ? 'drop' : 'fill';
  const isCollection = schema.type === 'array' || schema.additionalProperties !== undefined || schema.format === 'byte';
  if (omits || field.options.includes('omitzero')) return 'drop';
  return isCollection ? 'null' : 'fill';
}

/** The Go type as decoding errors name it, where it does not follow from the schema. */
function goType(field: GoField, schema: JsonObject, alias: string): string | undefined {
  const bare = field.type.replace(/^\*/, '');
  const qualify = (name: string): string => {
    if (name.startsWith('*')) return qualify(name.slice(1));
    if (name.startsWith('[]')) return `[]${qualify(name.slice(2))}`;
    const map = /^map\[([\w.]+)\](.+)$/.exec(name);
    if (map) return `map[${qualify(map[1] ?? '')}]${qualify(map[2] ?? '')}`;
    if (/^(u?int\d*|string|bool|byte|float\d+)$/.test(name)) return name === 'byte' ? 'uint8' : name;
    if (name.includes('.')) return name.replace(/^(?:metav1|corev1|autoscalingv2|authnv1)\./, 'v1.');
    return `${alias}.${name}`;
  };
  const type = qualify(bare);
  const derived =
    schema.type === 'string'
      ? 'string'
      : schema.type === 'boolean'
        ? 'bool'
        : typeof schema.format === 'string'
          ? schema.format
          : '';
  return schema.$ref !== undefined || type === derived ? undefined : type;
}

function compactDefinition(name: string, schema: JsonObject): JsonObject {
  if (specialTypes[name]) return specialTypes[name];
  const { alias } = locate(name);
  const result = compact(schema);
  const properties = Object.entries(object(schema.properties));
  if (properties.length > 0) {
    result.properties = Object.fromEntries(
      properties.map(([property, value]) => {
        const compacted = compact(object(value));
        const field = goField(name, property);
        const zero = zeroOf(field, compacted);
        const type = goType(field, compacted, alias);
        // Server-side apply needs the defaults of keys of lists, such as `protocol: TCP`; others say nothing that Go does not.
        const preset = object(value).default;
        if (listKeys.has(property) && preset !== undefined && typeof preset !== 'object') compacted.default = preset;
        const number = field.numbers.join('.');
        return [
          property,
          {
            ...compacted,
            ...(zero && { 'x-go-zero': zero }),
            ...(type && { 'x-go-name': type }),
            ...(number && { 'x-protobuf': number }),
          },
        ];
      }),
    );
  }
  return result;
}

/** Names of all keys of lists of type map. */
function findListKeys(schema: Json, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const item of schema) findListKeys(item, found);
  else if (typeof schema === 'object' && schema !== null) {
    const keys = schema['x-kubernetes-list-map-keys'];
    if (Array.isArray(keys)) for (const key of keys) found.add(word(key));
    for (const value of Object.values(schema)) findListKeys(value, found);
  }
  return found;
}

function references(schema: Json, found: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) references(item, found);
  else if (typeof schema === 'object' && schema !== null) {
    if (typeof schema.$ref === 'string') found.add(schema.$ref.replace('#/components/schemas/', ''));
    for (const value of Object.values(schema)) references(value, found);
  }
}

// --- output ---

const listKeys = findListKeys(documents);
const definitions = new Map<string, JsonObject>();
const kinds: Record<string, string> = {};
for (const [path, names] of Object.entries(served)) {
  const schemas = object(documents[path]?.schemas);
  const queue: string[] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    const gvks = object(schema)['x-kubernetes-group-version-kind'];
    const [gvk] = Array.isArray(gvks) && gvks.length === 1 ? gvks.map(object) : [];
    if (!gvk || !names.includes(word(gvk.kind))) continue;
    kinds[`${apiVersion(gvk)}/${word(gvk.kind)}`] = name;
    queue.push(name, ...(schemas[`${name}List`] ? [`${name}List`] : []));
  }
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (definitions.has(name)) continue;
    const schema = object(schemas[name]);
    definitions.set(name, schema);
    const found = new Set<string>();
    references(schema, found);
    queue.push(...found);
  }
}

function apiVersion(gvk: JsonObject): string {
  return gvk.group ? `${word(gvk.group)}/${word(gvk.version)}` : word(gvk.version);
}

function sortedKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Definitions of one Go package as one text, so that a reader parses only the packages that it needs. */
function chunks(convert: (name: string, schema: JsonObject) => JsonObject | undefined): Record<string, string> {
  const byPackage: Record<string, JsonObject> = {};
  for (const name of [...definitions.keys()].sort()) {
    const schema = definitions.get(name);
    const converted = schema && convert(name, schema);
    if (converted) (byPackage[name.slice(0, name.lastIndexOf('.'))] ??= {})[name] = converted;
  }
  return Object.fromEntries(Object.entries(byPackage).map(([name, chunk]) => [name, JSON.stringify(chunk)]));
}

mkdirSync(target, { recursive: true });
const note = `Generated by \`${command}\`. Do not edit.`;
const isList = (name: string) => name.endsWith('List') && definitions.has(name.slice(0, -4));
const write = (file: string, content: JsonObject) =>
  writeFileSync(join(target, file), `${JSON.stringify({ note, ...content }, null, 1)}\n`);
write('schemas.json', {
  kinds: sortedKeys(kinds),
  packages: chunks((name, schema) => (isList(name) ? undefined : compactDefinition(name, schema))),
});
write('kinds.json', { kinds: sortedKeys(facts) });
write('openapi.json', { packages: chunks((_name, schema) => schema) });
