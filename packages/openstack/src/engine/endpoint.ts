import type { Component } from './component.ts';
import type { Context } from './context.ts';
import { serviceHost } from './names.ts';
import type { Service } from './service.ts';
import { workloadName } from './workload.ts';

/**
 * URL of a service's API inside the cluster.
 * @throws Error when the service's definition names a component or a port that it does not have
 */
export function internalEndpoint(
  service: Service,
  context: Context,
  components: Readonly<Record<string, Component>>,
): string {
  const { component: name, port: portName, path } = service.identity?.endpoint ?? { component: '', port: '', path: '' };
  const component = components[name];
  const port = component?.ports?.[portName];
  if (component === undefined || port === undefined) {
    throw new Error(`${service.name}: its endpoint names component ${name}, port ${portName}: there is none`);
  }
  return `http://${serviceHost(workloadName({ context, name, component }), context.namespace)}:${port}${path}`;
}
