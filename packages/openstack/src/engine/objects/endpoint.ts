import { serviceHost } from '../names/names.ts';
import { reachedAt } from '../vocabulary/api-tls.ts';
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
  entry: CatalogueEntry,
): Endpoints {
  const path = typeof entry.path === 'string' ? entry.path : entry.path(context.spec);
  const addressOf = (name: string) => {
    const component = components[name];
    const { scheme, port } = component === undefined ? {} : reachedAt(component, entry.port, context);
    if (component === undefined || port === undefined) {
      throw new Error(
        `${service.name}: endpoint ${entry.type} is of component ${name}, port ${entry.port}: there is none`,
      );
    }
    const host = serviceHost(workloadName({ context, name, component }), context.namespace);
    return { component, url: `${scheme}://${host}:${port}${path}` };
  };
  const { component, url } = addressOf(entry.component);
  const outside = component.exposed === entry.port ? context.publicUrl(entry.component, component) : undefined;
  const { internal = entry.component } = entry;
  const inside = Object.hasOwn(components, internal) ? addressOf(internal).url : url;
  return { internal: inside, public: outside === undefined ? url : `${outside}${path}` };
}
