import { isDeepStrictEqual } from 'node:util';
import {
  type Change,
  ConfigMap,
  type Controller,
  ControllerRevision,
  controller,
  DaemonSet,
  Deployment,
  Event,
  Gateway,
  HTTPRoute,
  Job,
  type Kind,
  type KubeObject,
  Service as KubeService,
  NetworkPolicy,
  Node,
  type ObjectRef,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  StatefulSet,
  StorageClass,
  type StoredObject,
  type Watched,
} from '@openstack-operator/kube';
import {
  compose,
  composeControlPlane,
  conditionOf,
  fieldManager,
  kinds,
  OpenStackControlPlane,
  type Progress,
  phaseOf,
  reasons,
  retainedForLabel,
  type Service,
  services,
} from '@openstack-operator/openstack';
import { standsAlone } from './claim-nodes.ts';
import { Compositions } from './compositions.ts';
import { controlPlaneStatus } from './control-plane-status.ts';
import { gather, referenceKinds } from './gather.ts';
import type { Pass } from './pass.ts';
import { reconcile } from './reconcile.ts';
import { isPaused } from './report.ts';
import { slim } from './slim.ts';

/** What all passes of one operator share. */
export interface OperatorFacts {
  /** Key of the digests of Secrets: 32 bytes that stay the same across restarts. */
  readonly digestKey: Uint8Array;
  /** Image of the operator itself, for its Jobs. */
  readonly operatorImage: string;
  /** The cluster's DNS domain. */
  readonly clusterDomain: string;
  /** Cluster-scoped kinds that it may not use (default: none). */
  readonly hidden?: readonly Kind[];
}

/** Only what we made is followed: label of every object of ours. */
const ours = { labelSelector: `app.kubernetes.io/managed-by=${fieldManager}` };

/** A pod whose volume cannot be mounted says so in an event alone (kubelet, MountVolume.SetUp). */
const unmounted = { fieldSelector: 'reason=FailedMount' };

/** Kinds that services own. */
const ownedKinds: readonly Kind[] = [
  ConfigMap,
  Secret,
  KubeService,
  Deployment,
  StatefulSet,
  DaemonSet,
  Job,
  PodDisruptionBudget,
  NetworkPolicy,
  PersistentVolumeClaim,
];

/** One controller for each kind: the services, and the control plane above them. */
export function operatorControllers(facts: OperatorFacts): Controller[] {
  return [controlPlaneController(facts), ...services.map((service) => serviceController(service, facts))];
}

function serviceController(service: Service, facts: OperatorFacts): Controller {
  const { kind } = service;
  const compositions = new Compositions((resource, surroundings) => compose(service, resource, surroundings));
  return controller(kind, {
    gone: (key) => compositions.forget(key),
    owns: [...ownedKinds.map((kind) => ({ kind, selection: ours })), { kind: HTTPRoute, selection: ours }],
    watches: seen(facts, [
      { kind: OpenStackControlPlane, when: turned, map: ownedBy(kind) },
      ...[...service.references, ...(service.mentions ?? [])].map(
        (field): Watched => referenceWatch(kind, referenceKinds[field], field),
      ),
      { kind: Secret, selection: ours, map: retainedOwner(kind.kind) },
      { kind: Secret, individually: true, references: broughtSecrets },
      ...[Pod, ReplicaSet, ControllerRevision].map(
        (kind): Watched => ({ kind, selection: ours, map: instanceOf(service.name), transform: slim }),
      ),
      { kind: Event, selection: unmounted, map: instanceOfPod(service.name) },
      { kind: StorageClass, map: (_storageClass, cache) => cache.list(kind).map(refOf) },
      { kind: Gateway, map: (_gateway, cache) => cache.list(kind).map(refOf) },
      { kind: Node, when: matters, map: (_node, cache) => cache.list(kind).map(refOf) },
    ]),
    reconcile: (context) => {
      const pass: Pass = { ...context, ...facts };
      return reconcile(pass, {
        compose: () => compositions.of(pass.key, pass.object, gather(pass, service)),
        phase: servicePhase,
        claimsNodes: service.claims !== undefined && standsAlone(pass.object),
      });
    },
  });
}

function controlPlaneController(facts: OperatorFacts): Controller {
  const compositions = new Compositions(composeControlPlane);
  return controller(OpenStackControlPlane as Kind, {
    gone: (key) => compositions.forget(key),
    owns: kinds.filter((kind) => kind !== OpenStackControlPlane).map((kind) => ({ kind, delay: delayOfProgress })),
    watches: seen(facts, [
      { kind: Node, when: matters, map: (_node, cache) => cache.list(OpenStackControlPlane as Kind).map(refOf) },
    ]),
    reconcile: (context) => {
      const pass: Pass = { ...context, ...facts };
      return reconcile(pass, {
        compose: () => compositions.of(pass.key, pass.object, gather(pass, undefined)),
        phase: phaseOf,
        observed: controlPlaneStatus,
        claimsNodes: true,
      });
    },
  });
}

/** What may be followed of what is to be followed. */
function seen({ hidden = [] }: OperatorFacts, watches: readonly Watched[]): readonly Watched[] {
  return watches.filter(({ kind }) => !hidden.includes(kind));
}

/** Whether a control plane came, was put to rest, or goes on: then its children do so as well. */
function turned({ object, old }: Change): boolean {
  return old === undefined || isPaused(object) !== isPaused(old);
}

/**
 * What a child is busy with may wait, so that one status of the control plane repeats several changes; whether it is
 * Ready, its generation and its deletion may not.
 */
function delayOfProgress({ type, object, old }: Change): number {
  const said = (one: StoredObject | undefined) => {
    const ready = one && conditionOf(one, 'Ready');
    return [one?.metadata.generation, one?.metadata.deletionTimestamp, ready?.status, ready?.observedGeneration];
  };
  return type === 'updated' && isDeepStrictEqual(said(object), said(old)) ? 500 : 0;
}

function ownedBy(kind: Kind): NonNullable<Watched['map']> {
  return ({ metadata: { uid } }, cache) => cache.byIndex(kind, 'controller', uid).map(refOf);
}

/** Heartbeats of nodes concern nobody: only their labels, their taints and whether they are Ready do. */
function matters({ object: node, old }: Change): boolean {
  const facts = (one: StoredObject | undefined) => [
    one?.metadata.labels,
    one?.['spec'],
    one && conditionOf(one, 'Ready')?.status,
  ];
  return old === undefined || !isDeepStrictEqual(facts(node), facts(old));
}

/** The phase of a service, from its steps. */
function servicePhase(progress: readonly Progress[]): string {
  const open = progress.filter(({ status }) => status !== 'True');
  if (open.length === 0) return 'Ready';
  return open.some(({ reason }) => reasons[reason] === 'stuck') ? 'Failed' : 'Progressing';
}

/** Wakes who refers to an object by name, and who means "the only one of its namespace". */
function referenceWatch(kind: Kind, referred: Kind, field: string): Watched {
  return {
    kind: referred,
    map: (changed, cache) =>
      cache
        .list(kind, { namespace: changed.metadata.namespace ?? '' })
        .filter((object) => [undefined, changed.metadata.name].includes(nameIn(object, field)))
        .map(refOf),
  };
}

function nameIn(object: KubeObject, field: string): string | undefined {
  return ((object['spec'] ?? {}) as Record<string, { name?: string } | undefined>)[field]?.name;
}

/** Objects that outlive their resource have no owner reference: their label says whose they are. */
function retainedOwner(kind: string): (changed: StoredObject) => ObjectRef[] {
  return ({ metadata: { labels, namespace = '' } }) => {
    const [ownerKind, name] = (labels?.[retainedForLabel] ?? '').split('.');
    return ownerKind === kind && name !== undefined ? [{ namespace, name }] : [];
  };
}

/** Pods and revisions belong to a workload, not to us: their labels name the resource. */
function instanceOf(service: string): (changed: StoredObject) => ObjectRef[] {
  return ({ metadata: { labels, namespace = '' } }) => {
    const name = labels?.['app.kubernetes.io/instance'];
    return labels?.['app.kubernetes.io/name'] === service && name !== undefined ? [{ namespace, name }] : [];
  };
}

/** The resource whose pod an event is about. */
function instanceOfPod(service: string): NonNullable<Watched['map']> {
  const instance = instanceOf(service);
  return (event, cache) => {
    const { namespace, name } = (event['involvedObject'] ?? {}) as { namespace?: string; name?: string };
    const pod = namespace === undefined || name === undefined ? undefined : cache.get(Pod, { namespace, name });
    return pod === undefined ? [] : instance(pod);
  };
}

/** The Secrets that users bring: every field of the spec whose name ends in `ecretName`. */
function broughtSecrets(object: KubeObject): ObjectRef[] {
  const names: ObjectRef[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && /(^s|S)ecretName$/.test(field)) names.push({ name: inner });
      else visit(inner);
    }
  };
  visit(object['spec']);
  return names;
}

function refOf({ metadata: { name, namespace = '' } }: StoredObject): ObjectRef {
  return { namespace, name };
}
