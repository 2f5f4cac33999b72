import { HTTPRoute, type Kind, TCPRoute, UDPRoute } from '@openstack-operator/kube';
import type { Reason } from '../status/reasons.ts';
import { type Component, protocolOf } from './component.ts';
import type { Problem } from './step.ts';
import type { GatewayFacts, ServiceSpec, Surroundings } from './surroundings.ts';

/** The Gateway that routes attach to when none is named (phase 1 plan, task 11). */
export const defaultGateway = 'openstack-gateway';

/** How one port of a component is reached from outside. `url`: where, when it speaks HTTP. */
export type Exposure =
  | { readonly type: 'none'; readonly url?: undefined }
  | { readonly type: 'problem'; readonly problem: Problem; readonly url?: undefined }
  | {
      readonly type: 'route';
      readonly kind: Kind;
      readonly url?: string;
      readonly gateway: { readonly name: string; readonly namespace: string; readonly listener?: string | undefined };
      readonly hostname?: string | undefined;
    }
  | {
      readonly type: 'service';
      readonly serviceType: 'LoadBalancer' | 'NodePort';
      readonly url?: string;
      /** The port outside. */
      readonly port: number;
    };

/** What is exposed: the fields of a resource that count, and a port of a component of it. */
export interface Exposed {
  readonly namespace: string;
  readonly spec: ServiceSpec;
  /** Name of the component. */
  readonly component: string;
  readonly port: number;
  /** What it speaks; default HTTP. */
  readonly speaks?: 'HTTP' | 'TCP' | 'UDP';
}

const routeKinds = { HTTP: HTTPRoute, TCP: TCPRoute, UDP: UDPRoute };

/** The Gateway that a route of this exposure would attach to; undefined where none is asked for. */
export function gatewayOf({ namespace, spec }: Pick<Exposed, 'namespace' | 'spec'>) {
  if (spec.exposure !== undefined && spec.exposure !== 'Gateway') return undefined;
  return { name: spec.gatewayRef?.name ?? defaultGateway, namespace: spec.gatewayRef?.namespace ?? namespace };
}

/** What a component exposes of itself: the port of that name, by what it speaks. @throws Error when it has no such port */
export function exposedOf(
  { namespace, spec }: Pick<Exposed, 'namespace' | 'spec'>,
  name: string,
  component: Pick<Component, 'exposed' | 'exposedAs' | 'ports' | 'publicHostname' | 'udp'>,
): Exposed {
  const { exposed = '', exposedAs = 'HTTP', ports, publicHostname = spec.publicHostname } = component;
  const port = ports?.[exposed];
  if (port === undefined) throw new Error(`${name}: exposes port ${exposed}, which it does not have`);
  const speaks = protocolOf(component, exposed) === 'UDP' ? 'UDP' : exposedAs;
  const named = publicHostname === undefined ? spec : { ...spec, publicHostname };
  return { namespace, spec: named, component: name, port, speaks };
}

/**
 * Decides how a port is exposed. A route is made where the cluster serves its kind and the resource asks for a Gateway, or
 * the default one exists; a Service of its own where the resource asks for that; elsewhere it is reached inside alone.
 */
export function exposureOf(exposed: Exposed, surroundings: Surroundings): Exposure {
  const { exposure } = exposed.spec;
  if (exposure === 'LoadBalancer' || exposure === 'NodePort') return serviceExposure(exposed, exposure);
  const meant = gatewayOf(exposed);
  return meant === undefined ? { type: 'none' } : routeExposure(exposed, meant, surroundings);
}

/** What is said of Services that expose, and means nothing here. `names`: the components that are exposed. */
export function externalServiceMistakes(
  { exposure, externalService }: ServiceSpec,
  names: readonly string[],
): string[] {
  if (externalService === undefined) return [];
  if (exposure !== 'LoadBalancer' && exposure !== 'NodePort')
    return ['spec.externalService: is for spec.exposure LoadBalancer or NodePort; set that, or remove it'];
  return Object.keys(externalService.ports ?? {})
    .filter((name) => !names.includes(name))
    .map((name) => {
      const known = names.join(', ') || 'none';
      return `spec.externalService.ports.${name}: no component of this name is exposed; expected one of ${known}`;
    });
}

function serviceExposure(exposed: Exposed, serviceType: 'LoadBalancer' | 'NodePort'): Exposure {
  const { spec, component, speaks = 'HTTP' } = exposed;
  const { ports = {}, scheme = 'http' } = spec.externalService ?? {};
  const port = ports[component] ?? (serviceType === 'NodePort' ? undefined : exposed.port);
  if (port === undefined) {
    const field = `spec.externalService.ports.${component}`;
    return problem('ExposureRefused', `${field}: expected the port of the nodes, such as 30000, for exposure NodePort`);
  }
  if (speaks !== 'HTTP') return { type: 'service', serviceType, port };
  if (spec.publicHostname === undefined) return hostnameMissing(`a Service of type ${serviceType}`);
  const shown = port === standardPorts[scheme] ? '' : `:${port}`;
  return { type: 'service', serviceType, port, url: `${scheme}://${spec.publicHostname}${shown}` };
}

const standardPorts = { http: 80, https: 443 } as const;

function routeExposure(
  exposed: Exposed,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  surroundings: Surroundings,
): Exposure {
  const { spec, port, speaks = 'HTTP' } = exposed;
  const { publicHostname: hostname } = spec;
  const kind = routeKinds[speaks];
  const isAsked = spec.exposure === 'Gateway' || spec.gatewayRef?.name !== undefined;
  const unless = (refusal: Exposure): Exposure => (isAsked ? refusal : { type: 'none' });
  const title = `Gateway ${namespace}/${name}`;
  if (speaks === 'HTTP' && hostname === undefined) return unless(hostnameMissing(`a route to ${title}`));
  if (!surroundings.serves(`${kind.group}/${kind.kind}`)) {
    const message = `the cluster does not serve ${kind.group}/${kind.version} ${kind.kind}; install Gateway API >= 1.2, or set spec.exposure to None`;
    return unless(problem('GatewayApiMissing', message));
  }
  const gateway = surroundings.gateway(`${namespace}/${name}`);
  if (gateway === undefined) {
    const message = `spec.gatewayRef: ${title} does not exist; create it or name another one`;
    return unless(problem('GatewayMissing', message));
  }
  if (speaks !== 'HTTP') {
    const listener = gateway.listeners.find((one) => one.protocol === speaks && one.port === port);
    if (listener !== undefined) return { type: 'route', kind, gateway: { name, namespace, listener: listener.name } };
    const message = `spec.gatewayRef: ${title} has no listener of protocol ${speaks} at port ${port}, which ${exposed.component} needs; add one, or name another Gateway`;
    return unless(problem('ListenerMissing', message));
  }
  const { listenerName } = spec.gatewayRef ?? {};
  const listener = chooseListener(gateway, listenerName);
  if (listener === undefined) {
    const known = gateway.listeners.map((one) => one.name).join(', ') || 'none';
    const message = `spec.gatewayRef.listenerName: ${title} has no HTTP or HTTPS listener ${JSON.stringify(listenerName ?? '*')}; it has ${known}`;
    return problem('ListenerMissing', message);
  }
  const scheme = listener.protocol === 'HTTPS' ? 'https' : 'http';
  const shown = listener.port === standardPorts[scheme] ? '' : `:${listener.port}`;
  return {
    type: 'route',
    kind,
    url: `${scheme}://${hostname}${shown}`,
    hostname,
    gateway: { name, namespace, listener: listenerName },
  };
}

/** The listener whose address a route's URL has. */
export function chooseListener(
  gateway: GatewayFacts,
  name: string | undefined,
): GatewayFacts['listeners'][number] | undefined {
  const usable = gateway.listeners.filter(({ protocol }) => protocol === 'HTTPS' || protocol === 'HTTP');
  if (name !== undefined) return usable.find((listener) => listener.name === name);
  return usable.find(({ protocol }) => protocol === 'HTTPS') ?? usable[0];
}

function problem(reason: Reason, message: string): Exposure {
  return { type: 'problem', problem: { reason, message } };
}

function hostnameMissing(what: string): Exposure {
  return problem('HostnameMissing', `spec.publicHostname: ${what} needs a host name; set it`);
}
