import { referencesOf, referredBy } from './dependencies.ts';
import { listensTo } from './notifications.ts';
import type { Service } from './service.ts';
import type { ReferenceField } from './surroundings.ts';

/**
 * The services, each with what it depends on, its peers, and the names of those that cannot be without it.
 * @throws Error when a definition speaks of a service that is not there
 */
export function linked(services: readonly Service[]): readonly Service[] {
  const all = services.map((service) => {
    const { offers = {} } = service;
    const dependents = services.filter((other) => referencesOf(other).some((field) => Object.hasOwn(offers, field)));
    const providers = new Map<ReferenceField, Service>();
    const peers = services.filter(
      (other) =>
        Object.hasOwn(other.configures ?? {}, service.name) ||
        listensTo(other, service) ||
        service.proxies?.includes(other.name) === true,
    );
    return { ...service, dependents: dependents.map(({ name }) => name), providers, peers };
  });
  for (const { dependsOn, providers } of all)
    for (const field of Object.keys(dependsOn) as ReferenceField[]) providers.set(field, referredBy(field, all));
  for (const service of all) demandPeers(service, all);
  return all;
}

/** @throws Error when what a service says of others is about nobody */
function demandPeers(
  { name, configures = {}, proxies = [], listens, messaging }: Service,
  all: readonly Service[],
): void {
  const named = (other: string) => all.find((one) => one.name === other);
  const unknown = Object.keys(configures).find((other) => named(other) === undefined);
  if (unknown !== undefined) throw new Error(`${name}: configures ${unknown}, and no service has this name`);
  const absent = proxies.find((other) => named(other) === undefined);
  if (absent !== undefined) throw new Error(`${name}: proxies ${absent}, and no service has this name`);
  if (listens === undefined) return;
  if (messaging !== true) throw new Error(`${name}: listens, and has no messaging`);
  const silent = listens.to === 'all' ? undefined : listens.to.find((other) => named(other)?.messaging === undefined);
  if (silent !== undefined) throw new Error(`${name}: listens to ${silent}, which sends no notifications`);
  const rival = all.find((one) => one.name !== name && one.listens?.topic === listens.topic);
  if (rival !== undefined)
    throw new Error(
      `${name}: reads the topic ${listens.topic}, as ${rival.name} does: each would miss what the other reads`,
    );
}
