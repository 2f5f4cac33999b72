import type { User } from '@openstack-operator/facts/users';
import type { Kind, StoredObject } from '@openstack-operator/kube';
import type { Api } from '../../api/define-api.ts';
import type { Release } from '../../releases/release.ts';
import type { ClientOptions } from '../configuration/owned-options.ts';
import type { OwnedOptions } from '../configuration/user-config.ts';
import type { AccessRule } from './access.ts';
import type { Artifact } from './artifact.ts';
import type { AskedBridges, Child } from './child.ts';
import type { CloudResource, ResourceApi } from './cloud-resources.ts';
import type { Component, Mount, Runs, Variable } from './component.ts';
import type { ConfigFiles } from './config-files.ts';
import type { Context } from './context.ts';
import type { Counting, CountPlan } from './counting.ts';
import type { Emptying } from './emptying.ts';
import type { ForeignKind } from './foreign-kinds.ts';
import type { Forgetting } from './forgetting.ts';
import type { Identity } from './identity.ts';
import type { IssuedCertificate } from './issued.ts';
import type { Keeping } from './keeping.ts';
import type { Memberships } from './memberships.ts';
import type { Migration } from './migration.ts';
import type { ClaimedGroup, RoleGroups, RolledGroup } from './node-groups.ts';
import type { Listening } from './notifications.ts';
import type { PeerOptions } from './peers.ts';
import type { DataGuard, Desired, Generator, KeyRotation, NodeClaim, Problem, SecretClass } from './step.ts';
import type { ReferenceField, ServiceResource, Surroundings } from './surroundings.ts';

/** What Jobs have found of what a resource stands for, by name. */
export type Found = Readonly<Record<string, string>>;

/** Fields of a resource's status. */
export type Told = Readonly<Record<string, unknown>>;

/** A Job: safe to run twice, run again when what it depends on changes. */
export interface Job {
  /** What follows the resource's name: `db-sync`. */
  readonly suffix: string;
  /** The condition of its step. */
  readonly step: string;
  readonly needs?: readonly string[];
  /** Servers whose data it changes: it runs again when these begin anew. Default: the database. */
  readonly writesTo?: readonly Capability[];
  /** The services that it asks, by the field that refers to them: it waits until they are Ready. */
  readonly asks?: readonly ReferenceField[];
  readonly image: string;
  readonly user?: User;
  readonly config?: string;
  /** Run one after the other; all but the last as init containers. */
  readonly runs: readonly (Runs & { readonly name: string })[];
  readonly mounts?: readonly Mount[];
  readonly env?: Readonly<Record<string, Variable>>;
  /** Seconds after which it is ended and tried again. Only for what may be cut off anywhere: never for a migration. */
  readonly deadlineSeconds?: number;
  /** Runs again for other variables only, neither for another image nor for another configuration. */
  readonly once?: boolean;
  readonly makes?: Artifact;
  /** When it is run again besides, as the CronJob `<name>-<suffix>-again`: from where the last run has left off. */
  readonly again?: Pick<Schedule, 'cron' | 'suspend' | 'deadlineSeconds'>;
  /**
   * What the status remembers (`found`, which the kind's status has) once it has run to its end: from the lines that its
   * containers have left as their termination messages, and from what is remembered already.
   */
  readonly finds?: (words: readonly string[], before: Found) => Found;
  /**
   * What the status shows of what it has seen last, whether it ended well or not, as fields of the kind's own: from the lines
   * that its newest pod has left as termination messages (none when no pod is there any more), and from the status so far.
   * Lines that begin with `{` are for this alone: no message shows them.
   */
  readonly tells?: (words: readonly string[], before: Told) => Told;
  /**
   * Nothing waits for it: its step is done, and tells what becomes of it. A run that failed is tried again by the operator
   * alone, which takes longer from time to time.
   */
  readonly aside?: boolean;
  /** Runs that failed tell as well: by default what they say is nothing to rely on. */
  readonly findsOfFailed?: true;
  /** Release of its image; default: that of the programs. */
  readonly release?: Release;
  /** Further things that make a run different, such as the set of nodes. */
  readonly inputs?: unknown;
}

/** A Job that is run again and again (a CronJob): safe beside everything else, and safe to be ended in the middle. */
export interface Schedule extends Pick<Job, 'suffix' | 'image' | 'user' | 'config' | 'mounts' | 'env' | 'tells'> {
  /** Run one after the other; each in the image and as the user of its own, where it says so. */
  readonly runs: readonly (Runs & { readonly name: string; readonly image?: string; readonly user?: User })[];
  /** When, as a CronJob has it, in UTC. */
  readonly cron: string;
  readonly suspend: boolean;
  /** Seconds after which a run is ended. */
  readonly deadlineSeconds: number;
}

/** A database of the service. */
export interface Database {
  /** Its name, unless the resource renames it. */
  readonly name: string;
  /** Who alone has all rights to it, by this name unless it is renamed (Secret `<name>-<user>-password`). Default: the service's user. */
  readonly user?: string;
}

/**
 * What a component may hold open of the database server for each of its replicas: processes (parents count, they keep what
 * they opened) times their pools, one for each database that they speak to.
 */
export interface Connections {
  /** The processes that users may set the number of, in one pod; all of them where they may not. Default: `usualProcesses`. */
  readonly processes?: number;
  /** oslo.service launches these: several have a parent beside them, and one has none (oslo_service/backend/eventlet/service.py, launch). */
  readonly launched?: true;
  /** Further processes of the pod, however many those are: a parent, those of sidecars. */
  readonly others?: number;
  /** The workloads that are meant by the component: its variants. Default: 1. */
  readonly workloads?: number;
  readonly pools: number;
}

/** A Secret that the operator makes. */
export interface GeneratedSecret {
  /** What follows the resource's name: `db-password`. */
  readonly suffix: string;
  readonly values: Readonly<Record<string, Generator>>;
  readonly secretClass: SecretClass;
  readonly rotation?: KeyRotation;
  /** Its password is rotated, and the one before kept until no pod has it (`Context.previousOf`). */
  readonly succeeded?: boolean;
  /** It has an authority (`ca.crt`, `ca.key`), which is replaced by another one in steps (`AuthoritySuccession`). */
  readonly authority?: true;
  /** No rotation of it begins: somebody has it who is not told of another one. */
  readonly held?: boolean;
  readonly guards?: DataGuard;
  /** cert-manager fills it, with this certificate. */
  readonly issued?: IssuedCertificate;
}

/** A volume of the service itself: `<name>-<suffix>`. It outlives its resource unless that says otherwise. */
export interface Volume {
  readonly suffix: string;
  readonly size: string;
  readonly storageClassName?: string;
  /** Default `ReadWriteOnce`; `ReadWriteMany` for pods on several nodes. */
  readonly accessMode?: 'ReadWriteOnce' | 'ReadWriteMany';
}

/**
 * When a service depends on another one:
 * - `steps`: the steps that use it wait until it is Ready;
 * - `start`: so does the first start of its programs, which ask it as soon as they run;
 * - `name`: never: only its name is known, because it comes later;
 * - `cloud`: never, and nothing refers to it: it is found by its endpoint, and without it the service is of no use;
 * - `stated`: as `steps`, where the resource states the field; else it does without.
 */
export type Moment = 'steps' | 'start' | 'name' | 'cloud' | 'stated';

/** Lists and switches by the field of a spec. */
export type Asked = Readonly<Record<string, readonly object[] | true>>;

/** A dependency of the moment `stated`. */
export interface Stated<Spec> {
  /** Whether a spec cannot be without it. */
  readonly stated: (spec: Spec) => boolean;
  /** The first start of its programs waits for it as well, where a spec cannot be without it. */
  readonly start?: true;
  /** A control plane fills the field in for such a spec alone; else for every one. */
  readonly onlyUsed?: true;
  /** What a spec has to find there, as fields of the other's spec: a control plane tells it (`CloudTemplates.asked`). */
  readonly asks?: (spec: Spec) => Asked;
  /** Whether an entry that it remembers (`Service.remembers`) keeps data there: then that stays, whatever a spec says. */
  readonly keeps?: (entry: unknown) => boolean;
}

/** Field -> when, in the order in which the fields are told of. */
export type Dependencies<Spec = object> = Readonly<Record<ReferenceField, Exclude<Moment, 'stated'> | Stated<Spec>>>;

/** What the engine itself uses of another service: where it makes databases, users and endpoints, and whom pods trust. */
export const capabilities = ['database', 'broker', 'cache', 'coordination', 'identity', 'virtualNetwork'] as const;

/** One of `capabilities`. */
export type Capability = (typeof capabilities)[number];

/** What others have of a service that they refer to by one of its fields: where it is, and who may do all there. */
export interface Offer {
  readonly capability?: Capability;
  /** Address of a resource of its kind: `DatabaseAddress` and so on, by capability; else what its dependents know. */
  readonly address?: (resource: StoredObject, surroundings: Surroundings) => unknown;
  /** The same of one that this operator does not run, from `spec.<field>.external`. */
  readonly external?: (external: never) => unknown;
  /** What its dependents' data are found by, in words: what they refer to stays that (`Service.lasting`). Undefined: not known yet. */
  readonly lasting?: (resource: StoredObject) => string | undefined;
  /** Options of its dependents that follow from their reference to it. */
  readonly clientOptions?: readonly ClientOptions[];
  /** What of its dependents is kept in it. */
  readonly keeps?: Keeping;
  /** What its dependents, and it itself, may have in it as `resources`, by what it is: `network`. */
  readonly resources?: Readonly<Record<string, ResourceApi>>;
  /** Its address is that of Services, which exist later than the resource. */
  readonly ofServices?: boolean;
}

/** What users keep in a service: while there is any, it is not disabled, nor deleted with its data. */
export interface HeldBy {
  /** How that is counted, by the Job `<name>-resource-count`. */
  readonly counts: readonly Counting[];
  /** Since when there may be any; default: since the resource was Ready, or a pod of its API is. */
  readonly since?: {
    /** Suffix of a Job that has run to its end. */
    readonly job: string;
    /** Beginning of the names of components of which a pod has run, whether that Job has or not. */
    readonly component: string;
  };
  /** The rule of its policy that lets nobody count, unless the resource has another: else nothing is counted, and nothing held. */
  readonly unlessRule?: string;
}

/** What stays for what users keep in it: until a Job has counted that, and found none. */
export interface Staying {
  /** The condition of the Job `<name>-removed-count`. */
  readonly step: string;
  readonly plan: CountPlan;
  /** Fields of `lasting` that are forgotten then: their data are found by nothing any more. */
  readonly fields: readonly string[];
  /** Components that are left as they are until then, as nobody knows any more what they were composed from. */
  readonly components: readonly string[];
}

/** A service, as data: the engine derives all objects from it. */
export interface Service<R extends ServiceResource = ServiceResource> {
  readonly kind: Api & Kind<R>;
  /** The fields by which others refer to it, and what they have of it then. */
  readonly offers?: Readonly<Partial<Record<ReferenceField, Offer>>>;
  /** Its place in a control plane. */
  readonly child?: Child;
  /** `app.kubernetes.io/name`, such as `keystone`. */
  readonly name: string;
  /** Its name in the facts of options and policies; `name` when absent. */
  readonly facts?: string;
  /** User of its images. */
  readonly user: User;
  /** The other services that it depends on, by the field that refers to them, and when it does. */
  readonly dependsOn: Dependencies<NonNullable<R['spec']>>;
  /** Names of the services that depend on it; the list of services says so (`linked`). */
  readonly dependents?: readonly string[];
  /** What it depends on, by the field that refers to it; from the same list. */
  readonly providers?: ReadonlyMap<ReferenceField, Service>;
  readonly secrets?: (context: Context<R>) => readonly GeneratedSecret[];
  /** Suffixes of those that outlive their resource when volumes do. */
  readonly retainedSecrets?: readonly string[];
  readonly databases?: readonly Database[];
  /** Further databases of its user, by the names that they really have. */
  readonly moreDatabases?: (context: Context<R>) => readonly string[];
  /** What its components may hold open of the database server, by component, in the order of `components`. */
  readonly connections?: (spec: NonNullable<R['spec']>) => Readonly<Record<string, Connections>>;
  /**
   * Has its own user and vhost on the broker. `notifications`: it does nothing there but to send these, so it has a user,
   * and no vhost of its own. A control plane refers it to the broker while a service listens to it.
   */
  readonly messaging?: true | 'notifications';
  /** Servers of users log in to the broker as its user. Nobody can replace what they have: its password is not rotated. */
  readonly brokerUserGivenAway?: boolean;
  /** The field that refers to the service as whose user of the broker its hosts log in: that is not rotated meanwhile. */
  readonly borrows?: ReferenceField;
  /** Notifications of others that it reads: with a vhost of its own (`messaging: true`), in the virtual host `context.accounts.broker.notifications`. */
  readonly listens?: Listening;
  /** Further vhosts of its user. */
  readonly vhosts?: (context: Context<R>) => readonly string[];
  readonly identity?: Identity;
  /**
   * Options of other services that follow from this one's being in their cloud, by the name of the service: those of Nova's
   * section `[cinder]` stand in Cinder's folder. They are there from the first rollout on, whatever comes up first.
   */
  readonly configures?: Readonly<Record<string, PeerOptions>>;
  /** Names of the services whose APIs its users reach through it: `Context.apis` has those of its cloud. */
  readonly proxies?: readonly string[];
  /** The services that say so of this one, or read its notifications, and those that it proxies; from the list of services. */
  readonly peers?: readonly Service[];
  /** What it has in others of its cloud, or in itself: networks, flavours, types. Each comes after what its attributes refer to. */
  readonly resources?: (context: Context<R>) => readonly CloudResource[];
  /** What it keeps in itself with members that come and go, where a spec states any, or has stated some (`lasting`). */
  readonly memberships?: {
    readonly kept: (spec: NonNullable<R['spec']>, lasting: Surroundings['lasting']) => boolean;
    readonly of: (context: Context<R>) => Memberships;
  };
  /** Options that users cannot set, beside those that no service lets them: section -> option -> the field instead. */
  readonly owned?: OwnedOptions;
  /** Set name -> files. Secrets are written as references; the engine chooses the carrier. */
  readonly config?: (context: Context<R>) => Readonly<Record<string, ConfigFiles>>;
  /** Nodes that it claims when it stands alone; below a control plane that one claims them. */
  readonly claims?: (context: Context<R>) => readonly NodeClaim[];
  /** The node groups that it claims below a control plane, and whether guests run there; or the role that they have. */
  readonly nodeGroups?: (spec: NonNullable<R['spec']>) => NodeGroups;
  /** Bridges that it asks of all nodes. */
  readonly bridges?: (spec: NonNullable<R['spec']>) => AskedBridges;
  /** The groups of the nodes that its agents run on, and how fast agents are replaced there. */
  readonly groups?: (context: Context<R>) => readonly RolledGroup[];
  /**
   * Pods of it exceed the Pod Security Standard "restricted" (`host`), or it says what agents read that run as root: who states
   * its kind needs the verb `use-nodes` (`config/admission`, docs/guides/security.md).
   */
  readonly usesNodes?: true;
  readonly heldBy?: HeldBy;
  /** How guests leave nodes that are in maintenance, by the Job `<name>-maintenance`. */
  readonly emptying?: (context: Context<R>) => Emptying;
  /** How what it has recorded of nodes that are gone for ever is deleted, by the Job `<name>-forget`. */
  readonly forgetting?: Forgetting;
  /**
   * Of what it depends on, what holds it is lost without, as that runs beside its pods (servers): it stays for as long as
   * there are any, and so does the service, be its data kept or not.
   */
  readonly carriedBy?: readonly ReferenceField[];
  readonly volumes?: (context: Context<R>) => readonly Volume[];
  /** Components, with their variants, of which only one pod may run: an autoscaler that targets one is ignored. */
  readonly single?: (spec: NonNullable<R['spec']>) => readonly string[];
  readonly components: (context: Context<R>) => Readonly<Record<string, Component>>;
  /** How the schema of its databases follows its release. */
  readonly migrate?: (context: Context<R>) => Migration;
  readonly jobs?: (context: Context<R>) => readonly Job[];
  /** What is done now and then, once everything is set up. The audit of its records is the engine's. */
  readonly schedules?: (context: Context<R>) => readonly Schedule[];
  /** What pods may do in Kubernetes, by component or suffix of a Job: those alone have a ServiceAccount and a token. */
  readonly access?: Readonly<Record<string, readonly AccessRule[]>>;
  /** Kinds of somebody else's APIs that `objects` are of. */
  readonly foreignKinds?: readonly ForeignKind[];
  /** Names of Secrets that what is composed refers to, and that others make: they are followed as those that a spec names. */
  readonly foreignSecrets?: (resource: R) => readonly string[];
  /** Objects that no other word of this vocabulary says, by step. */
  readonly objects?: (context: Context<R>) => Readonly<Record<string, readonly Desired[]>>;
  /** What needs which step, beside what the engine derives. */
  readonly needs?: Readonly<Record<string, readonly string[]>>;
  /**
   * What its data are found by, in words, by the field that says so: once stated it stays, also after it was left out for a
   * while, and after the resource was deleted: the ConfigMap `<name>-lasting` remembers it as long as volumes do. The kind's
   * status shows it (`lasting`).
   */
  readonly lasting?: (context: Context<R>) => Readonly<Record<string, string>>;
  /** What somebody can do who means to change a field of `lasting`, beside to state what it was, or another name; undefined: nothing. */
  readonly wayOut?: (field: string) => string | undefined;
  /** Entries of the spec that are needed after they are stated no more, by the field of `lasting` that remembers them. */
  readonly remembers?: (context: Context<R>) => Readonly<Record<string, object>>;
  /** What of `lasting` is stated no more, or again: what users keep there is counted before it is forgotten. */
  readonly staying?: (context: Context<R>) => Staying | undefined;
  /** Component -> the step before which nothing of it and its variants is pruned: data may be found there, and nobody remember it. */
  readonly prunedAfter?: Readonly<Record<string, string>>;
  /**
   * What is to be said of its spec: `mistakes` are refused where they are new, and told where the resource is Ready with
   * them; `remarks` are about what is right, and may not be what was meant.
   */
  readonly findings?: (context: Context<R>) => {
    readonly mistakes?: readonly string[];
    readonly remarks?: readonly string[];
  };
  /** What this resource asks for and cannot have, by step. */
  readonly problems?: (context: Context<R>) => Readonly<Record<string, Problem>>;
  /** Steps that are left out on purpose: done, with this reason. */
  readonly skips?: (context: Context<R>) => Readonly<Record<string, Problem>>;
  /** Fields of the status that follow from the spec. */
  readonly status?: (context: Context<R>) => Readonly<Record<string, unknown>>;
}

/** Node groups of their own, with guests or without; or groups of a role that nodes have beside others. */
export type NodeGroups =
  | { readonly groups: readonly ClaimedGroup[]; readonly compute: boolean; readonly role?: undefined }
  | RoleGroups;

/** Checks and gives back a service; the type parameter comes from its kind. */
export function defineService<R extends ServiceResource>(service: Service<R>): Service<R> {
  return service;
}
