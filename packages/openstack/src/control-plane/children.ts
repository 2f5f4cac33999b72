import type { Phase } from '../engine/status/phases.ts';
import {
  askedOf,
  fieldFor,
  foundBy,
  isFilledIn,
  keptBy,
  mentionsOf,
  neededBy,
  referencesOf,
  referredBy,
  usedBy,
} from '../engine/vocabulary/dependencies.ts';
import { listensTo } from '../engine/vocabulary/notifications.ts';
import type { Asked, Service } from '../engine/vocabulary/service.ts';
import type { ReferenceField } from '../engine/vocabulary/surroundings.ts';
import { services } from '../services/index.ts';

/** A service as a child of a control plane. */
export interface Child {
  /** Kind of the child. */
  readonly kind: string;
  /** Field of the control plane's spec that is the child's template. */
  readonly field: string;
  /** What it is, in a sentence. */
  readonly description: string;
  /** The child is named `<control plane>-<suffix>`. */
  readonly suffix: string;
  readonly phase: Phase;
  /** Only a cloud that states its field has it. */
  readonly optional: boolean;
  /** Fields of children that it finds by itself, and cannot do without. */
  readonly finds: readonly string[];
  /** Fields of children that it cannot be without, as its template is: what it refers to, but for what it only names or leaves unused, and what it finds. */
  readonly needs: (template: object) => readonly string[];
  /** Fields of children where its data lie, by entries that it remembers. */
  readonly keepsIn: (entries: readonly unknown[]) => readonly string[];
  /** What its template has to find in what it refers to by a field. */
  readonly asks: (reference: string, template: object) => Asked;
  /**
   * Fields of children that have to be Ready before it is created: what its first steps work on. Its later steps wait
   * for what they ask themselves, so that all databases are made while Keystone comes up.
   */
  readonly after: readonly string[];
  /** References that the control plane fills in: field of the child -> field of the child that it refers to. */
  readonly references: Readonly<Record<string, string>>;
  /** Whether it does so where the template is such a one. */
  readonly isFilledIn: (reference: string, template: object) => boolean;
  /** Of these, those that it has for nothing but notifications: with the fields of children that read its own. */
  readonly notifies: Readonly<Record<string, readonly string[]>>;
  /** Kinds of children whose presence counts in what it is. */
  readonly peers: readonly string[];
  /** First label of the public host name, for children that are reached from outside. */
  readonly hostname?: string;
  /** Runs agents on the nodes that the cloud claims. */
  readonly onNodes: boolean;
  /** Fields of its template that follow from the rest of the control plane. */
  readonly fields?: NonNullable<Service['child']>['fields'];
  /** Its clients have to trust its authority before it sends them to ports with TLS, and as long as it does. */
  readonly clientsTrustFirst: boolean;
  /** What it serves by TLS has clients among its own components alone. */
  readonly isOwnClient: boolean;
  /** Whether its spec has a field. */
  readonly has: (field: string) => boolean;
}

/** Field of the child that a reference field is about. @throws Error when no service says that it is referred to so */
function childField(reference: ReferenceField): string {
  const field = referredBy(reference, services).child?.field;
  if (field === undefined) throw new Error(`${reference}: no child of a control plane is referred to by this field`);
  return field;
}

/** Fields of the children that read a service's notifications. */
function listenersOf(service: Service): readonly string[] {
  return services.flatMap((one) => (one.child !== undefined && listensTo(one, service) ? [one.child.field] : []));
}

/** The children of a control plane, in the order in which they come up. */
export const children: readonly Child[] = services.flatMap((service): Child[] => {
  const { kind, child, groups, name, messaging, peers = [] } = service;
  if (child === undefined) return [];
  const { properties = {} } = kind.spec.schema;
  const references = [...referencesOf(service), ...mentionsOf(service)];
  return [
    {
      kind: kind.kind,
      field: child.field,
      description: child.description,
      suffix: child.suffix ?? child.field,
      phase: child.phase,
      optional: child.optional === true,
      finds: foundBy(service).map(childField),
      needs: (template) => [
        ...new Set([...foundBy(service), ...neededBy(service, {}), ...usedBy(service, template)].map(childField)),
      ],
      keepsIn: (entries) => keptBy(service, entries).map(childField),
      asks: (reference, template) => askedOf(service, reference, template),
      after: service.databases === undefined ? [] : [childField('databaseRef')],
      references: Object.fromEntries(references.map((reference) => [reference, childField(reference)])),
      isFilledIn: (reference, template) => isFilledIn(service, reference, template),
      ...(Object.hasOwn(properties, 'publicHostname') ? { hostname: name } : {}),
      notifies: messaging === 'notifications' ? { [fieldFor(service, 'broker') ?? '']: listenersOf(service) } : {},
      peers: peers.map((peer) => peer.kind.kind),
      onNodes: groups !== undefined,
      ...(child.fields === undefined ? {} : { fields: child.fields }),
      clientsTrustFirst: child.clientsTrustFirst === true,
      isOwnClient: child.isOwnClient === true,
      has: (field) => Object.hasOwn(properties, field),
    },
  ];
});
