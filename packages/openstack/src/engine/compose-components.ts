import { type Assembly, awaited } from './assembly.ts';
import { type Component, usesHost } from './component.ts';
import { askedAtStart } from './dependencies.ts';
import { exposureOf, routeOf } from './exposure.ts';
import { environmentProblems } from './pod.ts';
import { disruptionBudget, memberServices, networkPolicy, serviceOf, workload, workloadName } from './workload.ts';

/** Adds the workloads of a service, each with its Services, disruption budget, network policy and route. */
export function addComponents(assembly: Assembly): void {
  for (const [index, [name, component]] of Object.entries(assembly.components).entries())
    addComponent(assembly, name, component, index === 0);
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
  const problems = environmentProblems(`spec.components.${shown}`, component.env, context.spec.components?.[shown]);
  drafts.refuse('ConfigReady', ...problems.map((message) => ({ reason: 'ConfigRefused' as const, message })));
  for (const object of [
    serviceOf(input),
    ...memberServices(input),
    workload(input),
    disruptionBudget(input),
    networkPolicy(input),
  ]) {
    if (object !== undefined) drafts.add(condition, { verb: 'apply', object });
  }
  drafts.need(condition, 'ConfigReady', 'DatabaseReady', 'MessagingReady', 'MigrationReady', 'StorageReady');
  drafts.step(condition).awaits = askedAtStart(service).flatMap((field) => awaited(context, field));
  if (component.nodeAgent !== undefined) drafts.need(condition, 'NodesReady');
  if (component.exposed !== undefined) expose(assembly, name, component);
}

function expose({ service, context, drafts }: Assembly, name: string, component: Component): void {
  const { publicHostname } = component;
  const spec = publicHostname === undefined ? context.spec : { ...context.spec, publicHostname };
  const exposure = exposureOf({ namespace: context.namespace, spec }, context.surroundings);
  if (exposure.type === 'problem') drafts.refuse('ExposureReady', exposure.problem);
  if (exposure.type !== 'route') return;
  const port = component.ports?.[component.exposed ?? ''];
  if (port === undefined)
    throw new Error(`${service.name} ${name}: exposes port ${component.exposed}, which it does not have`);
  const route = routeOf(exposure, {
    service: service.name,
    instance: context.name,
    namespace: context.namespace,
    name: workloadName({ context, name, component }),
    component: name,
    port,
  });
  drafts.add('ExposureReady', route);
}
