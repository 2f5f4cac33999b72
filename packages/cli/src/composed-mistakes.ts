import { controllerOf, type KubeObject, keyOf } from '@openstack-operator/kube';
import { type Problem, rootNamed } from '@openstack-operator/openstack';
import { renderAll } from './render.ts';

/** A mistake that shows when a resource is composed. */
export interface ComposedMistake {
  /** Kind and key of the resource of the file that has it. */
  readonly title: string;
  readonly field: string;
  readonly message: string;
}

/** Reasons of what is wrong with a spec itself, whatever the cluster has. */
const ofSpec: ReadonlySet<Problem['reason']> = new Set([
  'ConfigRefused',
  'DependencyDisabled',
  'GroupRefused',
  'ReleaseUnknown',
]);

/**
 * What the operator would refuse of valid resources when it composes them: options that follow from fields, files and
 * cells that there are not, services that lack one that they need. What references lead to outside of the file is taken to
 * be there, and nothing is known of its spec.
 */
export function composedMistakes(resources: readonly KubeObject[]): ComposedMistake[] {
  return renderAll(resources, new Set(), { assumed: true }).flatMap(({ resource, composition }) => {
    const owner = controllerOf(resource);
    const child = owner && rootNamed(owner)?.children.find(({ kind }) => kind === resource.kind);
    const title = `${owner?.kind ?? resource.kind} ${keyOf(owner === undefined ? resource : { metadata: { ...resource.metadata, name: owner.name } })}`;
    return composition.steps
      .flatMap(({ problem }) => (problem !== undefined && ofSpec.has(problem.reason) ? [problem.message] : []))
      .flatMap((message) => message.split(/; (?=spec[.[])/u))
      .map((text) => {
        const [, field = 'spec', message = text] = /^(spec[.[].*?): (.*)$/su.exec(text) ?? [];
        if (child === undefined) return { title, field, message };
        const within = (path: string) => path.replaceAll(/\bspec(?=[.[])/gu, `spec.${child.field}`);
        // A field of another resource stands there as that resource has it.
        return { title, field: within(field), message: message.includes(' of the ') ? message : within(message) };
      });
  });
}
