import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { defined } from '../names/defined.ts';
import { labelsOf, selectorOf } from '../names/names.ts';
import { protocolOf } from '../vocabulary/component.ts';
import type { Exposure } from '../vocabulary/exposure.ts';
import { type ComponentInput, workloadName } from './workload.ts';

/**
 * What exposes a component: a route of the name of its Service (phase 1 plan, task 11), or a Service `<name>-external`;
 * undefined where nothing does.
 */
export function exposureObject(exposure: Exposure, input: ComponentInput, port: number): KubeObject | undefined {
  if (exposure.type === 'route') return routeOf(exposure, input, port);
  if (exposure.type === 'service') return externalService(exposure, input);
  return undefined;
}

function routeOf(
  { kind, gateway, hostname }: Exposure & { type: 'route' },
  input: ComponentInput,
  port: number,
): KubeObject {
  const name = workloadName(input);
  const { namespace } = input.context;
  const backendRefs = [{ name, port }];
  const parentRef = defined({
    name: gateway.name,
    namespace: gateway.namespace === namespace ? undefined : gateway.namespace,
    sectionName: gateway.listener,
  });
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace, labels: labelsOf(input.service.name, input.context.name, input.name) },
    spec: {
      parentRefs: [parentRef],
      ...(hostname === undefined
        ? { rules: [{ backendRefs }] }
        : // Proxies give up after 15 s (Envoy) when nobody says otherwise: an image takes longer to come down.
          { hostnames: [hostname], rules: [{ backendRefs, timeouts: { request: '0s' } }] }),
    },
  };
}

function externalService({ serviceType, port }: Exposure & { type: 'service' }, input: ComponentInput): KubeObject {
  const { service, context, name, component } = input;
  const { annotations, loadBalancerClass, loadBalancerSourceRanges, externalTrafficPolicy } =
    context.spec.externalService ?? {};
  const isBalanced = serviceType === 'LoadBalancer';
  const { exposed = '' } = component;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: `${workloadName(input)}-external`,
      namespace: context.namespace,
      labels: labelsOf(service.name, context.name, name),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: defined({
      type: serviceType,
      loadBalancerClass: isBalanced ? loadBalancerClass : undefined,
      loadBalancerSourceRanges: isBalanced ? loadBalancerSourceRanges : undefined,
      externalTrafficPolicy,
      selector: selectorOf(service.name, context.name, name),
      ports: [
        {
          name: exposed,
          ...(isBalanced ? { port } : { port: component.ports?.[exposed], nodePort: port }),
          protocol: protocolOf(component, exposed),
          targetPort: exposed,
        },
      ],
    }),
  };
}
