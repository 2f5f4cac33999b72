import type { Scheduling } from './counting.ts';

/**
 * How the guests of a node leave it while it is in maintenance, by the service's API: `openstack-operator empty` does it, as
 * the service's own user, for those of all projects.
 */
export interface Emptying {
  /** How new guests are kept away from a host; its headers are those of all requests. */
  readonly scheduling: Scheduling;
  /** The process that has a row for each host. */
  readonly binary: string;
  /** What guests are, in the plural: the key of lists. */
  readonly of: string;
  /** Path that lists the guests of `{host}`, each with `id`, `name` and `status`. */
  readonly list: string;
  /** How the reasons begin for which the service disables a host by itself, and enables it again. */
  readonly disabledByItself: string;
  /** What is on its way to `{host}`: a list, its key, and of each entry the guest, where it goes, and the states in which it does. */
  readonly arriving: {
    readonly list: string;
    readonly items: string;
    readonly guest: string;
    readonly to: string;
    readonly underWay: readonly string[];
  };
  /** Attribute in which each shows what is being done with it; null: nothing. */
  readonly task: string;
  /** States in which one can be moved. */
  readonly movable: readonly string[];
  /** The POST that has one moved to wherever there is room; `{id}` in its path. */
  readonly move: { readonly path: string; readonly body: Readonly<Record<string, unknown>> };
  /** Why none of those can be moved; absent: they can. */
  readonly stays?: string;
  /** How those in further states are moved; absent: they stay. */
  readonly confirmed?: ConfirmedMove;
}

/** A move to wherever there is room that may be taken back, until somebody confirms it. */
export interface ConfirmedMove {
  /** States in which a guest is moved so. */
  readonly movable: readonly string[];
  /** What is posted to the path of `move` for it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Attribute of an entry of `arriving.list` that says where the guest comes from. */
  readonly from: string;
  /** What else entries of such moves have. */
  readonly columns: Readonly<Record<string, string>>;
  /** States of entries that change by themselves. */
  readonly underWay: readonly string[];
  /** The state of one that is to be confirmed. */
  readonly waits: string;
  /** What is posted to the path of `move` to confirm it. */
  readonly confirm: Readonly<Record<string, unknown>>;
  /** What else entries have of such moves that a user has asked for: he confirms them, or takes them back. */
  readonly usersColumns: Readonly<Record<string, string>>;
  /** The state of an entry of a move that has failed, and how it is found out whether that was when the guest was elsewhere already. */
  readonly failed: {
    readonly state: string;
    /** Path of the guest `{id}`, its key, its state after such a failure, and the attribute that says where it is. */
    readonly path: string;
    readonly item: string;
    readonly status: string;
    readonly host: string;
  };
}

/** What `openstack-operator empty` takes, as JSON. */
export interface EmptyPlan extends Emptying {
  /** How the reasons begin for which hosts are disabled: of such a reason alone they are enabled again. */
  readonly mark: string;
  /** Hosts in maintenance, and why. */
  readonly hosts: readonly { readonly name: string; readonly reason: string }[];
  /** Hosts whose maintenance is over. */
  readonly back: readonly string[];
}
