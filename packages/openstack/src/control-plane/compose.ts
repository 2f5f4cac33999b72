import type { KubeObject } from '@openstack-operator/kube';
import { type Composition, refusedRelease } from '../engine/compose/compose.ts';
import { findingsOf } from '../engine/compose/spec-findings.ts';
import { defined } from '../engine/names/defined.ts';
import { annotations, labelsOf, lastingSuffix } from '../engine/names/names.ts';
import { troubleOf } from '../engine/status/deadlines.ts';
import { phases } from '../engine/status/phases.ts';
import { isPending } from '../engine/status/reasons.ts';
import { tlsCondition } from '../engine/status/tls-steps.ts';
import { targetOf } from '../engine/status/upgrade.ts';
import { groupMistakes, nodeClaims, type RoleGroups, roleClaims } from '../engine/vocabulary/node-groups.ts';
import type { Asked } from '../engine/vocabulary/service.ts';
import type { Progress, Skip, Step } from '../engine/vocabulary/step.ts';
import type { ServiceResource, ServiceSpec, Surroundings } from '../engine/vocabulary/surroundings.ts';
import { nodeCleaner } from '../infrastructure/node-cleaning.ts';
import { defaultRelease, releaseNamed } from '../releases/index.ts';
import type { Release } from '../releases/release.ts';
import { services } from '../services/index.ts';
import { type Child, children } from './children.ts';
import { neededConnections } from './connections.ts';
import { isToRotate, rotationStep } from './rotation.ts';
import { type ControlPlaneSpec, isAbsent, isEnabled, templateOf } from './spec.ts';
import { type ApiTls, apiTls, tlsOf, tlsStep } from './tls.ts';

const defaultDomain = 'openstack.local';

/** Label `app.kubernetes.io/name` of what a control plane itself runs: what cleans its nodes. */
export const claimingService = 'openstackcontrolplane';

/** From a control plane to its children: one step each, held back until what the child needs is Ready. */
export function composeControlPlane(resource: ServiceResource, surroundings: Surroundings): Composition {
  const unknown = refusedRelease(resource, surroundings);
  if (unknown !== undefined) return unknown;
  const stated = (resource.spec ?? {}) as ControlPlaneSpec;
  const release = targetOf(stated, surroundings.release);
  // Children get it told, so that one that is added later joins the cloud at its release.
  const spec = { ...stated, release };
  const kept = keptIn(spec, surroundings);
  const tls = apiTls(spec, surroundings);
  const steps = children.map((child) => childStep({ resource, spec, kept, tls }, child));
  const claims = claimStep(resource, spec, releaseNamed(release) ?? defaultRelease, surroundings);
  return {
    steps: [claims, ...rotationStep(resource, spec), ...steps, ...tlsStep(tls)],
    complete: true,
    status: {
      release: { target: release },
      ...(tls.now === 'Off'
        ? {}
        : { tls: { now: tls.now, wasSettled: tls.wasSettled, generation: surroundings.tlsGeneration } }),
    },
  };
}

/**
 * The phase of a control plane: that of the first child that is not Ready, `Failed` when one cannot go on by itself,
 * `Degraded` when it was Ready and something has ceased to work.
 */
export function phaseOf(progress: readonly Progress[], resource: KubeObject): string {
  const open = progress.filter(({ status }) => status !== 'True');
  if (open.length === 0) return 'Ready';
  const trouble = troubleOf(open, resource);
  if (trouble !== undefined) return trouble;
  if (isPending(progress)) return 'Pending';
  const conditions = new Set(open.map(({ condition }) => condition));
  const phase = phases.find((phase) =>
    children.some(
      (child) =>
        child.phase === phase &&
        (conditions.has(conditionOf(child)) || (child.clientsTrustFirst && conditions.has(tlsCondition))),
    ),
  );
  return phase ?? 'Infrastructure';
}

/** The condition that a child's readiness is mirrored in: `KeystoneReady`. */
export function conditionOf(child: Child): string {
  return `${child.kind}Ready`;
}

/** Of what is neither stated nor there, nothing is said. */
function whyDisabled(resource: ServiceResource, spec: ControlPlaneSpec, child: Child): Skip {
  const { field } = child;
  const reason = 'Disabled';
  const of = { apiVersion: resource.apiVersion, ...nameOf(resource, child) };
  if (!isAbsent(spec, field)) return { reason, message: `spec.${field}.enabled is false`, of };
  return {
    reason,
    message: `spec.${field} is absent`,
    of,
    untold: true,
  };
}

/** Which object a child is. */
function nameOf({ metadata }: ServiceResource, { kind, suffix }: Child) {
  return { kind, metadata: { name: `${metadata.name ?? ''}-${suffix}`, namespace: metadata.namespace ?? 'default' } };
}

/** What a child needs of the others: what its template refers to elsewhere is not missed. */
function needsHere(spec: ControlPlaneSpec, child: Child): readonly Child[] {
  const template = (spec[child.field] ?? {}) as Record<string, unknown>;
  const elsewhere = elsewhereOf(template, child);
  return child
    .needs(template)
    .flatMap((need) => (elsewhere.includes(need) ? [] : children.filter(({ field }) => field === need)));
}

/** Fields of children in whose place a template refers to something else. */
function elsewhereOf(template: Readonly<Record<string, unknown>>, { references }: Child): readonly string[] {
  return Object.entries(references).flatMap(([reference, field]) => (template[reference] === undefined ? [] : [field]));
}

/**
 * The first thing that a child needs and that cannot be, at first or second hand. What runs without it stays as it is:
 * nothing is deleted because something else was disabled.
 */
function absentNeed(spec: ControlPlaneSpec, child: Child): Child | undefined {
  return needsHere(spec, child).find((need) => !isEnabled(spec, need.field) || absentNeed(spec, need) !== undefined);
}

/** From what cannot be down to what is disabled, each needing the next. */
function needsDown(spec: ControlPlaneSpec, child: Child): readonly Child[] {
  const next = isEnabled(spec, child.field) ? absentNeed(spec, child) : undefined;
  return next === undefined ? [child] : [child, ...needsDown(spec, next)];
}

/** The services that claim nodes in a cloud, those with guests first, each with its groups. */
function claiming(spec: ControlPlaneSpec) {
  return services
    .flatMap(({ kind, child, nodeGroups }) => {
      if (child === undefined || nodeGroups === undefined || !isEnabled(spec, child.field)) return [];
      const claimed = nodeGroups(templateOf(spec, child.field));
      return claimed.role === undefined ? [{ kind: kind.kind, field: child.field, ...claimed }] : [];
    })
    .sort((one, other) => Number(other.compute) - Number(one.compute));
}

/** The roles that services give to nodes of a cloud. */
function rolesIn(spec: ControlPlaneSpec): RoleGroups[] {
  return services.flatMap(({ child, nodeGroups }) => {
    if (child === undefined || nodeGroups === undefined || !isEnabled(spec, child.field)) return [];
    const claimed = nodeGroups(templateOf(spec, child.field));
    return claimed.role === undefined || claimed.groups.length === 0 ? [] : [claimed];
  });
}

/** One claim for each node group, and what is wrong with the groups. */
function claimStep(
  resource: ServiceResource,
  spec: ControlPlaneSpec,
  release: Release,
  surroundings: Surroundings,
): Step {
  const claims = claiming(spec);
  const withRoles = rolesIn(spec);
  const roles = withRoles.map(({ role }) => role);
  const twice = claims.flatMap(({ field, groups }, index) =>
    groups.flatMap(({ name }) => {
      const first = claims.slice(0, index).find((one) => one.groups.some((group) => group.name === name));
      return first === undefined
        ? []
        : [
            `spec.${field}.nodeGroups[name=${name}]: ${first.kind} has a group of this name, whose nodes carry networks as well; choose another name`,
          ];
    }),
  );
  const { problems = [], degraded } = findingsOf(
    claims.flatMap(({ field, groups }) => groupMistakes(groups, `spec.${field}.nodeGroups`)),
    surroundings,
  );
  const messages = [...twice, ...problems.map(({ message }) => message)];
  const images = Object.assign({}, ...claims.map(({ field }) => templateOf(spec, field).images)) as Images;
  const cleaner = nodeCleaner(resource, { service: claimingService, spec: { ...spec, images }, release });
  return {
    condition: 'NodesReady',
    needs: [],
    awaits: [],
    objects: [
      ...claims.flatMap(({ groups, compute }) => nodeClaims(resource, groups, { compute, cleaner, roles })),
      ...roleClaims(resource, withRoles, { cleaner }),
    ],
    ...(messages.length === 0 ? {} : { problem: { reason: 'GroupRefused', message: messages.join('; ') } }),
    ...(degraded === undefined ? {} : { degraded }),
  };
}

/** What a child is told that other fields of the control plane say. */
function derived(spec: ControlPlaneSpec, child: Child): Readonly<Record<string, unknown>> {
  return (
    child.fields?.({
      own: templateOf(spec, child.field) as Readonly<Record<string, unknown>>,
      publicDomain: spec.publicDomain ?? defaultDomain,
      groups: claiming(spec).flatMap(({ field, groups }) => (field === child.field ? [] : groups)),
      asked: askedOf(spec, child),
      bridges: services.flatMap((one) => one.bridges?.(templateOf(spec, one.child?.field ?? '')) ?? [])[0],
      connections() {
        const fields = children.map(({ field }) => field).filter((name) => isEnabled(spec, name));
        return neededConnections(spec, fields);
      },
    }) ?? {}
  );
}

/** What enabled children have to find in a child that they refer to. */
function askedOf(spec: ControlPlaneSpec, { field }: Child): readonly Asked[] {
  return children.flatMap((user) => {
    const template = (spec[user.field] ?? {}) as Readonly<Record<string, unknown>>;
    const reference = Object.entries(user.references).find((one) => one[1] === field)?.[0];
    if (reference === undefined || template[reference] !== undefined || !isEnabled(spec, user.field)) return [];
    return [user.asks(reference, template)];
  });
}

type Images = NonNullable<ServiceSpec['images']>;

/** A control plane, and fields of its children that stay whatever it says, each with the children whose data lie there. */
interface Cloud {
  readonly resource: ServiceResource;
  readonly spec: ControlPlaneSpec;
  readonly kept: ReadonlyMap<string, readonly Child[]>;
  /** What the APIs and their clients do now. */
  readonly tls: ApiTls;
}

/** Where data lie that children remember, those of children that are disabled among them. */
function keptIn(spec: ControlPlaneSpec, { peerRemembered }: Surroundings): Cloud['kept'] {
  const kept = new Map<string, readonly Child[]>();
  for (const child of children) {
    const elsewhere = elsewhereOf(templateOf(spec, child.field) as Readonly<Record<string, unknown>>, child);
    for (const field of child.keepsIn(Object.values(peerRemembered(child.kind))))
      if (!elsewhere.includes(field)) kept.set(field, [...(kept.get(field) ?? []), child]);
  }
  return kept;
}

function childStep(cloud: Cloud, child: Child): Step {
  const { resource, spec } = cloud;
  const condition = conditionOf(child);
  const object = childObject(cloud, child);
  const step = {
    condition,
    needs: [],
    awaits: [],
    objects: [{ verb: 'apply', object, specFrom: `spec.${child.field}`, ...wantedPeers(spec, child) }],
  } as const satisfies Step;
  if (!isEnabled(spec, child.field)) {
    const users = usersOf(spec, child);
    const keepers = cloud.kept.get(child.field) ?? [];
    if (users.length + keepers.length === 0)
      return { ...step, objects: [], skipped: whyDisabled(resource, spec, child) };
    const message = users.length > 0 ? inUse(spec, child, users) : keepsData(resource, child, keepers);
    // It stays as it is: what the API server would say of a spec that is absent holds back nothing else.
    return { ...step, objects: [{ verb: 'apply', object }], problem: { reason: 'InUse', message } };
  }
  const absent = absentNeed(spec, child);
  if (absent !== undefined) {
    const down = needsDown(spec, absent);
    const chain = down.map(({ field }) => `spec.${field}`);
    const why = isAbsent(spec, down.at(-1)?.field ?? '') ? 'which is absent; state it' : 'which is disabled; enable it';
    const message = `${child.kind} needs ${chain.join(', which needs ')}, ${why}, ${wayOut(child, absent)}`;
    return { ...step, problem: { reason: 'DependencyDisabled', message } };
  }
  const needs = children.filter(({ field }) => child.after.includes(field) && isEnabled(spec, field)).map(conditionOf);
  return { ...step, needs: child.onNodes ? ['NodesReady', ...needs] : needs };
}

/** The kinds whose presence counts in what a child is, of those that the control plane wants. */
function wantedPeers(spec: ControlPlaneSpec, { peers }: Child): { readonly peers?: readonly string[] } {
  if (peers.length === 0) return {};
  return {
    peers: children.flatMap(({ kind, field }) => (peers.includes(kind) && isEnabled(spec, field) ? [kind] : [])),
  };
}

/** What needs a child and is enabled. */
function usersOf(spec: ControlPlaneSpec, child: Child): readonly Child[] {
  return children.filter((one) => isEnabled(spec, one.field) && needsHere(spec, one).includes(child));
}

/** Whether a child is wanted, or kept by what needs it, or has data there. */
function isThere({ spec, kept }: Cloud, child: Child): boolean {
  return isEnabled(spec, child.field) || usersOf(spec, child).length > 0 || kept.has(child.field);
}

function keepsData({ metadata }: ServiceResource, child: Child, keepers: readonly Child[]): string {
  const memories = keepers.map(({ suffix }) => `${metadata.name ?? ''}-${suffix}-${lastingSuffix}`).join(', ');
  const fields = keepers.map(({ field }) => `spec.${field}`).join(', ');
  return (
    `spec.${child.field} is absent or disabled, and what ${fields} had there is remembered (ConfigMap ${memories}): ` +
    `the ${child.kind} is kept until nothing lies there; state it again. ${fields} ${keepers.length === 1 ? 'forgets' : 'forget'} what is removed while enabled; ` +
    `of what is disabled, delete the ConfigMap once nothing lies there`
  );
}

function inUse(spec: ControlPlaneSpec, { field, kind }: Child, users: readonly Child[]): string {
  const needed = `${users.map((user) => `spec.${user.field}`).join(', ')} ${users.length === 1 ? 'needs' : 'need'} it`;
  const out = 'disable what needs it, or set another reference there';
  return isAbsent(spec, field)
    ? `spec.${field} is absent, but ${needed}: a ${kind} that is there is kept until nothing needs it; state it, ${out}`
    : `spec.${field}.enabled is false, but ${needed}: the ${kind} is kept until nothing needs it; enable it, ${out}`;
}

/** What a user can do about a child whose need is disabled. */
function wayOut(child: Child, absent: Child): string {
  const reference = Object.entries(child.references).find(([, field]) => field === absent.field)?.[0];
  const refer = reference === undefined ? '' : `set spec.${child.field}.${reference}, `;
  return `${refer}or disable spec.${child.field} as well; until then the ${child.kind} is not changed or deleted`;
}

/**
 * Jobs, passwords, authorities and node agents are the children's: who asks the control plane to run or to replace them means all of them, unless
 * they are named, and so does who names nodes that are gone. The class of operators is theirs as well: a child is let go when its control plane is gone.
 */
function annotationsOf({ resource, spec }: Cloud, child: Child): { annotations?: Record<string, string> } {
  const { reconcileAt, rotateAt, rotateAuthorityAt, rollNodeAgents, forgetNodes, operatorClass } = annotations;
  const names = [reconcileAt, rotateAt, rotateAuthorityAt, rollNodeAgents, forgetNodes, operatorClass];
  const passed = names.flatMap((name) => {
    const value = resource.metadata.annotations?.[name];
    const isMeant = name !== rotateAt || isToRotate(resource, spec, child);
    return value === undefined || !isMeant ? [] : [[name, value] as const];
  });
  return passed.length === 0 ? {} : { annotations: Object.fromEntries(passed) };
}

/** What children take from their control plane, as far as their kind has it. */
const inherited = [
  'imageRegistry',
  'imageTag',
  'imagePullSecrets',
  'imagePullPolicy',
  'tolerations',
  'priorityClassName',
  'deletionPolicy',
  'passwordRotationDays',
  'nodeNetworks',
  'release',
  'region',
] as const;

/** Whether a child is enabled, and all is that it needs. */
function isListening(spec: ControlPlaneSpec, field: string): boolean {
  const child = children.find((one) => one.field === field);
  return child !== undefined && isEnabled(spec, field) && absentNeed(spec, child) === undefined;
}

function childObject(cloud: Cloud, child: Child): KubeObject {
  const { resource, spec } = cloud;
  const name = resource.metadata.name ?? '';
  const { enabled: _enabled, tls: _tls, ...template } = (spec[child.field] ?? {}) as Record<string, unknown>;
  const references = Object.entries(child.references).flatMap(([reference, field]) => {
    const target = children.find((one) => one.field === field && isThere(cloud, one));
    const isUnheard = child.notifies[reference]?.some((listener) => isListening(spec, listener)) === false;
    const isNone = target === undefined || isUnheard || !child.isFilledIn(reference, template);
    return isNone ? [] : [[reference, { name: `${name}-${target.suffix}` }] as const];
  });
  const api =
    child.hostname === undefined
      ? {}
      : {
          gatewayRef: spec.gatewayRef,
          exposure: spec.exposure,
          publicHostname: `${child.hostname}.${spec.publicDomain ?? defaultDomain}`,
        };
  const { kind, metadata } = nameOf(resource, child);
  return {
    apiVersion: resource.apiVersion,
    kind,
    metadata: { ...metadata, labels: labelsOf(kind.toLowerCase(), name), ...annotationsOf(cloud, child) },
    spec: defined({
      ...Object.fromEntries(inherited.filter((field) => child.has(field)).map((field) => [field, spec[field]])),
      tls: tlsOf(cloud, child),
      ...api,
      ...Object.fromEntries(references),
      ...template,
      ...derived(spec, child),
    }),
  };
}
