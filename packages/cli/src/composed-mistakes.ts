import { controllerOf, type KubeObject, keyOf } from '@openstack-operator/kube';
import { type Problem, rootNamed } from '@openstack-operator/openstack';
import type { Mistake } from './admission.ts';
import { hostnameMistakes, objectMistakes } from './composed-objects.ts';
import { objectsOf, type Rendered, renderAll } from './render.ts';

/** What shows when a resource is composed. */
export interface ComposedMistake {
  /** Kind and key of the resource of the file that has it. */
  readonly title: string;
  readonly field: string;
  readonly message: string;
  /** It works all the same. */
  readonly isWarning?: true;
}

/** Reasons of what is wrong with a spec itself, whatever the cluster has. */
const ofSpec: ReadonlySet<Problem['reason']> = new Set([
  'ConfigRefused',
  'DependencyDisabled',
  'ExposureRefused',
  'GroupRefused',
  'HostnameMissing',
  'ReleaseUnknown',
  'SpecRefused',
]);

/**
 * What the operator would refuse of valid resources when it composes them, and what it would only tell of: options that the
 * release does not have or that follow from fields, files and cells that there are not, services that lack one that they
 * need. What references lead to outside of the file is taken to be there, and nothing is known of its spec.
 */
export function composedMistakes(resources: readonly KubeObject[]): ComposedMistake[] {
  const rendered = renderAll(resources, new Set(), { assumed: true });
  const composed = rendered.flatMap((one) => {
    const told = (text: string, isWarning: boolean): ComposedMistake => {
      const [, field = 'spec', message = text] = /^(spec[.[].*?): (.*)$/su.exec(text) ?? [];
      const placed = inFile(one.resource, { field, message });
      const isInherited =
        placed.field !== field && statedAbove(resources, one.resource, { field, placed: placed.field });
      return { ...placed, ...(isInherited ? { field } : {}), ...(isWarning ? { isWarning } : {}) };
    };
    return [
      ...one.composition.steps.flatMap(({ problem, remarks = [] }) => [
        ...(problem !== undefined && ofSpec.has(problem.reason) ? problem.message.split(/; (?=spec[.[])/u) : []).map(
          (text) => told(text, false),
        ),
        ...remarks.map((text) => told(text, true)),
      ]),
      ...objectMistakes(one).map((mistake) => inFile(one.resource, mistake)),
    ];
  });
  const hostnames = hostnameMistakes(rendered).map(({ resource, mistake }) => inFile(resource, mistake));
  const all = [...composed, ...hostnames, ...collisions(rendered)];
  // What a control plane states for all its services is a mistake once.
  return [...new Map(all.map((one) => [JSON.stringify([one.title, one.field, one.message]), one])).values()];
}

/** Whether a child has a field from its owner's spec, which states it for all: `spec.tolerations`. */
function statedAbove(
  resources: readonly KubeObject[],
  child: KubeObject,
  { field, placed }: { readonly field: string; readonly placed: string },
): boolean {
  const owner = controllerOf(child);
  const above = resources.find(({ kind, metadata }) => kind === owner?.kind && metadata.name === owner.name);
  const [name = ''] = /[^.[]+/u.exec(field.slice('spec.'.length)) ?? [];
  const stated = (path: readonly string[]) =>
    path.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], above?.['spec']);
  const [, service = ''] = placed.split('.');
  return stated([name]) !== undefined && stated([service, name]) === undefined;
}

/** A mistake of a resource as the resource of the file has it that it comes from. */
function inFile(resource: KubeObject, { field, message }: Mistake): ComposedMistake {
  const owner = controllerOf(resource);
  const child = owner && rootNamed(owner)?.children.find(({ kind }) => kind === resource.kind);
  const within = (path: string) =>
    child === undefined ? path : path.replaceAll(/\bspec(?=[.[])/gu, `spec.${child.field}`);
  // A field of another resource stands there as that resource has it.
  return {
    title: titleOf(resource),
    field: within(field),
    message: message.includes(' of the ') ? message : within(message),
  };
}

/** The resource of the file that another one comes from, or is. */
function titleOf(resource: KubeObject): string {
  const { kind, name } = controllerOf(resource) ?? { kind: resource.kind, name: resource.metadata.name };
  return `${kind} ${keyOf({ metadata: { ...resource.metadata, ...(name === undefined ? {} : { name }) } })}`;
}

/** Resources that come to objects of the same kind and name: the one that is written first would have them. */
function collisions(rendered: readonly Rendered[]): ComposedMistake[] {
  const owners = new Map<string, KubeObject>();
  return rendered.flatMap(({ resource, composition }) => {
    const taken = objectsOf(composition).flatMap((object) => {
      const id = `${object.kind} ${keyOf(object)}`;
      const other = owners.get(id);
      if (other === undefined) owners.set(id, resource);
      return other === undefined ? [] : [{ id, other }];
    });
    const [first] = taken;
    if (first === undefined) return [];
    const more = taken.length === 1 ? '' : `, and ${taken.length - 1} more`;
    const message = `${first.other.kind} ${keyOf(first.other)} comes to objects of the same names (${first.id}${more}): give one of the two another name`;
    return [{ title: titleOf(resource), field: 'metadata.name', message }];
  });
}
