import type { MariadbCatalog } from './mariadb-catalog.ts';

/** How far a member has come in the history of a cluster. */
export interface Position {
  readonly uuid: string;
  readonly seqno: number;
}

/** One server of a cluster. */
export interface GroupMember {
  readonly name: string;
  readonly address: string;
  /** What its disk holds. */
  readonly catalog: MariadbCatalog;
}

/**
 * The members of a cluster that have the same data. A write at one is a write at all of them, so that they hold the same
 * tables; who leaves takes a copy with it. Live members that cannot reach each other are not modelled.
 */
export class Group {
  readonly uuid: string;
  readonly members = new Set<GroupMember>();
  seqno: number;
  /** By members that miss others which are not taken out yet, and how many: writes wait for that. */
  readonly #missed = new Map<GroupMember, number>();
  #size = 0;

  constructor({ uuid, seqno }: Position) {
    this.uuid = uuid;
    this.seqno = seqno;
  }

  /** Whether it has the majority of those that had it last. */
  get isPrimary(): boolean {
    return this.members.size * 2 > this.#size;
  }

  /** Whose data count: somebody who is in it. */
  get catalog(): MariadbCatalog | undefined {
    return [...this.members][0]?.catalog;
  }

  /** Whether somebody who is there does not know of another one whether that is. */
  get isUnsettled(): boolean {
    return [...this.members].some((member) => (this.#missed.get(member) ?? 0) > 0);
  }

  /** A member misses so many more. */
  misses(member: GroupMember, more: number): void {
    this.#missed.set(member, (this.#missed.get(member) ?? 0) + more);
  }

  join(member: GroupMember): void {
    const { catalog } = this;
    if (catalog !== undefined)
      Object.assign(member.catalog, { accounts: catalog.accounts, databases: catalog.databases });
    Object.assign(member.catalog, { wsrep: this });
    this.members.add(member);
    this.#count();
  }

  /** `isOrderly`: it says that it goes, and is not missed. */
  leave(member: GroupMember, isOrderly: boolean): void {
    if (!this.members.delete(member)) return;
    detach(member.catalog);
    if (isOrderly) this.#size -= 1;
    this.#count();
  }

  #count(): void {
    if (this.isPrimary) this.#size = this.members.size;
  }
}

/** The position of a disk; undefined of one that was never in a cluster. */
export function positionOf({ wsrep }: MariadbCatalog): Position | undefined {
  return wsrep && { uuid: wsrep.uuid, seqno: wsrep.seqno };
}

/** A disk keeps what it has, whatever becomes of the cluster. */
export function detach(catalog: MariadbCatalog): void {
  if (!(catalog.wsrep instanceof Group)) return;
  const { accounts, databases } = structuredClone({ accounts: catalog.accounts, databases: catalog.databases });
  for (const member of catalog.wsrep.members) if (member.catalog === catalog) catalog.wsrep.members.delete(member);
  Object.assign(catalog, { accounts, databases, wsrep: positionOf(catalog) });
}
