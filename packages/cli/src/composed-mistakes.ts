import { controllerOf, type KubeObject, keyOf } from '@openstack-operator/kube';
import { type Problem, rootNamed } from '@openstack-operator/openstack';
import { renderAll } from './render.ts';

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
  'GroupRefused',
  'ReleaseUnknown',
]);

/**
 * What the operator would refuse of valid resources when it composes them: options that follow from fields, files and
 * cells that there are not, services that lack one that they need; and what it would only tell of. What references lead to outside of the file is taken to
 * be there, and nothing is known of its spec.
 */
export function composedMistakes(resources: readonly KubeObject[]): ComposedMistake[] {
  return renderAll(resources, new Set(), { assumed: true }).flatMap(({ resource, composition }) => {
    const owner = controllerOf(resource);
    const child = owner && rootNamed(owner)?.children.find(({ kind }) => kind === resource.kind);
    const title = `${owner?.kind ?? resource.kind} ${keyOf(owner === undefined ? resource : { metadata: { ...resource.metadata, name: owner.name } })}`;
    const told = (text: string, isWarning: boolean): ComposedMistake => {
      const [, field = 'spec', message = text] = /^(spec[.[].*?): (.*)$/su.exec(text) ?? [];
      const within = (path: string) =>
        child === undefined ? path : path.replaceAll(/\bspec(?=[.[])/gu, `spec.${child.field}`);
      return {
        title,
        field: within(field),
        // A field of another resource stands there as that resource has it.
        message: message.includes(' of the ') ? message : within(message),
        ...(isWarning ? { isWarning } : {}),
      };
    };
    return composition.steps.flatMap(({ problem, remarks = [] }) => [
      ...(problem !== undefined && ofSpec.has(problem.reason) ? problem.message.split(/; (?=spec[.[])/u) : []).map(
        (text) => told(text, false),
      ),
      ...remarks.map((text) => told(text, true)),
    ]);
  });
}
