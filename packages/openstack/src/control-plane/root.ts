import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Api } from '../api/define-api.ts';
import type { Composition } from '../engine/compose/compose.ts';
import { isRoot, rootOf } from '../engine/names/roots.ts';
import type { Progress } from '../engine/vocabulary/step.ts';
import type { ServiceResource, Surroundings } from '../engine/vocabulary/surroundings.ts';
import { type Child, children } from './children.ts';
import { claimingService, composeControlPlane, phaseOf } from './compose.ts';
import { OpenStackControlPlane } from './kind.ts';
import { isEnabled } from './spec.ts';

/** A kind whose resource is a whole cloud: it names it, claims its nodes, and passes on to its children what it is told. */
export interface Root {
  readonly kind: Api;
  /** What it comes from, one step for each child. */
  readonly compose: (resource: ServiceResource, surroundings: Surroundings) => Composition;
  readonly phase: (progress: readonly Progress[], resource: ServiceResource) => string;
  readonly children: readonly Child[];
  /** Whether a spec wants the child of a field. */
  readonly isEnabled: (spec: Readonly<Record<string, unknown>>, field: string) => boolean;
  /** Label `app.kubernetes.io/name` of what it runs itself. */
  readonly runs: string;
}

/** All of them. What a root is to its children, an owner reference says (engine/names/roots.ts). */
export const roots: readonly Root[] = [
  {
    kind: OpenStackControlPlane,
    compose: composeControlPlane,
    phase: phaseOf,
    children,
    isEnabled,
    runs: claimingService,
  },
];

/** The root that an object, or what an owner reference is about, is one of; undefined when it is none, or of another version. */
export function rootNamed({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): Root | undefined {
  if (!isRoot({ apiVersion, kind })) return undefined;
  return roots.find((root) => root.kind.kind === kind && apiVersion === `${root.kind.group}/${root.kind.version}`);
}

/** Name of the resource of a kind below a root, whether that wants it or not; undefined where it has no such child. */
export function childNameOf(root: StoredObject, kind: string): string | undefined {
  const child = rootNamed(root)?.children.find((one) => one.kind === kind);
  return child && `${root.metadata.name}-${child.suffix}`;
}

/** What is in the same cloud as a resource. */
export interface Peer {
  readonly name: string;
  /** Its own, or what the root says of it where it is a child. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * The resource of a kind that is in the cloud of another one. `root`: what that is a child of, where it is there;
 * `others`: the resources of the kind in its namespace, for what stands alone.
 */
export function peerOf(
  resource: KubeObject,
  kind: string,
  { root, others }: { readonly root: StoredObject | undefined; readonly others: () => readonly StoredObject[] },
): Peer | undefined {
  if (rootOf(resource) === undefined) {
    const age = ({ metadata }: StoredObject) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
    const alone = others().filter((one) => rootOf(one) === undefined && one.metadata.deletionTimestamp === undefined);
    const [oldest] = alone.sort((one, other) => (age(one) < age(other) ? -1 : 1));
    return oldest && { name: oldest.metadata.name, spec: (oldest['spec'] ?? {}) as Peer['spec'] };
  }
  const above = root && rootNamed(root);
  const child = above?.children.find((one) => one.kind === kind);
  if (root === undefined || above === undefined || child === undefined) return undefined;
  const spec = (root['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  if (!above.isEnabled(spec, child.field)) return undefined;
  return { name: `${root.metadata.name}-${child.suffix}`, spec: (spec[child.field] ?? {}) as Peer['spec'] };
}
