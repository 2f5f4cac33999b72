import { disruptionBudget, sharedBudget } from '../objects/disruption-budget.ts';
import { exposureObject } from '../objects/exposure-object.ts';
import { imageProblem } from '../objects/images.ts';
import { networkPolicy } from '../objects/network-policy.ts';
import { takenVariables, variableMistakes } from '../objects/pod.ts';
import { type ComponentInput, memberServices, membersService, serviceOf, workload } from '../objects/workload.ts';
import { type Component, usesHost } from '../vocabulary/component.ts';
import { askedAtStart } from '../vocabulary/dependencies.ts';
import { exposedOf, exposureOf, externalServiceMistakes } from '../vocabulary/exposure.ts';
import { takenMounts, volumeMistakes } from '../vocabulary/extra-volumes.ts';
import { type Assembly, awaited } from './assembly.ts';
import { findingsOf } from './spec-findings.ts';

/**
 * Adds the workloads of a service, each with its Services, disruption budget, network policy and route. A service without
 * any is what it asks at its start: it waits for that all the same.
 */
export function addComponents(assembly: Assembly): void {
  const [main] = Object.keys(assembly.components);
  if (main === undefined)
    for (const field of askedAtStart(assembly.service, assembly.context.spec))
      assembly.drafts.step('DependenciesReady').awaits.push(...awaited(assembly, field));
  for (const [name, component] of Object.entries(assembly.components))
    addComponent(assembly, name, component, (component.variantOf ?? name) === main);
  addSharedBudgets(assembly);
  const exposed = Object.entries(assembly.components).filter(([, component]) => component.exposed !== undefined);
  const mistakes = externalServiceMistakes(
    assembly.context.spec,
    exposed.map(([name]) => name),
  );
  if (mistakes.length > 0)
    assembly.drafts.tell('ExposureReady', findingsOf(mistakes, assembly.context.surroundings, 'ExposureRefused'));
}

function addSharedBudgets({ service, context, components, drafts }: Assembly): void {
  const inTurn = Object.entries(components).filter(([, component]) => component.inTurn === true);
  for (const [step, all] of Map.groupBy(inTurn, ([, component]) => component.step ?? 'DeploymentReady')) {
    const object = sharedBudget(
      all.map(([name]) => ({ service, context, name })),
      step,
    );
    if (object !== undefined) drafts.add(step, { verb: 'apply', object });
  }
}

function addComponent(assembly: Assembly, name: string, component: Component, main: boolean): void {
  const { service, context, drafts, sets, starts } = assembly;
  if (usesHost(component) && service.usesNodes !== true)
    throw new Error(`${service.name} ${name}: its pods have access to their node; its definition has to say usesNodes`);
  const condition = component.step ?? 'DeploymentReady';
  const configs = [sets.ofComponents[name] ?? sets.byName[component.config ?? 'main'], starts[name]].filter(
    (set) => set !== undefined,
  );
  const input = { service, context, name, component, main, configs };
  const shown = component.variantOf ?? name;
  const path = `spec.components.${shown}`;
  const overrides = context.spec.components?.[shown];
  const taken = [
    ...takenVariables(path, component.env, overrides),
    ...takenMounts(path, overrides, { mounts: [...(component.mounts ?? []), ...configs.flatMap((set) => set.mounts)] }),
    ...unpublished(input, shown),
  ];
  drafts.refuse('ConfigReady', ...taken.map((message) => ({ reason: 'ConfigRefused' as const, message })));
  const mistakes = [...variableMistakes(path, component.env, overrides), ...volumeMistakes(path, overrides, service)];
  drafts.tell('ConfigReady', findingsOf(mistakes, context.surroundings, 'ConfigRefused'));
  const ownService = serviceOf(input);
  if (ownService !== undefined) {
    // Clients follow the primary whatever keeps its members from being changed: a mistake in the spec, a volume that is lost.
    const follows = component.quorum?.primary === undefined ? condition : 'PrimaryReady';
    drafts.add(follows, { verb: 'apply', object: ownService });
  }
  for (const object of [
    membersService(input),
    ...memberServices(input),
    workload(input),
    disruptionBudget(input),
    networkPolicy(input),
  ]) {
    if (object === undefined) continue;
    const mostAway = object.kind === component.workload ? component.mostAway : undefined;
    drafts.add(condition, { verb: 'apply', object, ...(mostAway === undefined ? {} : { mostAway }) });
  }
  if (component.inTurn === true) drafts.step(condition).inTurn = true;
  drafts.need(condition, 'ConfigReady', 'DatabaseReady', 'MessagingReady', 'MigrationReady', 'StorageReady');
  drafts.need(condition, ...(component.needs ?? []));
  drafts.step(condition).awaits = askedAtStart(service, context.spec).flatMap((field) => awaited(assembly, field));
  if (component.nodeAgent !== undefined) drafts.need(condition, 'NodesReady');
  if (component.exposed !== undefined) expose(assembly, input);
}

/** Images that are not published where they are looked for. */
function unpublished({ context, component, main }: ComponentInput, shown: string): string[] {
  const { spec, release } = context;
  const others = [...(component.init ?? []), ...(component.sidecars ?? [])].flatMap(({ name, image }) =>
    image === undefined ? [] : [imageProblem(image, { component: name, main: false, spec, release })],
  );
  const problems = [imageProblem(component.image, { component: shown, main, spec, release }), ...others];
  return problems.filter((problem) => problem !== undefined);
}

function expose({ context, drafts }: Assembly, input: ComponentInput): void {
  const exposed = exposedOf(context, input.name, input.component);
  const exposure = exposureOf(exposed, context.surroundings);
  if (exposure.type === 'problem') drafts.refuse('ExposureReady', exposure.problem);
  const object = exposureObject(exposure, input, exposed.port);
  if (object !== undefined) drafts.add('ExposureReady', { verb: 'apply', object });
}
