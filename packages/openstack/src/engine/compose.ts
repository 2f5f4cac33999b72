import type { KubeObject } from '@openstack-operator/kube';
import { broughtBy, kindOf } from '../api/kinds.ts';
import { releaseNamed, releaseNameOf, releases } from '../releases/index.ts';
import { recordsAudit } from './audit.ts';
import { takenProblem } from './common-accounts.ts';
import { type Component, portsByContainer, type Runs } from './component.ts';
import { type ConfigSet, configSet } from './config.ts';
import { configSets } from './config-sets.ts';
import { connectedPath, connectedScript } from './connected.ts';
import { type Context, contextOf, externalOf } from './context.ts';
import { askedAtStart, mentionsOf, referencesOf } from './dependencies.ts';
import { endpointsOf } from './endpoint.ts';
import { exposureOf, routeOf } from './exposure.ts';
import { imageOf } from './images.ts';
import { jobObject } from './job.ts';
import { type Keeping, type Kept, keepingsOf } from './keeping.ts';
import { movedProblem } from './moved.ts';
import { labelsOf, retainedFor, retainedForLabel } from './names.ts';
import { environmentProblems } from './pod.ts';
import { withPreconditions } from './preconditions.ts';
import { type Records, recordsOf } from './records.ts';
import { rootOf } from './roots.ts';
import { cronJobObject } from './schedule.ts';
import type { GeneratedSecret, Job, Schedule, Service, Volume } from './service.ts';
import { startOf } from './start.ts';
import type { Awaited, Desired, Problem, Step } from './step.ts';
import { type StepDraft, steps } from './steps.ts';
import type { ComponentOverrides, ReferenceField, ServiceResource, Surroundings } from './surroundings.ts';
import { disruptionBudget, memberServices, networkPolicy, serviceOf, workload, workloadName } from './workload.ts';

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
}

/**
 * From a resource and its surroundings to its steps. Pure: the same input gives the same bytes.
 */
export function compose<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
): Composition {
  const unknown = unknownRelease(resource, surroundings);
  if (unknown !== undefined) return unknown;
  const missing = referencesOf(service).flatMap((field) => {
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
  const taken = takenProblem(service, resource.metadata.name ?? '', resource.spec ?? {}, surroundings.twins());
  if (taken !== undefined) return incomplete(taken);
  const context = contextOf(service, resource, surroundings);
  return {
    steps: withPreconditions(
      steps(draft(service as unknown as Service, context), service.needs ?? {}),
      broughtBy(resource),
      surroundings,
    ),
    complete: true,
    status: {
      release: { target: context.release.name },
      ...(service.groups === undefined ? {} : { cloud: context.cloud }),
      ...apiOf(service as unknown as Service, context),
      ...service.status?.(context),
    },
    maxUnavailable: new Map(
      (service.groups?.(context) ?? []).flatMap(({ name, maxUnavailable }) =>
        maxUnavailable === undefined ? [] : [[name, maxUnavailable] as const],
      ),
    ),
  };
}

/** Nothing is known of what is wanted: what exists stays as it is. */
function incomplete(problem: Problem): Composition {
  const step: Step = { condition: 'DependenciesReady', needs: [], awaits: [], objects: [], problem };
  return { steps: [step], complete: false, status: {} };
}

/** What a resource comes to whose release this version cannot deploy: it is left as it is. Undefined when it can. */
export function unknownRelease({ spec }: ServiceResource, surroundings: Surroundings): Composition | undefined {
  const name = releaseNameOf(spec, surroundings.release);
  if (releaseNamed(name) !== undefined) return undefined;
  const where = spec?.release === undefined ? 'status.release' : 'spec.release';
  const known = releases.map((release) => release.name).join(', ');
  const message = `${where}: this operator deploys ${known}, not ${name}; install a version that does, or set spec.release`;
  return incomplete({ reason: 'ReleaseUnknown', message });
}

/** Where the API answers, as the catalogue has it. */
function apiOf(service: Service, context: Context): Readonly<Record<string, unknown>> {
  if (service.identity === undefined) return {};
  const endpoints = endpointsOf(service, context, service.components(context), service.identity.catalogue[0]);
  return { apiEndpoint: endpoints.internal, endpoints };
}

function draft(service: Service, context: Context): Record<string, StepDraft> {
  const drafts: Record<string, StepDraft> = {};
  const step = (condition: string): StepDraft =>
    (drafts[condition] ??= { objects: [], needs: new Set(), awaits: [], problems: [] });
  const add = (condition: string, ...objects: readonly Desired[]) => step(condition).objects.push(...objects);

  const components = service.components(context);
  for (const secret of secretsOf(service, context)) add('CredentialsReady', generated(service, context, secret));

  const {
    byName: sets,
    ofComponents,
    problems,
  } = configSets(service, context, { owner: ownerOf(service, context), components });
  step('ConfigReady').problems.push(...problems);
  const starts = Object.fromEntries(
    Object.entries(components).map(([name, component]) => [name, startSet(service, context, name, component)]),
  );
  for (const set of [...Object.values(sets), ...Object.values(ofComponents), ...Object.values(starts)])
    add('ConfigReady', ...set.objects);

  const needed = (condition: string, ...needs: string[]) => {
    for (const need of needs) step(condition).needs.add(need);
  };
  const addJob = (job: Job, ...needs: string[]) => {
    const start = jobStartSet(service, context, job);
    add('ConfigReady', ...start.objects);
    add(job.step, {
      verb: 'apply',
      object: jobOf(service, context, job, { components, sets: [sets[job.config ?? 'main'], start] }),
    });
    needed(job.step, ...needs, ...(job.needs ?? []));
  };
  const kept: Kept = { service, context, components };
  const allRecords: Records[] = [];
  const addRecords = (holds: Keeping['holds']) => {
    for (const { keeping, field } of keepingsOf(service)) {
      if (keeping.holds !== holds) continue;
      const records = recordsOf(keeping, kept);
      allRecords.push(records);
      add(keeping.step, ...records.objects);
      addJob(records.job, 'CredentialsReady');
      step(keeping.step).awaits.push(...awaited(context, field));
      // What is kept in the service itself waits until it serves.
      if (field === undefined) needed(keeping.step, 'BootstrapReady', 'DeploymentReady');
    }
  };
  addRecords('data');
  needed('ConfigReady', 'CredentialsReady');

  if (rootOf(context.resource) === undefined) {
    for (const claim of service.claims?.(context) ?? []) add('NodesReady', claim);
  }
  const moved = service.groups === undefined ? undefined : movedProblem(context);
  if (moved !== undefined) step('NodesReady').problems.push(moved);
  for (const volume of service.volumes?.(context) ?? []) add('StorageReady', volumeClaim(service, context, volume));
  for (const job of service.jobs?.(context) ?? []) {
    addJob(job, 'ConfigReady', 'DatabaseReady');
  }
  for (const [index, [name, component]] of Object.entries(components).entries()) {
    const main = index === 0;
    const condition = component.step ?? 'DeploymentReady';
    const configs = [ofComponents[name] ?? sets[component.config ?? 'main'], starts[name]].filter(
      (set): set is ConfigSet => set !== undefined,
    );
    const input = { service, context, name, component, main, configs };
    const shown = component.variantOf ?? name;
    step('ConfigReady').problems.push(
      ...environmentProblems(`spec.components.${shown}`, component.env, context.spec.components?.[shown]).map(
        (message): Problem => ({ reason: 'ConfigRefused', message }),
      ),
    );
    for (const object of [
      serviceOf(input),
      ...memberServices(input),
      workload(input),
      disruptionBudget(input),
      networkPolicy(input),
    ]) {
      if (object !== undefined) add(condition, { verb: 'apply', object });
    }
    needed(condition, 'ConfigReady', 'DatabaseReady', 'MessagingReady', 'MigrationReady', 'StorageReady');
    step(condition).awaits = askedAtStart(service).flatMap((field) => awaited(context, field));
    if (component.nodeAgent !== undefined) needed(condition, 'NodesReady');
    if (component.exposed !== undefined) expose(service, context, name, component, step, add);
  }
  addRecords('registration');
  for (const schedule of [...recordsAudit(kept, allRecords), ...(service.schedules?.(context) ?? [])]) {
    const start = jobStartSet(service, context, schedule);
    const configs = [sets[schedule.config ?? 'main'], start].filter((set) => set !== undefined);
    const image = (name: string) => imageOfJob(context, { suffix: schedule.suffix, image: name }, components);
    const object = cronJobObject({ service, context, schedule, image, configs });
    add('SchedulesReady', ...start.objects, { verb: 'apply', object });
    // After everything else was set up once.
    needed('SchedulesReady', 'ConfigReady', 'DatabaseReady', 'MessagingReady', 'MigrationReady', 'EndpointReady');
  }
  for (const [condition, objects] of Object.entries(service.objects?.(context) ?? {})) add(condition, ...objects);
  for (const [condition, problem] of Object.entries(service.problems?.(context) ?? {}))
    step(condition).problems.push(problem);
  for (const [condition, skipped] of Object.entries(service.skips?.(context) ?? {}))
    drafts[condition] = { ...step(condition), objects: [], skipped };
  return drafts;
}

/** The Secrets that a definition names, and those that its databases, vhost and user imply. */
function secretsOf(service: Service, context: Context): readonly GeneratedSecret[] {
  const password = { password: { type: 'password', length: 32 } } as const;
  const credential = (suffix: string, more: Partial<GeneratedSecret> = {}): GeneratedSecret => ({
    suffix,
    values: password,
    secretClass: 'credential',
    ...more,
  });
  const { database, broker, identity } = context.accounts;
  const account = (suffix: string, secret: string) => (secret === context.named(suffix) ? [credential(suffix)] : []);
  return [
    ...(service.secrets?.(context) ?? []),
    ...(service.databases === undefined ? [] : account('db-password', database.secret)),
    ...(service.messaging === true ? account('mq-password', broker.secret) : []),
    ...(service.identity?.user === undefined ? [] : account('service-password', identity.secret)),
    ...(service.identity?.user === undefined || context.cache === undefined ? [] : [credential('cache-key')]),
  ];
}

function generated(service: Service, context: Context, secret: GeneratedSecret): Desired {
  const isRetained = service.retainedSecrets?.includes(secret.suffix) === true;
  const retained = isRetained && context.spec.deletionPolicy !== 'Delete';
  return {
    verb: 'generate',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: context.named(secret.suffix),
        namespace: context.namespace,
        labels: {
          ...labelsOf(service.name, context.name),
          ...(retained ? { [retainedForLabel]: retainedFor(context.resource) } : {}),
        },
      },
      type: 'Opaque',
    },
    values: secret.values,
    secretClass: secret.secretClass,
    ...(retained ? { retained } : {}),
    ...(secret.rotation === undefined ? {} : { rotation: secret.rotation }),
    ...(secret.guards === undefined ? {} : { guards: secret.guards }),
  };
}

function volumeClaim(service: Service, context: Context, volume: Volume): Desired {
  const { suffix, size, storageClassName } = volume;
  const retained = context.spec.deletionPolicy !== 'Delete';
  return {
    verb: 'apply',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: context.named(suffix),
        namespace: context.namespace,
        labels: {
          ...labelsOf(service.name, context.name),
          ...(retained ? { [retainedForLabel]: retainedFor(context.resource) } : {}),
        },
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        ...(storageClassName === undefined ? {} : { storageClassName }),
        resources: { requests: { storage: size } },
      },
    },
    ...(retained ? { retained } : {}),
  };
}

function startSet(service: Service, context: Context, name: string, component: Component): ConfigSet {
  const ports = portsByContainer(component);
  const port = Object.values(ports.own)[0];
  const runs = runsOf(component, context.spec.components?.[component.variantOf ?? name]);
  const files = { ...startOf(name, runs, port, { reaper: true }).files };
  const { init: inits = [], sidecars = [], health } = component;
  for (const init of inits) Object.assign(files, startOf(init.name, init.runs, port, { reaper: false }).files);
  for (const { name, runs } of sidecars)
    Object.assign(files, startOf(name, runs, Object.values(ports.of(name))[0], { reaper: true }).files);
  if ([health, ...sidecars.map((sidecar) => sidecar.health)].some((one) => one !== undefined && 'connected' in one))
    files[connectedPath] = connectedScript;
  return configSet(ownerOf(service, context), { name: `${name}-start`, volume: 'start', files });
}

/** What it runs, with the processes and threads that users ask for. */
function runsOf({ runs }: Component, overrides: ComponentOverrides | undefined): Runs {
  if (!('wsgi' in runs)) return runs;
  const { processes = runs.processes, threads = runs.threads } = overrides ?? {};
  return {
    ...runs,
    ...(processes === undefined ? {} : { processes }),
    ...(threads === undefined ? {} : { threads }),
  };
}

function jobStartSet(service: Service, context: Context, job: Pick<Job | Schedule, 'suffix' | 'runs'>): ConfigSet {
  const files = Object.assign({}, ...job.runs.map((run) => startOf(run.name, run, undefined, { reaper: false }).files));
  return configSet(ownerOf(service, context), { name: `${job.suffix}-start`, volume: 'start', files });
}

/** A Job runs what the component with the same image runs: a migration of another version would break it. */
function imageOfJob(
  { spec, release, surroundings }: Context,
  job: Pick<Job, 'suffix' | 'image'>,
  components: Readonly<Record<string, Component>>,
): string {
  if (job.image === 'operator') return surroundings.operatorImage;
  const all = Object.entries(components);
  const index = all.findIndex(([, component]) => component.image === job.image);
  const [name = job.suffix, component] = all[index] ?? [];
  return imageOf(job.image, { component: component?.variantOf ?? name, main: index === 0, spec, release });
}

function jobOf(
  service: Service,
  context: Context,
  job: Job,
  { components, sets }: { components: Readonly<Record<string, Component>>; sets: readonly (ConfigSet | undefined)[] },
): KubeObject {
  const [main = ''] = Object.keys(components);
  return jobObject({
    service,
    context,
    job,
    image: imageOfJob(context, job, components),
    overrides: context.spec.components?.[main],
    configs: sets.filter((set) => set !== undefined),
  });
}

function expose(
  service: Service,
  context: Context,
  name: string,
  component: Component,
  step: (condition: string) => StepDraft,
  add: (condition: string, ...objects: Desired[]) => void,
): void {
  const { publicHostname } = component;
  const spec = publicHostname === undefined ? context.spec : { ...context.spec, publicHostname };
  const exposure = exposureOf({ namespace: context.namespace, spec }, context.surroundings);
  if (exposure.type === 'problem') step('ExposureReady').problems.push(exposure.problem);
  if (exposure.type !== 'route') return;
  const port = component.ports?.[component.exposed ?? ''];
  if (port === undefined)
    throw new Error(`${service.name} ${name}: exposes port ${component.exposed}, which it does not have`);
  add(
    'ExposureReady',
    routeOf(exposure, {
      service: service.name,
      instance: context.name,
      namespace: context.namespace,
      name: workloadName({ context, name, component }),
      component: name,
      port,
    }),
  );
}

/** A referenced resource has to be Ready first; one that somebody else runs is taken as it is. */
function awaited(context: Context, field: ReferenceField | undefined): Awaited[] {
  const found = field && context.reference(field);
  if (found === undefined) return [];
  return [{ kind: kindOf(found), namespace: found.metadata.namespace ?? context.namespace, name: found.metadata.name }];
}

function ownerOf(service: Service, context: Context) {
  return {
    service: service.name,
    instance: context.name,
    namespace: context.namespace,
    surroundings: context.surroundings,
  };
}
