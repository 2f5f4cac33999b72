import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { type Api, group, kinds, nearest, neededFields, type Root, rootNamed } from '@openstack-operator/openstack';
import { admissionOf, type Mistake } from './admission.ts';
import { isObject } from './is-object.ts';
import { bytesOf, largestField, largestObject, mebibytes } from './object-size.ts';

/** Kind and key of a resource, in front of each of its mistakes. */
export function titleOf(resource: KubeObject): string {
  const { name, namespace } = resource.metadata;
  const key = typeof name !== 'string' || name === '' ? '(without a name)' : name;
  return `${resource.kind} ${typeof namespace === 'string' && namespace !== '' ? `${namespace}/` : ''}${key}`;
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
  const bytes = bytesOf(resource);
  // Nothing else is worth being said of what is no resource, and it would take long.
  if (bytes > largestObject) return [tooLarge(resource, bytes)];
  const { mistakes } = admissionOf(api, resource);
  const root = rootNamed(resource);
  if (root === undefined) return [...mistakes];
  const told = new Set(mistakes.map(({ field }) => field));
  return [...mistakes, ...embeddedMistakes(resource, root).filter(({ field }) => !told.has(field))];
}

function tooLarge(resource: KubeObject, bytes: number): Mistake {
  const field = largestField(resource);
  return {
    field: field === '' ? '(root)' : field,
    message: `the resource has ${mebibytes(bytes)} as JSON, most of it here; etcd takes objects of at most ${mebibytes(largestObject)}: shorten it`,
  };
}

/** Mistakes in the services of a cloud that only the services' own definitions know, in its root's fields. */
function embeddedMistakes({ apiVersion, spec }: KubeObject & { spec?: unknown }, { children }: Root): Mistake[] {
  return children.flatMap(({ kind, field }) => {
    const api = kinds.find((one) => one.kind === kind);
    const template: unknown = isObject(spec) ? spec[field] : undefined;
    if (api === undefined || !isObject(template)) return [];
    const { enabled, ...own } = template;
    const { mistakes } = admissionOf(api, { apiVersion, kind, metadata: { name: field.toLowerCase() }, spec: own });
    // A service that is disabled has to say nothing.
    const required = enabled === false ? neededFields(api.spec.schema) : [];
    const isMissed = ({ field }: Mistake) =>
      !required.some((name) => field === `spec.${name}` && own[name] === undefined);
    return mistakes.filter(isMissed).map((mistake) => ({
      ...mistake,
      field: mistake.field.replace(/^spec(?![^.[])/u, `spec.${field}`),
    }));
  });
}

function unknownKind({ apiVersion, kind }: KubeObject): Mistake {
  const known = kinds.map((one: Api) => one.kind);
  const near = nearest(kind, known);
  return {
    field: 'kind',
    message: `${apiVersion} ${kind} is not a kind of ${group} in this version${near === undefined ? `; known: ${known.join(', ')}` : `; did you mean ${near}?`}`,
  };
}
