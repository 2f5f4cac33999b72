import type { KubeObject } from '@openstack-operator/kube';
import { broughtObjects } from '../../api/brought-objects.ts';
import type { References } from '../../api/status.ts';
import { releaseNamed, releases } from '../../releases/index.ts';
import { ownerOf } from '../configuration/config.ts';
import { configSets } from '../configuration/config-sets.ts';
import { withProcesses } from '../configuration/processes.ts';
import { componentStarts } from '../configuration/start-sets.ts';
import { selectorOf } from '../names/names.ts';
import { rootOf } from '../names/roots.ts';
import { countProblem, removalJob } from '../objects/count-job.ts';
import { emptyingJob, maintenanceStep } from '../objects/emptying-job.ts';
import { endpointsOf } from '../objects/endpoint.ts';
import { forgettingJob, forgettingStep, nodesToForget } from '../objects/forgetting-job.ts';
import { generatedSecrets, rotationsOf } from '../objects/generated-secrets.ts';
import { volumeClaim } from '../objects/volume-claim.ts';
import { targetOf, type Upgrade, upgradeOf, upgradeProblem } from '../status/upgrade.ts';
import { accessObjects } from '../vocabulary/access.ts';
import { componentsOf } from '../vocabulary/api-tls.ts';
import { equalDatabases, takenProblem } from '../vocabulary/common-accounts.ts';
import type { Quorum } from '../vocabulary/component.ts';
import { type Context, contextOf, externalOf } from '../vocabulary/context.ts';
import { mentionsOf, neededBy, ownOffer } from '../vocabulary/dependencies.ts';
import { unservedProblems } from '../vocabulary/foreign-kinds.ts';
import { memberTells, refusedMembers } from '../vocabulary/memberships.ts';
import { addMigration } from '../vocabulary/migration.ts';
import type { Job, Service, Staying } from '../vocabulary/service.ts';
import type { Desired, Problem, Step } from '../vocabulary/step.ts';
import type { Rotation, ServiceResource, Surroundings } from '../vocabulary/surroundings.ts';
import { toldRecords } from '../vocabulary/told.ts';
import type { Assembly } from './assembly.ts';
import { recordsAudit } from './audit.ts';
import { addComponents } from './compose-components.ts';
import { addJob, addSchedule } from './compose-jobs.ts';
import { addRecords } from './compose-records.ts';
import { lastingFindings, lastingObjects, lastingStatus } from './lasting.ts';
import { movedProblem } from './moved.ts';
import { withPreconditions } from './preconditions.ts';
import { referencesInSpecs } from './references-in-specs.ts';
import { specFindings } from './spec-findings.ts';
import { StepDrafts, steps } from './steps.ts';

/** All steps of a resource. Incomplete when a reference is missing: nothing may be pruned then. */
export interface Composition {
  readonly steps: readonly Step[];
  readonly complete: boolean;
  /** Fields of the status that follow from the spec: addresses, endpoints. */
  readonly status: Readonly<Record<string, unknown>>;
  /**
   * Node group -> how many of its nodes may be without an agent while agents are replaced. Of all groups that do not say,
   * one node together: they may be each other's gateways.
   */
  readonly maxUnavailable?: ReadonlyMap<string, number>;
  /** What is remembered of what Jobs have found, by the name of the Job. */
  readonly finds?: ReadonlyMap<string, { readonly finds: NonNullable<Job['finds']>; readonly ofFailed: boolean }>;
  /** What the status shows of what Jobs and CronJobs have seen last, by their names. */
  readonly tells?: ReadonlyMap<string, NonNullable<Job['tells']>>;
  /** The quorum that it has. */
  readonly quorum?: ComposedQuorum;
  /** Whether `status.data` is about its volumes. */
  readonly tellsData?: true;
  /** What stays until a step is done, and is forgotten then. */
  readonly staying?: Staying;
  /** Component -> the step before which nothing of it and its variants is pruned. */
  readonly prunedAfter?: Readonly<Record<string, string>>;
  /** Nodes that are in maintenance, and those where that is over, and the Job that tells of them. */
  readonly emptying?: { readonly job: KubeObject; readonly hosts: readonly string[]; readonly back: readonly string[] };
  /** Nodes that are gone for ever, and the Job that has their records deleted, where the service has any. */
  readonly forgetting?: { readonly job?: KubeObject; readonly hosts: readonly string[] };
  /** Rotations under way, by Secret: completed when all of it is done, and no pod of before is left. */
  readonly rotating?: Readonly<Record<string, Rotation>>;
}

/** A quorum, and how its pods are found. */
export interface ComposedQuorum extends Pick<Quorum, 'size' | 'primary'> {
  readonly labels: Readonly<Record<string, string>>;
  /** The condition of its step. */
  readonly step: string;
  /** Whether what was deployed before was one server, which runs as the first member before others join it. */
  readonly wasSingle: boolean;
}

/**
 * From a resource and its surroundings to its steps. Pure: the same input gives the same bytes.
 */
export function compose<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
): Composition {
  const { watched, findings } = referencesInSpecs(resource, surroundings);
  const composition = composeWith(service, resource, watched);
  const [first, ...more] = findings();
  return first === undefined
    ? composition
    : incomplete({ reason: 'SpecRefused', message: [first, ...more].join('; ') });
}

function composeWith<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
): Composition {
  const unknown = refusedRelease(resource, surroundings);
  if (unknown !== undefined) return unknown;
  const missing = neededBy(service, resource.spec).flatMap((field) => {
    if (externalOf(resource.spec ?? {}, field) !== undefined) return [];
    const resolved = surroundings.reference(field);
    if (resolved === undefined) return [`spec.${field}: not looked up`];
    return 'missing' in resolved ? [resolved.missing] : [];
  });
  // Of several that it may mention nothing is known: that is not as if there was none.
  for (const field of mentionsOf(service)) {
    const resolved = surroundings.reference(field);
    if (resolved !== undefined && 'missing' in resolved && resolved.ambiguous === true) missing.push(resolved.missing);
  }
  if (missing.length > 0) {
    return incomplete({ reason: 'ReferenceMissing', message: missing.join('; ') });
  }
  const [name, spec] = [resource.metadata.name ?? '', resource.spec ?? {}];
  const taken = equalDatabases(service, name, spec) ?? takenProblem(service, name, spec, surroundings.twins());
  if (taken !== undefined) return incomplete(taken);
  const context = contextOf(service, resource, surroundings);
  const staying = service.staying?.(context);
  const upgrade = upgradeOf(service.migrate !== undefined, resource.spec, surroundings.release);
  const { drafts, emptying, forgetting } = draftsOf(service as unknown as Service, context, upgrade);
  return {
    steps: withPreconditions(
      steps(drafts.all, service.needs ?? {}),
      broughtObjects(service.kind.spec, resource.spec),
      surroundings,
    ),
    complete: true,
    status: {
      release: { target: upgrade.target.name, ...(upgrade.phase === undefined ? {} : { phase: upgrade.phase }) },
      ...(service.groups === undefined ? {} : { cloud: context.cloud }),
      ...composedWith(service as unknown as Service, context),
      ...apiOf(service as unknown as Service, context),
      ...service.status?.(context),
      ...begunOf(service as unknown as Service, context),
      ...lastingStatus(service as unknown as Service, context),
    },
    finds: new Map(
      findingJobs(service as unknown as Service, context).flatMap(
        ({ suffix, finds, findsOfFailed: ofFailed = false }) =>
          finds ? [[context.named(suffix), { finds, ofFailed }]] : [],
      ),
    ),
    tells: new Map(
      [
        ...(service.jobs?.(context) ?? []),
        ...(service.schedules?.(context) ?? []),
        ...memberTells({ service: service as unknown as Service, context }),
      ].flatMap(({ suffix, tells }) => (tells ? [[context.named(suffix), tells] as const] : [])),
    ),
    ...quorumOf(service as unknown as Service, context),
    ...(service.kind.status.schema.properties?.['data'] === undefined ? {} : { tellsData: true }),
    ...(staying === undefined ? {} : { staying }),
    ...(service.prunedAfter && { prunedAfter: service.prunedAfter }),
    ...(emptying === undefined ? {} : { emptying }),
    ...(forgetting === undefined ? {} : { forgetting }),
    rotating: rotationsOf(service as unknown as Service, context),
    maxUnavailable: new Map(
      (service.groups?.(context) ?? []).flatMap(({ name, maxUnavailable }) =>
        maxUnavailable === undefined ? [] : [[name, maxUnavailable] as const],
      ),
    ),
  };
}

/** The Jobs that may find something. */
function findingJobs(service: Service, context: Context): readonly Pick<Job, 'suffix' | 'finds' | 'findsOfFailed'>[] {
  return [...(service.jobs?.(context) ?? []), ...toldRecords({ service, context })];
}

/** The quorum that `status.members` is about; a kind without that remembers its members by itself. */
function quorumOf(service: Service, context: Context): Pick<Composition, 'quorum'> {
  if (service.kind.status.schema.properties?.['members'] === undefined) return {};
  const { release, members } = context.surroundings;
  for (const [name, { quorum, step = 'DeploymentReady' }] of Object.entries(service.components(context))) {
    if (quorum === undefined) continue;
    const labels = selectorOf(service.name, context.name, name);
    const { size, primary } = quorum;
    const wasSingle = size === 1 && release.deployed !== undefined && members.size === undefined;
    return { quorum: { size, labels, step, wasSingle, ...(primary === undefined ? {} : { primary }) } };
  }
  return {};
}

/** Nothing is known of what is wanted: what exists stays as it is. */
function incomplete(problem: Problem): Composition {
  const step: Step = { condition: 'DependenciesReady', needs: [], awaits: [], objects: [], problem };
  return { steps: [step], complete: false, status: {} };
}

/**
 * What a resource comes to whose release this version cannot deploy, or cannot be reached from the one that it has: it is
 * left as it is. Undefined when it can.
 */
export function refusedRelease({ spec }: ServiceResource, surroundings: Surroundings): Composition | undefined {
  const { release } = surroundings;
  for (const name of [targetOf(spec, release), release.deployed]) {
    if (name === undefined || releaseNamed(name) !== undefined) continue;
    const where = spec?.release === name ? 'spec.release' : 'status.release';
    const known = releases.map((one) => one.name).join(', ');
    const message = `${where}: this operator deploys ${known}, not ${name}; install a version that does, or set spec.release`;
    return incomplete({ reason: 'ReleaseUnknown', message });
  }
  const problem = upgradeProblem(spec, release);
  return problem && incomplete(problem);
}

/** The resources that it refers to, as they are now, by field, and its peers: who assesses it sees whether they have changed since. */
function composedWith(
  service: Service,
  { spec, reference, surroundings }: Context,
): { readonly references?: References; readonly peers?: readonly string[] } {
  const { peers } = service;
  const references = [...neededBy(service, spec), ...mentionsOf(service)].flatMap((field) => {
    const { name, generation = 0 } = reference(field)?.metadata ?? {};
    return name === undefined ? [] : [[field, { name, generation }] as const];
  });
  const present = peers?.flatMap(({ kind: { kind } }) => (surroundings.peer(kind) === undefined ? [] : [kind]));
  return {
    ...(references.length === 0 ? {} : { references: Object.fromEntries(references) }),
    ...(present === undefined || peers?.length === 0 ? {} : { peers: present }),
  };
}

/** Where the API answers, as the catalogue has it. */
function apiOf(service: Service, context: Context): Readonly<Record<string, unknown>> {
  const [entry] = service.identity?.catalogue ?? [];
  if (entry === undefined) return {};
  const endpoints = endpointsOf(service, context, componentsOf(service, context), entry);
  return { apiEndpoint: endpoints.internal, endpoints };
}

/**
 * The steps that tell servers of passwords under rotation. Nothing reads another one before, be it a program of before
 * that starts again: it would not be let in.
 */
function serversToTell({ accounts: { database, broker, identity }, rotating }: Context): string[] {
  const told = { DatabaseReady: database.users, MessagingReady: [broker], EndpointReady: identity.users };
  return Object.entries(told).flatMap(([step, accounts]) =>
    accounts.some(({ secret }) => rotating(secret) !== undefined) ? [step] : [],
  );
}

function draftsOf(
  service: Service,
  context: Context,
  upgrade: Upgrade,
): { readonly drafts: StepDrafts } & Pick<Composition, 'emptying' | 'forgetting'> {
  const drafts = new StepDrafts();
  const state = (condition: string, objects: readonly Desired[]) => {
    const unserved = unservedProblems(service, objects, context.surroundings);
    if (unserved.length > 0) drafts.refuse(condition, ...unserved);
    drafts.add(condition, ...objects);
  };
  state('CredentialsReady', generatedSecrets(service, context));

  const components = withProcesses(componentsOf(service, context), context.spec);
  const sets = configSets(service, context, { owner: ownerOf(service, context), components });
  drafts.tell('ConfigReady', sets);
  drafts.tell('ConfigReady', specFindings(service, context));
  const starts = componentStarts(service, context, components);
  for (const set of [sets.byName, sets.ofComponents, starts].flatMap((some) => Object.values(some)))
    drafts.add('ConfigReady', ...set.objects);
  drafts.add('ConfigReady', ...lastingObjects(service, context));
  drafts.need('ConfigReady', 'CredentialsReady', ...serversToTell(context));

  const assembly: Assembly = { service, context, components, drafts, sets, starts };
  const data = addRecords(assembly, 'data');
  if (rootOf(context.resource) === undefined) drafts.add('NodesReady', ...(service.claims?.(context) ?? []));
  const moved = service.groups === undefined ? undefined : movedProblem(context);
  if (moved !== undefined) drafts.refuse('NodesReady', moved);
  for (const volume of service.volumes?.(context) ?? [])
    drafts.add('StorageReady', volumeClaim(service, context, volume));
  addMigration(assembly, service.migrate?.(context), upgrade);
  const jobs = service.jobs?.(context) ?? [];
  for (const job of jobs) addJob(assembly, job, 'ConfigReady', 'DatabaseReady');
  const staying = service.staying?.(context);
  if (staying !== undefined) {
    addJob(assembly, removalJob(service, context, staying), 'ConfigReady', 'DatabaseReady');
    const problem = countProblem(context, staying.plan.counts);
    if (problem !== undefined) drafts.refuse(staying.step, { reason: 'SpecRefused', message: problem });
  }
  addComponents(assembly);
  const registration = addRecords(assembly, 'registration');
  const resources = addRecords(assembly, 'resources');
  const refused = refusedMembers(assembly);
  if (refused.length > 0) drafts.tell('ResourcesReady', { degraded: refused });
  const audit = recordsAudit(assembly, [...data, ...registration, ...resources]);
  for (const schedule of [...audit, ...(service.schedules?.(context) ?? [])]) addSchedule(assembly, schedule);

  drafts.add(
    'CredentialsReady',
    ...accessObjects(service, context, [...Object.keys(components), ...jobs.map(({ suffix }) => suffix)]),
  );
  for (const [condition, objects] of Object.entries(service.objects?.(context) ?? {})) state(condition, objects);
  for (const [condition, problem] of Object.entries(service.problems?.(context) ?? {}))
    drafts.refuse(condition, problem);
  drafts.tell('ConfigReady', lastingFindings(service, context));
  for (const [condition, skipped] of Object.entries(service.skips?.(context) ?? {})) drafts.skip(condition, skipped);
  return { drafts, ...addEmptying(assembly), ...addForgetting(assembly) };
}

/** Adds the Job that forgets nodes, once the service serves. */
function addForgetting(assembly: Assembly): Pick<Composition, 'forgetting'> {
  const { hosts, problem } = nodesToForget(assembly.context);
  if (hosts.length === 0 || assembly.service.groups === undefined) return {};
  const job = forgettingJob(assembly.service, assembly.context, hosts);
  if (job === undefined) return problem === undefined ? { forgetting: { hosts } } : {};
  const object = addJob(assembly, job, 'DeploymentReady', 'EndpointReady');
  if (problem === undefined) return { forgetting: { job: object, hosts } };
  assembly.drafts.skip(forgettingStep, { reason: 'Skipped', message: problem });
  return {};
}

/** Adds the Job of nodes in maintenance, once the service serves. */
function addEmptying(assembly: Assembly): Pick<Composition, 'emptying'> {
  const { service, context, drafts } = assembly;
  const { job, hosts, back, problem } = emptyingJob(service, context) ?? {};
  if (job === undefined || hosts === undefined || back === undefined) return {};
  const object = addJob(assembly, job, 'DeploymentReady', 'EndpointReady');
  if (problem !== undefined) {
    drafts.skip(maintenanceStep, { reason: 'Skipped', message: problem });
    return {};
  }
  return { emptying: { job: object, hosts, back } };
}

/** What others made in it is lost with its database. */
function begunOf(service: Service, context: Context): { readonly data?: string } {
  const data = ownOffer(service, 'identity') && context.begun(['database']);
  return data === undefined ? {} : { data };
}
