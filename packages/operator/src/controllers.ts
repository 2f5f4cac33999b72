import { isDeepStrictEqual } from 'node:util';
import {
  type Change,
  ConfigMap,
  type Controller,
  ControllerRevision,
  CronJob,
  controller,
  DaemonSet,
  Deployment,
  Job,
  type Kind,
  type KubeObject,
  Service as KubeService,
  NetworkPolicy,
  type ObjectRef,
  type Owned,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type ReconcileContext,
  type ReconcileResult,
  ReplicaSet,
  Secret,
  StatefulSet,
  type StoredObject,
  type Watched,
} from '@openstack-operator/kube';
import {
  annotations,
  compose,
  conditionOf,
  deregistration,
  fieldManager,
  furtherKinds,
  isPending,
  isStale,
  kindReferredBy,
  kinds,
  leavesRecords,
  mentionsOf,
  type Progress,
  type Root,
  referencesOf,
  retainedForLabel,
  roots,
  routeKinds,
  type Service,
  services,
  troubleOf,
} from '@openstack-operator/openstack';
import { autoscalerWatch } from './autoscalers.ts';
import { podIndexes } from './component-pods.ts';
import { Compositions } from './compositions.ts';
import {
  borrowerWatches,
  gatewayWatches,
  indexesOf,
  memoryWatch,
  named,
  nodeLabelWatch,
  nodeWatch,
  peerWatches,
  referenceWatch,
  refOf,
  secretsOfReferences,
  serviceWatches,
  sharerWatches,
  storageClassWatches,
} from './concerned.ts';
import { Contention } from './contention.ts';
import type { ComposeContext, OperatorFacts, OperatorMemory } from './context.ts';
import { controlPlaneStatus } from './control-plane-status.ts';
import { DryRuns } from './dry-runs.ts';
import { FailingSteps } from './failing-steps.ts';
import { gather } from './gather.ts';
import { Refusals } from './managing-operator.ts';
import { NodePace } from './node-pace.ts';
import { PodEventReader } from './pod-events.ts';
import { reconcile } from './reconcile.ts';
import { isStandalone } from './release-nodes.ts';
import { isPaused } from './report.ts';
import { schedulesOf } from './schedules.ts';
import { slim } from './slim.ts';
import { StatusPace } from './status-pace.ts';
import { isOwnerDeleted, isWantedByOwner } from './still-meant.ts';

/** What the controllers are made with. */
export interface ControllerFacts extends OperatorFacts {
  /** Cluster-scoped kinds that it may not use (default: none). */
  readonly hidden?: readonly Kind[];
}

/** Only what we made is followed: label of every object of ours. */
const ours = { labelSelector: `app.kubernetes.io/managed-by=${fieldManager}` };

/** Kinds that services own. */
const ownedKinds: readonly Kind[] = [
  ConfigMap,
  Secret,
  KubeService,
  Deployment,
  StatefulSet,
  DaemonSet,
  Job,
  CronJob,
  PodDisruptionBudget,
  NetworkPolicy,
  PersistentVolumeClaim,
];

/** One controller for each kind: the services, and the roots of clouds above them. */
export function operatorControllers(options: ControllerFacts): Controller[] {
  const facts = {
    ...options,
    refusals: new Refusals(),
    contention: new Contention(),
    dryRuns: new DryRuns(),
    statusPace: new StatusPace(),
    failingSteps: new FailingSteps(),
    nodePace: new NodePace(),
  };
  return [
    ...roots.map((root) => rootController(root, facts)),
    ...services.map((service) => serviceController(service, facts)),
  ];
}

function serviceController(service: Service, facts: ControllerFacts & OperatorMemory): Controller {
  const kind: Kind = service.kind;
  const fields = [...referencesOf(service), ...mentionsOf(service)];
  const referred = fields.map((field) => [field, kindReferredBy(field)] as const);
  const compositions = new Compositions((resource, surroundings) => compose(service, resource, surroundings));
  const events = new PodEventReader();
  return controller(kind, {
    onDelete: (key) => {
      compositions.forget(key);
      facts.refusals.forget(kind.kind, key);
      facts.statusPace.forget(kind.kind, key);
      facts.failingSteps.forget(`${kind.kind} ${key}`);
      facts.nodePace.forget(`${kind.kind} ${key}`);
      events.forget(key);
    },
    indexes: indexesOf(fields),
    owns: together(
      [...ownedKinds, ...routeKinds, ...furtherKinds(service)].map((owned) => ({
        kind: owned,
        selection: ours,
        ...(owned === DaemonSet ? { delay: onNodes(kind, facts) } : {}),
      })),
    ),
    watches: seen(facts, [
      ...roots.map((root) => ({ kind: root.kind, when: turned(root), map: ownedBy(kind) })),
      ...referred.map(([field, other]) => referenceWatch(kind, other, field)),
      secretsOfReferences(kind, referred, ours),
      ...serviceWatches(service, ours),
      ...peerWatches(service),
      ...borrowerWatches(service),
      ...sharerWatches(kind),
      ...[Secret, ConfigMap].map((one): Watched => ({ kind: one, selection: ours, map: retainedOwner(kind.kind) })),
      { kind: Secret, individually: true, references: named('Secret') },
      { kind: ConfigMap, individually: true, references: named('ConfigMap') },
      ...[Pod, ReplicaSet, ControllerRevision].map(
        (one): Watched => ({
          kind: one,
          selection: ours,
          map: instanceOf(service.name),
          transform: slim,
          ...(one === Pod ? { indexes: podIndexes, delay: onNodes(kind, facts) } : {}),
        }),
      ),
      autoscalerWatch(kind),
      ...storageClassWatches(kind),
      ...gatewayWatches(service),
      ...[nodeWatch, nodeLabelWatch].map((watch) => ({
        ...watch(kind, (key) => compositions.nodes(key)),
        delay: ofNodes(kind, facts),
      })),
    ]),
    reconcile: withEvents(events, service.name, (context) => {
      // What takes records back has no digest of a Secret in it; no key is made for what is being deleted.
      const withoutKey = { ...context, ...facts, digestKey: { bytes: new Uint8Array(32) } };
      return reconcile(
        { ...context, ...facts },
        {
          compose: (context) => compositions.of(context.key, context.object, gather(context, service)),
          rest: (key) => compositions.rest(key),
          composeFormer: (context, key, formerOperatorImage) =>
            compose(service, context.object, {
              ...gather(context, service, key),
              ...(formerOperatorImage === undefined ? {} : { formerOperatorImage }),
            }),
          phase: servicePhase,
          observed: schedulesOf,
          ...(leavesRecords(service, context.object)
            ? {
                deregistration: () => {
                  const { namespace = '' } = context.object.metadata;
                  return deregistration(service, context.object, gather(withoutKey, service), {
                    hasSecret: (name) => context.cache.get(Secret, { namespace, name }) !== undefined,
                    goesWithOwner: isOwnerDeleted(withoutKey),
                    comesBack: isWantedByOwner(withoutKey),
                  });
                },
              }
            : {}),
          claimsNodes: service.claims !== undefined && isStandalone(context.object),
        },
      );
    }),
  });
}

/** The same reconcile with what events say in its context; it is repeated when they may say more. */
function withEvents(
  events: PodEventReader,
  service: string,
  inner: (context: ReconcileContext & Pick<ComposeContext, 'eventWords'>) => Promise<ReconcileResult | undefined>,
): (context: ReconcileContext) => Promise<ReconcileResult | undefined> {
  return async (context) => {
    const { words: eventWords, requeueAfter } = await events.read(context, service);
    const result = await inner({ ...context, eventWords });
    if (requeueAfter === undefined) return result;
    return { requeueAfter: Math.min(requeueAfter, result?.requeueAfter ?? requeueAfter) };
  };
}

function rootController(root: Root, facts: ControllerFacts & OperatorMemory): Controller {
  const { kind, runs } = root;
  const compositions = new Compositions(root.compose);
  const events = new PodEventReader();
  const below = kinds.filter((one) => root.children.some((child) => child.kind === one.kind));
  return controller(kind as Kind, {
    onDelete: (key) => {
      compositions.forget(key);
      facts.refusals.forget(kind.kind, key);
      facts.statusPace.forget(kind.kind, key);
      facts.failingSteps.forget(`${kind.kind} ${key}`);
      facts.nodePace.forget(`${kind.kind} ${key}`);
      facts.dryRuns.forget(kind.kind, key);
      events.forget(key);
    },
    owns: together([
      ...below.map((one) => ({ kind: one, delay: delayOfProgress })),
      { kind: DaemonSet, selection: ours },
    ]),
    indexes: indexesOf([]),
    watches: seen(facts, [
      { kind: Pod, selection: ours, map: instanceOf(runs), transform: slim, indexes: podIndexes },
      ...[nodeWatch, nodeLabelWatch].map((watch) => ({
        ...watch(kind as Kind, (key) => compositions.nodes(key)),
        delay: ofNodes(kind as Kind, facts),
      })),
      memoryWatch(kind as Kind, ours),
    ]),
    reconcile: withEvents(events, runs, (context) => {
      return reconcile(
        { ...context, ...facts },
        {
          compose: (context) => compositions.of(context.key, context.object, gather(context, undefined)),
          rest: (key) => compositions.rest(key),
          phase: root.phase,
          observed: controlPlaneStatus,
          claimsNodes: true,
        },
      );
    }),
  });
}

/** What may be followed of what is to be followed. */
function seen({ hidden = [] }: ControllerFacts, watches: readonly Watched[]): readonly Watched[] {
  return together(watches.filter(({ kind }) => !hidden.includes(kind)));
}

/** Milliseconds for which a change waits for others: a rollout changes a workload, its pods and its Endpoints in one go. */
const TOGETHER_MS = 20;

/** The same, with a moment for changes that come together: one reconcile answers all of them. */
function together<T extends Owned>(followed: readonly T[]): T[] {
  return followed.map((one) => ({ delay: () => TOGETHER_MS, ...one }));
}

type Delay = NonNullable<Watched['delay']>;

/** How long a change of a workload, or of a pod, of a resource waits: the longer the more nodes its agents run on. */
function onNodes({ kind }: Kind, { nodePace }: OperatorMemory): Delay {
  return ({ object: { metadata } }) => {
    const { namespace = '', labels } = metadata;
    return Math.max(TOGETHER_MS, nodePace.of(`${kind} ${namespace}/${labels?.['app.kubernetes.io/instance']}`));
  };
}

/** How long a change of a node waits. */
function ofNodes({ kind }: Kind, { nodePace }: OperatorMemory): Delay {
  return () => Math.max(TOGETHER_MS, nodePace.ofKind(kind));
}

/**
 * Whether a control plane came, was put to rest, goes on, or is another operator's: then its children are so as well; or
 * whether it wants other children, whose peers are told.
 */
function turned({ children, isEnabled }: Root): (change: Change) => boolean {
  const said = (one: StoredObject) => [
    isPaused(one),
    ...[annotations.operator, annotations.operatorClass].map((name) => one.metadata.annotations?.[name]),
    ...children.map(({ field }) => isEnabled((one['spec'] ?? {}) as Readonly<Record<string, unknown>>, field)),
  ];
  return ({ object, old }) => old === undefined || !isDeepStrictEqual(said(object), said(old));
}

/**
 * Milliseconds for which a change of a child waits. What it is busy with may wait long, so that one status of the control
 * plane repeats several changes; whether it is Ready, its generation and its deletion, until its peers have begun what
 * follows from it: else all would seem Ready for a moment.
 */
function delayOfProgress({ type, object, old }: Change): number {
  const said = (one: StoredObject | undefined) => {
    const ready = one && conditionOf(one, 'Ready');
    const isOfToday = one && ready && !isStale(ready, one);
    return [one?.metadata.generation, one?.metadata.deletionTimestamp, ready?.status, isOfToday];
  };
  return type === 'updated' && isDeepStrictEqual(said(object), said(old)) ? 500 : 3 * TOGETHER_MS;
}

function ownedBy(kind: Kind): NonNullable<Watched['map']> {
  return (owner, cache) => cache.controlledBy(kind, owner).map(refOf);
}

/** The phase of a service, from its steps. */
function servicePhase(progress: readonly Progress[], resource: KubeObject): string {
  const open = progress.filter(({ status }) => status !== 'True');
  if (open.length === 0) return 'Ready';
  return troubleOf(open, resource) ?? (isPending(progress) ? 'Pending' : 'Progressing');
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
