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

/** Fewer members than hold the data could be those that lack the last of it; `data` names it. */
export function shrinking(context: Sized, data: string): Readonly<Record<string, Problem>> {
  const servers = wantedServers(context);
  const held = heldMembers(context) ?? 0;
  if (servers === 0 || servers >= held) return {};
  const message = `spec.replicas: ${servers} is fewer than the ${held} members that hold ${data}, and members are never taken away; set ${held} or more, or 0 to stop all of them`;
  return { DeploymentReady: { reason: 'SpecRefused', message } };
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
