import { type Component, portsByContainer } from '../vocabulary/component.ts';
import { connectedPath, connectedScript } from '../vocabulary/connected.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Job, Schedule, Service } from '../vocabulary/service.ts';
import { type ConfigSet, configSet, ownerOf } from './config.ts';
import { startOf } from './start.ts';

/** The start files of each component: those of all its containers. */
export function componentStarts(
  service: Service,
  context: Context,
  components: Readonly<Record<string, Component>>,
): Readonly<Record<string, ConfigSet>> {
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [name, componentStart(service, context, name, component)]),
  );
}

function componentStart(service: Service, context: Context, name: string, component: Component): ConfigSet {
  const ports = portsByContainer(component);
  const port = Object.values(ports.own)[0];
  const files = { ...startOf(name, component.runs, port, { reaper: true }).files };
  const { init: inits = [], sidecars = [], health } = component;
  for (const init of inits) Object.assign(files, startOf(init.name, init.runs, port, { reaper: false }).files);
  for (const { name, runs } of sidecars)
    Object.assign(files, startOf(name, runs, Object.values(ports.of(name))[0], { reaper: true }).files);
  if ([health, ...sidecars.map((sidecar) => sidecar.health)].some((one) => one !== undefined && 'connected' in one))
    files[connectedPath] = connectedScript;
  return configSet(ownerOf(service, context), { name: `${name}-start`, volume: 'start', files });
}

/** The start files of a Job. */
export function jobStart(service: Service, context: Context, job: Pick<Job | Schedule, 'suffix' | 'runs'>): ConfigSet {
  const files = Object.assign({}, ...job.runs.map((run) => startOf(run.name, run, undefined, { reaper: false }).files));
  return configSet(ownerOf(service, context), { name: `${job.suffix}-start`, volume: 'start', files });
}
