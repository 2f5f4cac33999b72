import type { KubeObject } from '@openstack-operator/kube';
import { labelsOf, monitoringLabel, selectorOf } from '../names/names.ts';
import { type Component, protocolOf } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import { type ComponentInput, workloadName } from './workload.ts';

/** The pods of OpenStack in the namespace that a component has as clients. */
function podsOf(clients: Component['clients'], { name, dependents = [] }: Service, context: Context): object {
  const matchLabels = { 'app.kubernetes.io/part-of': 'openstack' };
  if (clients === undefined) return { matchLabels };
  if (clients === 'own') {
    // Another resource of the kind in the namespace is somebody else.
    return {
      matchLabels: { ...matchLabels, 'app.kubernetes.io/name': name, 'app.kubernetes.io/instance': context.name },
    };
  }
  const matchExpressions = [{ key: 'app.kubernetes.io/name', operator: 'In', values: [name, ...dependents] }];
  return { matchLabels, matchExpressions };
}

/**
 * Who may connect: anybody to its ports, or only pods of OpenStack in this namespace. Pods with the
 * node's network are no pods to a policy: where they connect to, the networks of nodes are let in, or everybody when
 * nobody says which these are (network plugins show other addresses of nodes than Kubernetes does).
 */
export function networkPolicy(input: ComponentInput): KubeObject | undefined {
  const { service, context, name, component } = input;
  if (component.host?.network === true) return undefined;
  const { reachable = 'cloud', ports = {}, clients, monitored = [] } = component;
  const { nodeNetworks } = context.spec;
  const ofNodes = (port: string) => Array.isArray(reachable) && reachable.includes(port);
  const ofAnyone = (port: string) =>
    reachable === 'anyone' ||
    (typeof reachable === 'object' && 'anyone' in reachable && reachable.anyone.includes(port));
  const open = (port: string) => ofAnyone(port) || (ofNodes(port) && nodeNetworks === undefined);
  const rule = (names: readonly string[], more: object) =>
    names.length === 0
      ? []
      : [{ ports: names.map((port) => ({ port: ports[port], protocol: protocolOf(component, port) })), ...more }];
  const ofMembers = component.quorum?.ports ?? [];
  const names = Object.keys(ports).filter((port) => !ofMembers.includes(port));
  const from = [{ podSelector: podsOf(clients, service, context) }];
  const blocks = (nodeNetworks ?? []).map((cidr) => ({ ipBlock: { cidr } }));
  const monitoring = { namespaceSelector: { matchLabels: { [monitoringLabel]: 'true' } } };
  const closed = names.filter((port) => !open(port));
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: workloadName(input),
      namespace: context.namespace,
      labels: labelsOf(service.name, context.name, name),
    },
    spec: {
      podSelector: { matchLabels: selectorOf(service.name, context.name, name) },
      policyTypes: ['Ingress'],
      ingress: [
        ...rule(names.filter(open), {}),
        ...rule(
          closed.filter((port) => ofNodes(port)),
          { from: [...from, ...blocks] },
        ),
        ...rule(
          closed.filter((port) => monitored.includes(port)),
          { from: [...from, monitoring] },
        ),
        ...rule(
          closed.filter((port) => !ofNodes(port) && !monitored.includes(port)),
          { from },
        ),
        ...rule(ofMembers, { from: [{ podSelector: podsOf('own', service, context) }] }),
      ],
    },
  };
}
