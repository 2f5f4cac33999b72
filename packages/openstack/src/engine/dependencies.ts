import type { Moment, Service } from './service.ts';
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

/** The services, each with the names of those that cannot be without it. */
export function withDependents(services: readonly Service[]): readonly Service[] {
  return services.map((service) => {
    const { referredAs } = service;
    const dependents = services.filter((other) => referredAs !== undefined && referencesOf(other).includes(referredAs));
    return { ...service, dependents: dependents.map(({ name }) => name) };
  });
}
