import { DaemonSet, Node, Pod, type StoredObject } from '@openstack-operator/kube';
import type { UncleanNode } from '../assess/observed.ts';
import type { Composition } from '../engine/compose/compose.ts';
import { annotations, claimantOf, cleaningLabel, cloudLabel } from '../engine/names/names.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import { podWords, refusalWords } from '../engine/status/pod-words.ts';
import type { NodeClaim } from '../engine/vocabulary/step.ts';
import { nodeCleaning } from '../infrastructure/node-cleaning.ts';
import { type Action, nothing, type Plan } from './action.ts';
import { planApplied } from './applied.ts';
import { hasLabels, isEligible, isLostBy, nodesByCloud } from './cluster-nodes.ts';
import { hasRun } from './container-states.ts';
import type { Live } from './live.ts';

/** What of a cluster claims follow from. */
export type ClaimView = Pick<Live, 'cache' | 'resource' | 'eventWords'> & { readonly digestKeyId?: string | undefined };

/**
 * What is to be done for a claim that has too few nodes. Nodes that another cloud has let go hold what that one left
 * there, and are cleaned first: by whom they are for, because who has left them may be unable to run anything any more.
 */
export interface ClaimPlan {
  /** Free and clean: to be claimed. */
  readonly take: readonly StoredObject[];
  /** To be marked as being cleaned for this claim: nobody else takes them from then on. */
  readonly reserve: readonly StoredObject[];
  /** Being cleaned. */
  readonly held: readonly StoredObject[];
  /** Why what is not clean is not yet. */
  readonly unclean: readonly UncleanNode[];
  /** Agents of the cloud before have not ended on some: nothing tells of it when they have. */
  readonly waits: boolean;
}

/** The plans of all claims of a resource: no two take the same node. */
export function claimPlans(view: ClaimView, claims: readonly NodeClaim[]): readonly ClaimPlan[] {
  const taken = new Set<StoredObject>();
  return claims.map((claim) => {
    const plan = claimPlan(view, claim, taken);
    for (const node of [...plan.take, ...plan.reserve, ...plan.held]) taken.add(node);
    return plan;
  });
}

/**
 * Clean nodes come first. A node that cannot be cleaned for now goes on being tried, and another one is tried beside it.
 */
function claimPlan(view: ClaimView, claim: NodeClaim, taken: ReadonlySet<StoredObject>): ClaimPlan {
  const { cache } = view;
  const own = cache.byIndex(Node, nodesByCloud, claim.labels[cloudLabel] ?? '');
  let missing = (claim.count ?? Number.POSITIVE_INFINITY) - own.filter((node) => hasLabels(node, claim.labels)).length;
  const take: StoredObject[] = [];
  const reserve: StoredObject[] = [];
  const held: StoredObject[] = [];
  const unclean: UncleanNode[] = [];
  let waits = false;
  const free = cache.byIndex(Node, nodesByCloud, '').filter((node) => !taken.has(node));
  const lost = free.filter((node) => isLostBy(cache, node, claim));
  const isLost = new Set(lost);
  take.push(...lost.filter((node) => isEligible(cache, node, claim)));
  missing -= lost.length;
  if (missing <= 0) return { take, reserve, held, unclean, waits };
  const shared = own.filter((node) => !taken.has(node) && isEligible(cache, node, claim)).sort(byName);
  take.push(...shared.slice(0, missing));
  missing -= shared.length;
  if (missing <= 0) return { take, reserve, held, unclean, waits };
  const rank = (node: StoredObject) => (isReserved(node) ? 1 : releasedFrom(node) === undefined ? 0 : 2);
  const eligible = free
    .filter((node) => !isLost.has(node) && isEligible(cache, node, claim))
    .sort((a, b) => rank(a) - rank(b) || byName(a, b));
  for (const node of eligible) {
    if (missing <= 0) break;
    const from = releasedFrom(node);
    const who = from?.split('/').slice(0, 2).join('/') ?? 'somebody';
    const tell = (how: string, isStuck = false) =>
      unclean.push({ words: `node ${node.metadata.name}, which ${who} has left, ${how}`, isStuck });
    if (isReserved(node)) {
      const pod = cleanerOn(view, node);
      const why = whyNotCleaned(view, pod);
      if (pod !== undefined && conditionOf(pod, 'Ready')?.status === 'True') take.push(node);
      else {
        held.push(node);
        tell(why === undefined ? 'is being cleaned' : `is not clean: ${why}`, why !== undefined);
        if (why !== undefined) continue;
      }
    } else if (from === undefined) take.push(node);
    else {
      const agent = agentOn(view, node, from);
      if (agent !== undefined) {
        tell(`is not clean: pod ${agent.metadata.name} of namespace ${agent.metadata.namespace} has not ended there`);
        waits = true;
        continue;
      }
      if (from === originOf(view.resource, view.digestKeyId)) take.push(node);
      else if (isOwnOfOtherKey(view, from)) {
        const { namespace, name } = view.resource.metadata;
        tell(
          `is not clean: its state is of ${namespace}/${name} at the time of another openstack-digest-key; restore that Secret to get the node as it is, or have it cleaned: kubectl annotate node ${node.metadata.name} --overwrite ${annotations.releasedFrom}=${namespace}/${name}`,
          true,
        );
        continue;
      } else {
        reserve.push(node);
        tell('is to be cleaned');
      }
    }
    missing--;
  }
  return { take, reserve, held, unclean, waits };
}

const byName = (a: StoredObject, b: StoredObject) => (a.metadata.name < b.metadata.name ? -1 : 1);

/**
 * Labels nodes until the claims are met, and has those cleaned that another cloud has left. A node is taken by a patch
 * under its resourceVersion: of two clouds that want it one wins. Nodes that are claimed stay, whatever becomes of their
 * labels otherwise: guests may run there.
 */
export function planClaims(live: Live, claims: readonly NodeClaim[], step: string): Plan {
  if (!live.cache.has(Node) || claims.length === 0) return nothing;
  const plans = claimPlans(live, claims);
  const actions = plans.flatMap(({ take, reserve, held }, index): readonly Action[] => {
    const { labels, cleaning } = claims[index] as NodeClaim;
    const taken = take.map(
      (node): Action => ({
        verb: 'claim',
        step,
        reason: 'NodeFree',
        node,
        labels: { ...labels, ...(hasLabels(node, cleaning.labels) ? { [cleaningLabel]: null } : {}) },
        annotations: { [annotations.releasedFrom]: null },
        event: eventOf('NodeClaimed', `node ${node.metadata.name} belongs to this cloud now`),
      }),
    );
    const reserved = reserve.map((node): Action => {
      const note = `node ${node.metadata.name} is cleaned of what ${releasedFrom(node)} has left there`;
      const event = eventOf('NodeCleaning', note);
      return { verb: 'claim', step, reason: 'NodeUnclean', node, labels: cleaning.labels, event };
    });
    // The other way round a node could be left with a label that nobody looks at any more.
    const cleaner = reserve.length + held.length > 0 ? planApplied(live, cleaning.daemonSet, { step }).actions : [];
    return [...taken, ...cleaner, ...reserved];
  });
  return { actions, ...(plans.some(({ waits }) => waits) ? { requeueAfter: agentsAgain } : {}) };
}

/** Milliseconds between two looks at agents of another cloud that are to end. */
const agentsAgain = 5000;

/** Ends what a resource cleans and no longer wants, and takes the cleaner away when it has nothing left to clean. */
export function planCleaningEnd(live: Live, { steps, complete }: Composition): Plan {
  const cleaner = cleanerOf(live);
  if (cleaner === undefined || !complete || !live.cache.has(Node)) return nothing;
  const claims = steps.flatMap(({ objects }) => objects).filter((desired) => desired.verb === 'claim');
  const plans = claimPlans(live, claims);
  const wanted = new Set(plans.flatMap(({ held, reserve, take }) => [...held, ...reserve, ...take]));
  const reserved = reservedNodes(live);
  const left = reserved.filter((node) => !wanted.has(node)).map((node) => released(live, node));
  const isIdle =
    plans.every(({ held, reserve }) => held.length + reserve.length === 0) && reserved.length === left.length;
  return { actions: [...left, ...(isIdle ? [{ verb: 'delete', reason: 'NotWanted', live: cleaner } as const] : [])] };
}

/** The nodes that are being cleaned for a resource. */
export function reservedNodes({ cache, resource }: Pick<Live, 'cache' | 'resource'>): StoredObject[] {
  const claimant = claimantOf(resource);
  return cache
    .byIndex(Node, nodesByCloud, '')
    .filter(({ metadata: { labels } }) => labels?.[cleaningLabel] === claimant);
}

/**
 * Takes our labels off a node, and notes who has let it go. A node whose cleaning has not begun is still as another cloud
 * has left it.
 * @param origin what `originOf` says, where what lies on the node belongs to data that stay
 */
export function released(view: ClaimView, node: StoredObject, origin?: string): Extract<Action, { verb: 'claim' }> {
  const { namespace = '', name } = view.resource.metadata;
  const ours = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith('openstack.k8s.io/'));
  const former = cleanersOn(view, node).some(hasRun) ? undefined : releasedFrom(node);
  return {
    verb: 'claim',
    reason: 'NotWanted',
    node,
    labels: Object.fromEntries(ours.map((label) => [label, null])),
    annotations: { [annotations.releasedFrom]: former ?? origin ?? `${namespace}/${name}` },
  };
}

/**
 * What a resource notes on nodes whose state goes with its volumes, such as disks of guests and the identity that Nova's
 * database has for the host: made anew beside these volumes, it gets them back as they are. The key of the namespace
 * outlives it, and is restored with it; another namespace of that name has another key.
 */
export function originOf({ metadata }: StoredObject, id: string | undefined): string | undefined {
  return id && `${metadata.namespace}/${metadata.name}/${id}`;
}

/**
 * Whether a node was let go by a resource of this name that had another key: it may be this one, with its volumes, whose
 * key was lost. Disks of guests are not removed on a guess.
 */
function isOwnOfOtherKey({ resource: { metadata }, digestKeyId }: ClaimView, from: string): boolean {
  const prefix = `${metadata.namespace}/${metadata.name}/`;
  return from.startsWith(prefix) && from !== `${prefix}${digestKeyId}`;
}

/** Whether a DaemonSet cleans nodes: it comes and goes with them. */
export function isCleaner({ kind, metadata: { labels } }: StoredObject): boolean {
  return kind === DaemonSet.kind && labels?.['app.kubernetes.io/component'] === nodeCleaning;
}

function isReserved({ metadata: { labels } }: StoredObject): boolean {
  return labels?.[cleaningLabel] !== undefined;
}

function releasedFrom({ metadata }: StoredObject): string | undefined {
  return metadata.annotations?.[annotations.releasedFrom];
}

function cleanerOf({ cache, resource }: ClaimView): StoredObject | undefined {
  return cache.controlledBy(DaemonSet, resource).find(isCleaner);
}

/** The pod that cleans a node for a resource. */
function cleanerOn(view: ClaimView, node: StoredObject): StoredObject | undefined {
  return cleanersOn(view, node).find(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/**
 * The pods that clean a node for a resource, or did so and have not ended. Whoever may create pods in the namespace can
 * name any owner, but makes none in the node's network (config/admission).
 */
function cleanersOn(view: ClaimView, node: StoredObject): StoredObject[] {
  const cleaner = cleanerOf(view);
  const pods = cleaner === undefined ? [] : view.cache.controlledBy(Pod, cleaner);
  return pods.filter((pod) => isOn(pod, node) && isOfHost(pod));
}

/** What keeps the pod that cleans a node from it, or keeps it from being made; undefined when nothing is known to. */
function whyNotCleaned(view: ClaimView, pod: StoredObject | undefined): string | undefined {
  if (pod !== undefined) return podWords(pod, view.eventWords);
  const cleaner = cleanerOf(view);
  const refusal = cleaner && refusalWords(cleaner, view.eventWords);
  return refusal && `DaemonSet ${cleaner.metadata.name}: ${refusal}`;
}

/** An agent of the cloud that has let a node go, or what was to clean it for whomever, which is still there. */
function agentOn({ cache }: ClaimView, node: StoredObject, from: string): StoredObject | undefined {
  const [namespace = ''] = from.split('/');
  const labelSelector = { matchLabels: { 'app.kubernetes.io/component': nodeCleaning } };
  const pods = [...cache.list(Pod, { namespace }), ...cache.list(Pod, { labelSelector })];
  return pods.find((pod) => isOn(pod, node) && isOfHost(pod));
}

function isOn(pod: StoredObject, { metadata: { name } }: StoredObject): boolean {
  return (pod['spec'] as { nodeName?: string } | undefined)?.nodeName === name;
}

function isOfHost(pod: StoredObject): boolean {
  return (pod['spec'] as { hostNetwork?: boolean } | undefined)?.hostNetwork === true;
}
