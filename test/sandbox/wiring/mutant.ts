import type { KubeObject } from '@openstack-operator/kube';
import type { Path } from './text-edits.ts';

/** One mistake in what the operator writes, or in what it waits for. */
export interface Mutant {
  /** Stable from run to run, such as `ConfigMap my-cloud-keystone-config keystone.conf [token] provider: left out`. */
  readonly id: string;
  readonly target: Target;
  readonly lie: Lie;
}

/** The object that is wrong. */
export interface Target {
  readonly kind: string;
  /** Its name; of an immutable ConfigMap without the digest. */
  readonly name: string;
}

/** How it is wrong. */
export interface Lie {
  /** It arrives at the API server changed; the operator reads it back as it wrote it. */
  readonly path: Path;
  readonly change: (value: unknown) => unknown;
  /** How it looks to the operator as soon as it is there: done, so that what comes after it comes too early. */
  readonly pretend?: (object: KubeObject) => KubeObject;
}

/** Kind and name of an object as mutants know it. */
export function targetOf(object: KubeObject): Target {
  const { name = '' } = object.metadata;
  return { kind: object.kind, name: object.kind === 'ConfigMap' ? name.replace(/-[a-z0-9]{10}$/, '') : name };
}
