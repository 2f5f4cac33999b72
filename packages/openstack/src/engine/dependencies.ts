import type { Capability, Moment, Service } from './service.ts';
import type { ReferenceField } from './surroundings.ts';

type Depending = Pick<Service, 'dependsOn'>;

function fieldsOf({ dependsOn }: Depending, ...moments: readonly Moment[]): readonly ReferenceField[] {
  return (Object.entries(dependsOn) as [ReferenceField, Moment][]).flatMap(([field, moment]) =>
    moments.includes(moment) ? [field] : [],
  );
}

/** What a service cannot be composed without: each is awaited before the steps that use it. */
export function referencesOf(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'steps', 'start');
}

/** What the first start of its programs waits for. */
export function askedAtStart(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'start');
}

/** What it refers to by name only: it need not exist yet. */
export function mentionsOf(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'name');
}

/** What it finds by itself. */
export function foundBy(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'cloud');
}

/** The field by which a service refers to what offers this; undefined when it depends on none. */
export function fieldFor(
  { providers }: Pick<Service, 'providers'>,
  capability: Capability,
): ReferenceField | undefined {
  for (const [field, { offers }] of providers ?? []) if (offers?.capability === capability) return field;
  return undefined;
}

/** The services, each with what it depends on, and with the names of those that cannot be without it. */
export function linked(services: readonly Service[]): readonly Service[] {
  const all = services.map((service) => {
    const { referredAs } = service;
    const dependents = services.filter((other) => referredAs !== undefined && referencesOf(other).includes(referredAs));
    const providers = new Map<ReferenceField, Service>();
    return { ...service, dependents: dependents.map(({ name }) => name), providers };
  });
  for (const { name, dependsOn, providers } of all) {
    for (const field of Object.keys(dependsOn) as ReferenceField[]) {
      const provider = all.find((other) => other.referredAs === field);
      if (provider === undefined) throw new Error(`${name}: no service is referred to by ${field}`);
      providers.set(field, provider);
    }
  }
  return all;
}
