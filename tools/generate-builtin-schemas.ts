// Writes packages/sandbox/src/generated/: what the sandbox knows of the built-in kinds.
//   node tools/generate-builtin-schemas.ts
// Two sources, both of the release that tools/kubernetes builds: a running kube-apiserver (/openapi/v3: types, list types,
// patch strategies, descriptions; discovery; the heads of its tables), and the Go structs behind it (pointers and
// omitempty, which OpenAPI does not tell, but which decide how an absent or empty field is stored; and the numbers of
// fields in protobuf, which kubectl writes).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeKinds, withServer } from './builtin-schemas/api-server.ts';
import { compactDefinition } from './builtin-schemas/compact-schema.ts';
import { type Json, type JsonObject, object, word } from './builtin-schemas/json.ts';

const target = join(import.meta.dirname, '../packages/sandbox/src/generated');
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
    'ResourceQuota',
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
  'apis/flowcontrol.apiserver.k8s.io/v1': ['FlowSchema'],
  'apis/networking.k8s.io/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'apis/policy/v1': ['PodDisruptionBudget'],
  'apis/rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'apis/scheduling.k8s.io/v1': ['PriorityClass'],
  'apis/storage.k8s.io/v1': ['StorageClass'],
};

const { documents, facts } = await withServer(async (get) => {
  const documents: Record<string, JsonObject> = {};
  const facts: Record<string, JsonObject> = {};
  for (const [path, kinds] of Object.entries(served)) {
    documents[path] = object((await get(`openapi/v3/${path}`)).components);
    Object.assign(facts, await describeKinds(get, path, kinds));
  }
  return { documents, facts };
});

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
  packages: chunks((name, schema) => (isList(name) ? undefined : compactDefinition(name, schema, listKeys))),
});
write('kinds.json', { kinds: sortedKeys(facts) });
write('openapi.json', { packages: chunks((_name, schema) => schema) });
