import { labelsOf } from './names.ts';
import type { Reason } from './reasons.ts';
import type { Desired, Problem } from './step.ts';
import type { GatewayFacts, ServiceSpec, Surroundings } from './surroundings.ts';

/** The Gateway that routes attach to when none is named (phase 1 plan, task 11). */
export const defaultGateway = 'openstack-gateway';

/** How one API is reached from outside. */
export type Exposure =
  | { readonly type: 'none' }
  | { readonly type: 'problem'; readonly problem: Problem }
  | {
      readonly type: 'route';
      readonly url: string;
      readonly gateway: { readonly name: string; readonly namespace: string; readonly listener?: string };
      readonly hostname: string;
    };

/** Whose exposure is meant: the fields of a resource that count. */
export interface Exposed {
  readonly namespace: string;
  readonly spec: ServiceSpec;
}

/** The Gateway that a route of this exposure would attach to; undefined where none is asked for. */
export function gatewayOf({ namespace, spec }: Exposed): { name: string; namespace: string } | undefined {
  if (spec.exposure !== undefined && spec.exposure !== 'Gateway') return undefined;
  return { name: spec.gatewayRef?.name ?? defaultGateway, namespace: spec.gatewayRef?.namespace ?? namespace };
}

/**
 * Decides how an API is exposed. A route is made where the cluster serves HTTPRoutes and the resource asks for a
 * Gateway, or the default one exists; elsewhere the API is reached by its Service alone.
 */
export function exposureOf({ namespace, spec }: Exposed, surroundings: Surroundings): Exposure {
  const asked = spec.exposure === 'Gateway' || spec.gatewayRef?.name !== undefined;
  const meant = gatewayOf({ namespace, spec });
  if (meant === undefined) return { type: 'none' };
  const { name, namespace: gatewayNamespace } = meant;
  const gateway = surroundings.gateway(`${gatewayNamespace}/${name}`);
  if (!surroundings.serves('gateway.networking.k8s.io/HTTPRoute')) {
    return asked
      ? problem(
          'GatewayApiMissing',
          'the cluster does not serve gateway.networking.k8s.io/v1 HTTPRoute; install Gateway API >= 1.2, or set spec.exposure to None',
        )
      : { type: 'none' };
  }
  if (gateway === undefined) {
    return asked
      ? problem(
          'GatewayMissing',
          `spec.gatewayRef: Gateway ${gatewayNamespace}/${name} does not exist; create it or name another one`,
        )
      : { type: 'none' };
  }
  if (spec.publicHostname === undefined) {
    return asked
      ? problem(
          'HostnameMissing',
          `spec.publicHostname is not set, but a route to Gateway ${gatewayNamespace}/${name} needs a host name`,
        )
      : { type: 'none' };
  }
  const listener = chooseListener(gateway, spec.gatewayRef?.listenerName);
  if (listener === undefined) {
    const known = gateway.listeners.map((one) => one.name).join(', ') || 'none';
    return problem(
      'ListenerMissing',
      `spec.gatewayRef.listenerName: Gateway ${gatewayNamespace}/${name} has no HTTP or HTTPS listener ${JSON.stringify(spec.gatewayRef?.listenerName ?? '*')}; it has ${known}`,
    );
  }
  const scheme = listener.protocol === 'HTTPS' ? 'https' : 'http';
  const port = listener.port === (scheme === 'https' ? 443 : 80) ? '' : `:${listener.port}`;
  return {
    type: 'route',
    url: `${scheme}://${spec.publicHostname}${port}`,
    hostname: spec.publicHostname,
    gateway: {
      name,
      namespace: gatewayNamespace,
      ...(spec.gatewayRef?.listenerName === undefined ? {} : { listener: spec.gatewayRef.listenerName }),
    },
  };
}

/** The HTTPRoute of an exposed API (phase 1 plan, task 11): same name as its Service. */
export function routeOf(
  exposure: Exposure & { type: 'route' },
  target: { service: string; instance: string; namespace: string; name: string; component: string; port: number },
): Desired {
  const { gateway } = exposure;
  return {
    verb: 'apply',
    object: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: {
        name: target.name,
        namespace: target.namespace,
        labels: labelsOf(target.service, target.instance, target.component),
      },
      spec: {
        parentRefs: [
          {
            name: gateway.name,
            ...(gateway.namespace === target.namespace ? {} : { namespace: gateway.namespace }),
            ...(gateway.listener === undefined ? {} : { sectionName: gateway.listener }),
          },
        ],
        hostnames: [exposure.hostname],
        // Proxies give up after 15 s (Envoy) when nobody says otherwise: an image takes longer to come down.
        rules: [{ backendRefs: [{ name: target.name, port: target.port }], timeouts: { request: '0s' } }],
      },
    },
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
