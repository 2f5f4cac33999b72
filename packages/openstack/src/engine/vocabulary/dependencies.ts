import type { Asked, Capability, Moment, Offer, Service, Stated } from './service.ts';
import type { ReferenceField } from './surroundings.ts';

type Depending = Pick<Service, 'dependsOn'>;

function fieldsOf({ dependsOn }: Depending, ...moments: readonly Moment[]): readonly ReferenceField[] {
  return (Object.entries(dependsOn) as [ReferenceField, Moment | Stated<object>][]).flatMap(([field, moment]) =>
    moments.includes(typeof moment === 'object' ? 'stated' : moment) ? [field] : [],
  );
}

/** What a service refers to and waits for before the steps that use it, some of it only where a resource states the field. */
export function referencesOf(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'steps', 'start', 'stated');
}

/** Of these, what a resource cannot be composed without. */
export function neededBy(service: Depending, spec: object | undefined): readonly ReferenceField[] {
  const optional = statedOnly(service);
  return referencesOf(service).filter(
    (field) =>
      !optional.includes(field) || (spec as Readonly<Record<string, unknown>> | undefined)?.[field] !== undefined,
  );
}

/** What it does without where a resource does not state the field. */
export function statedOnly(service: Depending): readonly ReferenceField[] {
  return fieldsOf(service, 'stated');
}

/** Of that, what a spec uses: it is not composed rightly until the field is stated. */
export function usedBy({ dependsOn }: Depending, spec: object): readonly ReferenceField[] {
  return (Object.entries(dependsOn) as [ReferenceField, Moment | Stated<object>][]).flatMap(([field, moment]) =>
    typeof moment === 'object' && moment.stated(spec) ? [field] : [],
  );
}

/** Whether a control plane fills in the field of such a spec. */
export function isFilledIn({ dependsOn }: Depending, field: string, spec: object): boolean {
  const moment = (dependsOn as Readonly<Record<string, Moment | Stated<object>>>)[field];
  return typeof moment !== 'object' || moment.onlyUsed !== true || moment.stated(spec);
}

/** Where data lie by what it remembers. */
export function keptBy({ dependsOn }: Depending, entries: readonly unknown[]): readonly ReferenceField[] {
  return (Object.entries(dependsOn) as [ReferenceField, Moment | Stated<object>][]).flatMap(([field, moment]) =>
    typeof moment === 'object' && entries.some((entry) => moment.keeps?.(entry)) ? [field] : [],
  );
}

/** What a spec has to find in what it refers to by a field. */
export function askedOf({ dependsOn }: Depending, field: string, spec: object): Asked {
  const moment = (dependsOn as Readonly<Record<string, Moment | Stated<object>>>)[field];
  return typeof moment === 'object' && moment.stated(spec) ? (moment.asks?.(spec) ?? {}) : {};
}

/** What the first start of its programs waits for, with such a spec. */
export function askedAtStart({ dependsOn }: Depending, spec: object): readonly ReferenceField[] {
  return (Object.entries(dependsOn) as [ReferenceField, Moment | Stated<object>][]).flatMap(([field, moment]) =>
    moment === 'start' || (typeof moment === 'object' && moment.start === true && moment.stated(spec)) ? [field] : [],
  );
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
  for (const [field, { offers }] of providers ?? []) if (offers?.[field]?.capability === capability) return field;
  return undefined;
}

/** Whether a resource depends on what offers this: some do only where their spec states the field. */
export function uses(service: Depending & Pick<Service, 'providers'>, capability: Capability, spec: object): boolean {
  const field = fieldFor(service, capability);
  return field !== undefined && neededBy(service, spec).includes(field);
}

/** What a service has of another one by a field; undefined when it does not depend on it. */
export function offerBy({ providers }: Pick<Service, 'providers'>, field: ReferenceField): Offer | undefined {
  return providers?.get(field)?.offers?.[field];
}

/** What a service offers others of a capability. */
export function ownOffer({ offers = {} }: Pick<Service, 'offers'>, capability: Capability): Offer | undefined {
  return Object.values(offers).find((offer) => offer?.capability === capability);
}

/** The service that a field is about. @throws Error when none says that it is referred to so */
export function referredBy(field: ReferenceField, services: readonly Service[]): Service {
  const found = services.find(({ offers = {} }) => Object.hasOwn(offers, field));
  if (found === undefined) throw new Error(`${field}: no service is referred to by this field`);
  return found;
}
