import { DaemonSet, Node, Pod, type StoredObject } from '@openstack-operator/kube';
import {
  annotations,
  type Composition,
  claimantOf,
  cleaningLabel,
  cloudLabel,
  conditionOf,
  type NodeClaim,
  nodeCleaning,
  podWords,
  refusalWords,
  type UncleanNode,
} from '@openstack-operator/openstack';
import { hasLabels, isEligible, isLostBy, nodesByCloud, patchNode } from './cluster-nodes.ts';
import { hasRun } from './container-states.ts';
import { type DigestKey, ensureDigestKey } from './digest-key.ts';
import type { Begun, Pass } from './pass.ts';

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

/**
 * Clean nodes come first. A node that cannot be cleaned for now goes on being tried, and another one is tried beside it.
 */
export function planOf(pass: Pass, claim: NodeClaim): ClaimPlan {
  const { cache } = pass;
  const own = cache.byIndex(Node, nodesByCloud, claim.labels[cloudLabel] ?? '');
  let missing = (claim.count ?? Number.POSITIVE_INFINITY) - own.filter((node) => hasLabels(node, claim.labels)).length;
  const take: StoredObject[] = [];
  const reserve: StoredObject[] = [];
  const held: StoredObject[] = [];
  const unclean: UncleanNode[] = [];
  let waits = false;
  const lost = cache.byIndex(Node, nodesByCloud, '').filter((node) => isLostBy(cache, node, claim));
  take.push(...lost.filter((node) => isEligible(cache, node, claim)));
  missing -= lost.length;
  if (missing <= 0) return { take, reserve, held, unclean, waits };
  const rank = (node: StoredObject) => (isReserved(node) ? 1 : releasedFrom(node) === undefined ? 0 : 2);
  const eligible = cache
    .byIndex(Node, nodesByCloud, '')
    .filter((node) => !lost.includes(node) && isEligible(cache, node, claim))
    .sort((a, b) => rank(a) - rank(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const node of eligible) {
    if (missing <= 0) break;
    const from = releasedFrom(node);
    const who = from?.split('/').slice(0, 2).join('/') ?? 'somebody';
    const tell = (how: string, isStuck = false) =>
      unclean.push({ words: `node ${node.metadata.name}, which ${who} has left, ${how}`, isStuck });
    if (isReserved(node)) {
      const pod = cleanerOn(pass, node);
      const why = whyNotCleaned(pass, pod);
      if (pod !== undefined && conditionOf(pod, 'Ready')?.status === 'True') take.push(node);
      else {
        held.push(node);
        tell(why === undefined ? 'is being cleaned' : `is not clean: ${why}`, why !== undefined);
        if (why !== undefined) continue;
      }
    } else if (from === undefined) take.push(node);
    else {
      const agent = agentOn(pass, node, from);
      if (agent !== undefined) {
        tell(`is not clean: pod ${agent.metadata.name} of namespace ${agent.metadata.namespace} has not ended there`);
        waits = true;
        continue;
      }
      if (from === originOf(pass.object, pass.digestKey)) take.push(node);
      else {
        reserve.push(node);
        tell('is to be cleaned');
      }
    }
    missing--;
  }
  return { take, reserve, held, unclean, waits };
}

/** Ends what a resource cleans and no longer wants, and takes the cleaner away when it has nothing left to clean. */
export async function endCleaning(pass: Pass, { steps, complete }: Composition): Promise<void> {
  const cleaner = cleanerOf(pass);
  if (cleaner === undefined || !complete || !pass.cache.has(Node)) return;
  const claims = steps.flatMap(({ objects }) => objects).filter((desired) => desired.verb === 'claim');
  const plans = claims.map((claim) => planOf(pass, claim));
  const wanted = new Set(plans.flatMap(({ held, reserve, take }) => [...held, ...reserve, ...take]));
  for (const node of reservedNodes(pass)) if (!wanted.has(node)) await release(pass, node);
  if (plans.every(({ held, reserve }) => held.length + reserve.length === 0) && reservedNodes(pass).length === 0)
    await pass.remove(cleaner);
}

/** The nodes that are being cleaned for a resource. */
export function reservedNodes({ cache, object }: Begun): StoredObject[] {
  const claimant = claimantOf(object);
  return cache
    .byIndex(Node, nodesByCloud, '')
    .filter(({ metadata: { labels } }) => labels?.[cleaningLabel] === claimant);
}

/**
 * Takes our labels off a node, and notes who has let it go. `keeps`: what lies on it belongs to data that stay. A node
 * whose cleaning has not begun is still as another cloud has left it.
 */
export async function release(pass: Begun, node: StoredObject, { keeps = false } = {}): Promise<void> {
  const { namespace = '', name } = pass.object.metadata;
  const ours = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith('openstack.k8s.io/'));
  const former = cleanersOn(pass, node).some(hasRun) ? undefined : releasedFrom(node);
  // A key that is lost is made anew: who comes back has that one as well.
  const key = keeps ? await ensureDigestKey(pass) : undefined;
  const from = former ?? (key && originOf(pass.object, key)) ?? `${namespace}/${name}`;
  await patchNode(pass, node, {
    labels: Object.fromEntries(ours.map((label) => [label, null])),
    annotations: { [annotations.releasedFrom]: from },
  });
}

/**
 * What a resource notes on nodes whose state goes with its volumes, such as disks of guests and the identity that Nova's
 * database has for the host: made anew beside these volumes, it gets them back as they are. The key of the namespace
 * outlives it, and is restored with it; another namespace of that name has another key.
 */
function originOf({ metadata }: StoredObject, { id }: DigestKey): string | undefined {
  return id && `${metadata.namespace}/${metadata.name}/${id}`;
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

function cleanerOf({ cache, object }: Begun): StoredObject | undefined {
  return cache.controlledBy(DaemonSet, object).find(isCleaner);
}

/** The pod that cleans a node for a resource. */
function cleanerOn(pass: Begun, node: StoredObject): StoredObject | undefined {
  return cleanersOn(pass, node).find(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/**
 * The pods that clean a node for a resource, or did so and have not ended. Whoever may create pods in the namespace can
 * name any owner, but makes none in the node's network (config/admission).
 */
function cleanersOn(pass: Begun, node: StoredObject): StoredObject[] {
  const cleaner = cleanerOf(pass);
  const pods = cleaner === undefined ? [] : pass.cache.controlledBy(Pod, cleaner);
  return pods.filter((pod) => isOn(pod, node) && isOfHost(pod));
}

/** What keeps the pod that cleans a node from it, or keeps it from being made; undefined when nothing is known to. */
function whyNotCleaned(pass: Begun, pod: StoredObject | undefined): string | undefined {
  const words = ({ metadata: { uid } }: StoredObject) => pass.eventWords.get(uid);
  if (pod !== undefined) return podWords(pod, words);
  const cleaner = cleanerOf(pass);
  const refusal = cleaner && refusalWords(cleaner, words);
  return refusal && `DaemonSet ${cleaner.metadata.name}: ${refusal}`;
}

/** An agent of the cloud that has let a node go, or what was to clean it for whomever, which is still there. */
function agentOn({ cache }: Begun, node: StoredObject, from: string): StoredObject | undefined {
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
