/** What Keystone is told of a service. */
export interface Identity {
  /** Its users. As the first one it checks tokens and calls other services; Keystone itself has none. */
  readonly users: readonly IdentityUser[];
  /** Roles that it knows beside those of its users, for whoever uses it: `heat_stack_owner`. */
  readonly roles?: readonly string[];
  /** Roles that come with others. */
  readonly implied?: readonly ImpliedRole[];
  /** Domains of its own, beside `Default`. */
  readonly domains?: readonly IdentityDomain[];
  /** Its entries in the catalogue; none without an API. The first is its API, whose name and public host name the resource may change. */
  readonly catalogue: readonly CatalogueEntry[];
}

/** A user in Keystone: `<name>-<name of the user>-password` is its Secret, `<name>-service-password` that of the first one. */
export interface IdentityUser {
  /** Its name, unless the resource renames it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Roles on the system as a whole, by the spec: as `reader` it sees what of Keystone no project does. They are never taken back. */
  readonly systemRoles?: (spec: object) => readonly string[];
  /** Project of domain `Default` that it logs in to, and that its roles are on; `service` unless it says otherwise. */
  readonly project?: string;
  /** One of the service's domains, by its name here: the user is in it, logs in to it, and has its roles on it. */
  readonly domain?: string;
  /**
   * What in the cloud belongs to this very user, such as trusts and key pairs: no second one may take its turn, so that
   * its password is not rotated (production rule 23).
   */
  readonly owns?: string;
}

/** Whoever has a role has what it implies as well. */
export interface ImpliedRole {
  readonly role: string;
  readonly implies: string;
}

/** A domain of a service: what the service makes there (users of stacks) is nobody else's. */
export interface IdentityDomain {
  /** Its name, unless the resource renames it. */
  readonly name: string;
  readonly description: string;
}

/** An entry of the catalogue, with endpoints `internal`, `public` and `admin`. */
export interface CatalogueEntry {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  /** Component and port whose address the endpoints have. */
  readonly component: string;
  readonly port: string;
  /** What follows host and port; a function where it depends on the spec. */
  readonly path: string | ((spec: object) => string);
  /** Component whose address the internal endpoint has instead, where the resource has it; its port has the same name. */
  readonly internal?: string;
  /**
   * Registered limits, by the spec: how much of a resource a project may have that has no limit of its own. Where there are
   * any, the identifier of the internal endpoint is remembered (`found` of the kind's status): `foundId` of an `endpoint`
   * with the name of the type has it.
   */
  readonly limits?: (spec: object) => Readonly<Record<string, number>>;
}
