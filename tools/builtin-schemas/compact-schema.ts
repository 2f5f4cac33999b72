import { type GoField, goField, locate } from './go-structs.ts';
import { type JsonObject, object, word } from './json.ts';

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

/** A definition with what its Go struct says of each field; with the defaults of properties that are keys of lists. */
export function compactDefinition(name: string, schema: JsonObject, listKeys: ReadonlySet<string>): JsonObject {
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
