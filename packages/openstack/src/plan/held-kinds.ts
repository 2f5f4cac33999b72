import { apiVersionOf, type Kind, type KubeObject } from '@openstack-operator/kube';
import { roots } from '../control-plane/root.ts';
import { finalizers } from '../engine/names/names.ts';
import { ownOffer } from '../engine/vocabulary/dependencies.ts';
import { services } from '../services/index.ts';

/** Finalizer of what users keep something in: it stays until nothing of that is left, or somebody says that it does not matter. */
export const protectFinalizer = finalizers.protectServers;

type Kinded = Pick<KubeObject, 'apiVersion' | 'kind'>;

/** Kinds whose end takes network or management from guests: they have agents on nodes. */
const carriers = kindsOf(services.flatMap(({ kind, groups }) => (groups === undefined ? [] : [kind])));

/** Kinds whose end takes something that users keep, or all that is known of it. */
const held = kindsOf(
  services.flatMap((service) =>
    service.heldBy === undefined && ownOffer(service, 'database') === undefined ? [] : [service.kind],
  ),
);

/** Whether the end of a resource takes something from guests that run. */
export function carriesGuests(object: Kinded): boolean {
  return carriers.has(idOf(object));
}

/** Whether the end of a resource may take something from users: guests, or what a service keeps for them. */
export function isHeldByUsers(object: Kinded): boolean {
  return carriesGuests(object) || held.has(idOf(object));
}

function kindsOf(kinds: readonly Kind[]): ReadonlySet<string> {
  return new Set(
    [...roots.map(({ kind }) => kind), ...kinds].map((kind) => idOf({ ...kind, apiVersion: apiVersionOf(kind) })),
  );
}

function idOf({ apiVersion, kind }: Kinded): string {
  return `${apiVersion} ${kind}`;
}
