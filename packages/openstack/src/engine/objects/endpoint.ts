import { serviceHost } from '../names/names.ts';
import type { Component } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { CatalogueEntry } from '../vocabulary/identity.ts';
import type { Service } from '../vocabulary/service.ts';
import { workloadName } from './workload.ts';

/** Where a service answers, as an entry of the catalogue has it. */
export interface Endpoints {
  /** Inside the cluster. */
  readonly internal: string;
  /** From outside; the internal one when it is not reached from there. */
  readonly public: string;
}

/**
 * The URLs of an entry of a service's catalogue.
 * @throws Error when the entry names a component or a port that the service does not have
 */
export function endpointsOf(
  service: Service,
  context: Context,
  components: Readonly<Record<string, Component>>,
  { component: name, port: portName, path, type }: CatalogueEntry,
): Endpoints {
  const component = components[name];
  const port = component?.ports?.[portName];
  if (component === undefined || port === undefined) {
    throw new Error(`${service.name}: endpoint ${type} is of component ${name}, port ${portName}: there is none`);
  }
  const internal = `http://${serviceHost(workloadName({ context, name, component }), context.namespace)}:${port}${path}`;
  const outside = component.exposed === portName ? context.publicUrl(name, component) : undefined;
  return { internal, public: outside === undefined ? internal : `${outside}${path}` };
}
