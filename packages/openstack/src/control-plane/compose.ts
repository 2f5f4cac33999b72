import type { KubeObject } from '@openstack-operator/kube';
import type { Neutron } from '../api/neutron.ts';
import type { Nova } from '../api/nova.ts';
import type { OVNNetwork } from '../api/ovn-network.ts';
import type { Composition } from '../engine/compose.ts';
import { annotations, labelsOf } from '../engine/names.ts';
import { nodeClaims } from '../engine/node-groups.ts';
import { defined } from '../engine/pod.ts';
import { reasons } from '../engine/reasons.ts';
import type { Progress, Step } from '../engine/step.ts';
import type { ServiceResource, ServiceSpec, Surroundings } from '../engine/surroundings.ts';
import { bridgesOf } from '../services/neutron/configuration.ts';
import { claimedGroups, groupsOf } from '../services/nova/compute.ts';
import { type Child, children, phases } from './children.ts';

/** The spec of a control plane, as far as its composition reads it. */
interface ControlPlaneSpec extends ServiceSpec {
  readonly publicDomain?: string;
  readonly nova?: Partial<Nova['spec']>;
  readonly neutron?: Partial<Neutron['spec']>;
  readonly ovnNetwork?: Partial<OVNNetwork['spec']>;
  readonly [field: string]: unknown;
}

const defaultDomain = 'openstack.local';

/** From a control plane to its children: one step each, held back until what the child needs is Ready. */
export function composeControlPlane(resource: ServiceResource, _surroundings: Surroundings): Composition {
  const spec = (resource.spec ?? {}) as ControlPlaneSpec;
  const enabled = enabledChildren(spec);
  const steps = children.map((child) => childStep(resource, spec, child, enabled));
  return { steps: [claimStep(resource, spec, enabled), ...steps], complete: true, status: {} };
}

/**
 * The phase of a control plane: that of the first child that is not Ready, `Failed` when one cannot go on by itself.
 */
export function phaseOf(progress: readonly Progress[]): string {
  const open = progress.filter(({ status }) => status !== 'True');
  if (open.length === 0) return 'Ready';
  if (open.some(({ reason }) => reasons[reason] === 'stuck')) return 'Failed';
  const conditions = new Set(open.map(({ condition }) => condition));
  const phase = phases.find((phase) =>
    children.some((child) => child.phase === phase && conditions.has(conditionOf(child))),
  );
  return phase ?? 'Infrastructure';
}

/** The condition that a child's readiness is mirrored in: `KeystoneReady`. */
export function conditionOf(child: Child): string {
  return `${child.kind}Ready`;
}

function isEnabled(spec: ControlPlaneSpec, field: string): boolean {
  return (spec[field] as { enabled?: boolean } | undefined)?.enabled !== false;
}

/** The children that are made: switched on, and with all that they need. */
function enabledChildren(spec: ControlPlaneSpec): readonly Child[] {
  // In their order each child comes after what it needs.
  const enabled: Child[] = [];
  for (const child of children) {
    if (isEnabled(spec, child.field) && absentNeed(spec, child, enabled) === undefined) enabled.push(child);
  }
  return enabled;
}

/** The first thing that a child needs and that is not made; what its template refers to elsewhere is not missed. */
function absentNeed(spec: ControlPlaneSpec, child: Child, enabled: readonly Child[]): string | undefined {
  const template = (spec[child.field] ?? {}) as Record<string, unknown>;
  const elsewhere = Object.entries(child.references).flatMap(([reference, field]) =>
    template[reference] === undefined ? [] : [field],
  );
  return needsOf(child).find((need) => !elsewhere.includes(need) && !enabled.some(({ field }) => field === need));
}

/** All that a child needs: what it refers to, and what it finds by itself; Nova is only named, and comes after. */
function needsOf({ needs, references }: Child): readonly string[] {
  const { novaRef: _named, ...others } = references;
  return [...new Set([...needs, ...Object.values(others)])];
}

/** One claim for each node group, and what is wrong with the groups. */
function claimStep(resource: ServiceResource, spec: ControlPlaneSpec, enabled: readonly Child[]): Step {
  const isMade = (name: string) => enabled.some(({ field }) => field === name);
  const compute = isMade('nova') ? claimedGroups(spec.nova ?? {}) : [];
  const chassis = isMade('ovnNetwork') ? (spec.ovnNetwork?.nodeGroups ?? []) : [];
  const twice = chassis.filter(({ name }) => compute.some((group) => group.name === name));
  const message = twice.map(
    ({ name }) =>
      `spec.ovnNetwork.nodeGroups[name=${name}]: Nova has a group of this name, whose nodes are chassis anyway`,
  );
  return {
    condition: 'NodesReady',
    needs: [],
    awaits: [],
    objects: [
      ...nodeClaims(resource, compute, { compute: true }),
      ...nodeClaims(resource, chassis, { compute: false }),
    ],
    ...(twice.length === 0 ? {} : { problem: { reason: 'GroupRefused', message: message.join('; ') } }),
  };
}

/** What a child is told that other fields of the control plane say. */
function derived(spec: ControlPlaneSpec, { field }: Child): Readonly<Record<string, unknown>> {
  const { nova = {}, neutron = {}, ovnNetwork = {}, publicDomain = defaultDomain } = spec;
  if (field === 'nova') return { consolePublicHostname: nova.consolePublicHostname ?? `console.${publicDomain}` };
  if (field !== 'ovnNetwork') return {};
  const groups = [
    ...(isEnabled(spec, 'nova') ? groupsOf(nova) : []).map(({ name, nodeSelector, bridgeMappings, gateway }) =>
      defined({ name, nodeSelector, bridgeMappings, gateway }),
    ),
    ...(ovnNetwork.nodeGroups ?? []),
  ];
  return {
    bridgeMappings: ovnNetwork.bridgeMappings ?? bridgesOf(neutron),
    nodeGroups: nova.nodeGroups === undefined && ovnNetwork.nodeGroups === undefined ? undefined : groups,
  };
}

function childStep(resource: ServiceResource, spec: ControlPlaneSpec, child: Child, enabled: readonly Child[]): Step {
  const condition = conditionOf(child);
  const step = { condition, needs: [], awaits: [], objects: [] };
  if (!isEnabled(spec, child.field)) {
    return { ...step, skipped: { reason: 'Disabled', message: `spec.${child.field}.enabled is false` } };
  }
  const absent = absentNeed(spec, child, enabled);
  if (absent !== undefined) {
    const why = isEnabled(spec, absent) ? 'skipped, as something that it needs is disabled' : 'disabled';
    const message = `${child.kind} needs spec.${absent}, which is ${why}; enable it, or disable spec.${child.field} as well`;
    return { ...step, skipped: { reason: 'DependencyDisabled', message } };
  }
  const needs = enabled.filter(({ field }) => child.after.includes(field)).map(conditionOf);
  return {
    ...step,
    needs: child.onNodes === true ? ['NodesReady', ...needs] : needs,
    objects: [{ verb: 'apply', object: childObject(resource, spec, child, enabled) }],
  };
}

/** Jobs and node agents are the children's: who asks the control plane to run or to replace them means all of them. */
function annotationsOf({ metadata }: ServiceResource): { annotations?: Record<string, string> } {
  const passed = [annotations.reconcileAt, annotations.rollNodeAgents].flatMap((name) => {
    const value = metadata.annotations?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return passed.length === 0 ? {} : { annotations: Object.fromEntries(passed) };
}

function childObject(
  resource: ServiceResource,
  spec: ControlPlaneSpec,
  child: Child,
  enabled: readonly Child[],
): KubeObject {
  const name = resource.metadata.name ?? '';
  const { enabled: _enabled, ...template } = (spec[child.field] ?? {}) as Record<string, unknown>;
  const references = Object.entries(child.references).flatMap(([reference, field]) => {
    const target = enabled.find((one) => one.field === field);
    return target === undefined ? [] : [[reference, { name: `${name}-${target.suffix}` }] as const];
  });
  const api =
    child.hostname === undefined
      ? {}
      : {
          gatewayRef: spec.gatewayRef,
          exposure: spec.exposure,
          region: spec.region,
          publicHostname: `${child.hostname}.${spec.publicDomain ?? defaultDomain}`,
        };
  return {
    apiVersion: resource.apiVersion,
    kind: child.kind,
    metadata: {
      name: `${name}-${child.suffix}`,
      namespace: resource.metadata.namespace ?? 'default',
      labels: labelsOf(child.kind.toLowerCase(), name),
      ...annotationsOf(resource),
    },
    spec: defined({
      imageRegistry: spec.imageRegistry,
      imageTag: spec.imageTag,
      imagePullSecrets: spec.imagePullSecrets,
      deletionPolicy: spec.deletionPolicy,
      release: child.phase === 'Infrastructure' ? undefined : spec.release,
      ...api,
      ...Object.fromEntries(references),
      ...template,
      ...derived(spec, child),
    }),
  };
}
