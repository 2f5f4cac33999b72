import type { Problem } from '../engine/vocabulary/step.ts';
import type { Surroundings } from '../engine/vocabulary/surroundings.ts';

/** A context of a kind whose servers may be members of a quorum. */
export interface Sized {
  readonly spec: {
    readonly replicas?: number;
    readonly components?: { readonly server?: { readonly replicas?: number } };
  };
  readonly surroundings: Pick<Surroundings, 'members' | 'remembered' | 'release'>;
}

/** How many servers users want. */
export function wantedServers({ spec: { components, replicas = 1 } }: Sized): number {
  return components?.server?.replicas ?? replicas;
}

/** So many members hold the data, those of an earlier resource of this name among them; undefined where one server does. */
export function heldMembers({ surroundings: { members, remembered } }: Sized): number | undefined {
  return members.size ?? (remembered['members'] as { readonly size?: number } | undefined)?.size;
}

/** How many members run, of so many that are wanted and so many that hold data; undefined for one that was always alone. */
export function quorumSize(wanted: number, held: number | undefined): number | undefined {
  if (held === undefined && wanted <= 1) return undefined;
  return wanted === 0 ? 0 : Math.max(wanted, held ?? 0);
}

/**
 * What is wrong with fewer members than hold the data: they could be those that lack the last of it. Undefined where they
 * are not fewer. `field` says how many are wanted, `data` names what they hold.
 */
export function tooFew(
  { field, data }: { readonly field: string; readonly data: string },
  wanted: number,
  held = 0,
): string | undefined {
  if (wanted === 0 || wanted >= held) return undefined;
  return `${field}: ${wanted} is fewer than the ${held} members that hold ${data}, and members are never taken away; set ${held} or more`;
}

/** The same as a problem, of a kind whose `spec.replicas` says how many are wanted. */
export function shrinking(context: Sized, data: string): Readonly<Record<string, Problem>> {
  const message = tooFew({ field: 'spec.replicas', data }, wantedServers(context), heldMembers(context));
  return message === undefined
    ? {}
    : { DeploymentReady: { reason: 'SpecRefused', message: `${message}, or 0 to stop all of them` } };
}

/** `status.lasting`: that there is a quorum, in words; `size` is how many members are composed. */
export function lastingQuorum(
  context: Sized,
  size: number | undefined,
  words: string,
): Readonly<Record<string, string>> {
  return isFormed(context, size) ? { members: words } : {};
}

/** Of how many, for a resource of this name that comes later. */
export function rememberedQuorum(context: Sized, size = 0): Readonly<Record<string, object>> {
  const most = Math.max(size, heldMembers(context) ?? 0);
  return isFormed(context, size) && most > 0 ? { members: { size: most } } : {};
}

function isFormed(context: Sized, size = 0): boolean {
  const isNew = context.surroundings.release.deployed === undefined;
  return heldMembers(context) !== undefined || (isNew && size > 0);
}
