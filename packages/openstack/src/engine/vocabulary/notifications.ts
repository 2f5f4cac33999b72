import { uses } from './dependencies.ts';
import type { Service } from './service.ts';
import type { Surroundings } from './surroundings.ts';

/** Notifications of other services that a service reads. */
export interface Listening {
  /**
   * The topic that they are sent to for it, as of two that read one queue each would miss what the other one has read:
   * its queues are `<topic>.info`, `<topic>.error`, ...
   */
  readonly topic: string;
  /** Names of the services; `all`: whatever has messaging. */
  readonly to: readonly string[] | 'all';
}

/** Whether a service reads the notifications of another one. */
export function listensTo({ listens, name }: Pick<Service, 'listens' | 'name'>, other: Service): boolean {
  if (listens === undefined || other.messaging === undefined || name === other.name) return false;
  return listens.to === 'all' || listens.to.includes(other.name);
}

/** The topics that a service sends its notifications to: those of the services in its cloud that read them, if it has a broker. */
export function topicsOf(service: Service, spec: object, surroundings: Surroundings): readonly string[] {
  if (!uses(service, 'broker', spec)) return [];
  return (service.peers ?? []).flatMap((peer) => {
    const isThere = listensTo(peer, service) && surroundings.peer(peer.kind.kind) !== undefined;
    return isThere && peer.listens !== undefined ? [peer.listens.topic] : [];
  });
}
