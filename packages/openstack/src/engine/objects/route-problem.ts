import { type Condition, Gateway, type StoredObject } from '@openstack-operator/kube';
import { chooseListener } from '../vocabulary/exposure.ts';
import type { Observe, Problem } from '../vocabulary/step.ts';
import type { GatewayFacts } from '../vocabulary/surroundings.ts';

/** What keeps a route from carrying requests, in the words of its Gateway; undefined when nothing does. */
export function routeProblem(route: StoredObject, observe: Observe): Problem | undefined {
  const { name: routeName, namespace: own = '' } = route.metadata;
  const { parentRefs = [] } = (route['spec'] ?? {}) as { parentRefs?: readonly ParentRef[] };
  const { parents = [] } = (route['status'] ?? {}) as { parents?: readonly RouteParent[] };
  for (const wanted of parentRefs) {
    const { namespace = own, name, sectionName } = wanted;
    const title = `${route.kind} ${routeName}: Gateway ${namespace}/${name}`;
    const identity = (ref: ParentRef) => `${ref.namespace ?? own}/${ref.name}/${ref.sectionName ?? ''}`;
    const answers = parents.find(({ parentRef }) => identity(parentRef) === identity(wanted))?.conditions;
    const current = currentOf(answers, route);
    const refusal = firstFalse(current, ['Accepted', 'ResolvedRefs']);
    if (refusal !== undefined) return { reason: 'RouteRefused', message: `${title} says ${words(refusal)}` };
    if (!current.some(({ type, status }) => type === 'Accepted' && status === 'True')) {
      const message = `${title} has not answered; see whether the controller of its GatewayClass runs`;
      return { reason: 'RoutePending', message };
    }
    // A route is taken by a listener without a certificate, too.
    const gateway = observe(Gateway, { namespace, name });
    const trouble = gateway && troubleOf(gateway, sectionName);
    if (trouble !== undefined) return { reason: 'GatewayNotReady', message: `${title}${trouble}` };
  }
  return undefined;
}

/** All of a Gateway that routes and URLs depend on; not how many routes are attached, which each new one changes. */
export function gatewayFacts(gateway: StoredObject): unknown {
  const { listeners = [] } = (gateway['spec'] ?? {}) as Partial<GatewayFacts>;
  const { conditions = [], listeners: states = [] } = (gateway['status'] ?? {}) as GatewayStatus;
  const said = (all: readonly Condition[] = []) =>
    all.map(({ type, status, reason, message, observedGeneration }) => [
      type,
      status,
      ...(status === 'False' ? [reason, message] : []),
      observedGeneration,
    ]);
  return [
    gateway.metadata.generation,
    listeners.map(({ name, protocol, port }) => [name, protocol, port]),
    said(conditions),
    states.map(({ name, conditions }) => [name, said(conditions)]),
  ];
}

/** What a Gateway says of the listener that requests come by, or of itself. */
function troubleOf(gateway: StoredObject, sectionName: string | undefined): string | undefined {
  const { listeners = [] } = (gateway['spec'] ?? {}) as Partial<GatewayFacts>;
  const status = (gateway['status'] ?? {}) as GatewayStatus;
  const listener = sectionName ?? chooseListener({ listeners }, undefined)?.name;
  const ofListener = status.listeners?.find(({ name }) => name === listener)?.conditions;
  const broken = firstFalse(currentOf(ofListener, gateway), ['ResolvedRefs', 'Accepted', 'Programmed']);
  if (broken !== undefined) return `, listener ${listener}, says ${words(broken)}`;
  const away = firstFalse(currentOf(status.conditions, gateway), ['Accepted', 'Programmed']);
  return away && ` says ${words(away)}`;
}

/** Those that are about the object as it is now. */
function currentOf(conditions: readonly Condition[] = [], { metadata: { generation = 0 } }: StoredObject) {
  return conditions.filter(({ observedGeneration = generation }) => observedGeneration >= generation);
}

function firstFalse(conditions: readonly Condition[], types: readonly string[]): Condition | undefined {
  return types
    .map((wanted) => conditions.find(({ type, status }) => type === wanted && status === 'False'))
    .find((found) => found !== undefined);
}

function words({ type, reason, message }: Condition): string {
  return `${type} is False, ${reason}: ${message}`;
}

interface ParentRef {
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
}

interface RouteParent {
  readonly parentRef: ParentRef;
  readonly conditions?: readonly Condition[];
}

interface GatewayStatus {
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly { readonly name: string; readonly conditions?: readonly Condition[] }[];
}
