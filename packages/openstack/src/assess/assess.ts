import { Secret, type StoredObject } from '@openstack-operator/kube';
import { digest } from '../engine/names/digest.ts';
import { annotations } from '../engine/names/names.ts';
import { conditionOf, isStale } from '../engine/status/conditions.ts';
import { withDeadline } from '../engine/status/deadlines.ts';
import { isReason, type Reason } from '../engine/status/reasons.ts';
import type { Cause, Desired, Progress, Skip, Step } from '../engine/vocabulary/step.ts';
import { replacementWords } from '../plan/authority.ts';
import { lackingSignature } from '../plan/certificates.ts';
import { kindOf } from '../registry/kinds.ts';
import { sentenceOf } from './causes.ts';
import { done, type Health, wait } from './health.ts';
import { agentsHealth, claimsHealth } from './node-health.ts';
import type { Observed } from './observed.ts';
import { jobHealth, workloadHealth } from './workload-health.ts';

/**
 * Assesses every step of a composition, in order. A step whose needs are not done says which one it waits for; of one that
 * is skipped, and that nothing exists of, nothing is said.
 */
export function assessAll(steps: readonly Step[], observed: Observed): Progress[] {
  const results = new Map<string, Progress>();
  const away = awayOf(steps, observed);
  for (const step of steps) {
    if (isUntold(step, observed)) continue;
    const blocker = step.needs
      .map((need) => results.get(need))
      .find((need) => need !== undefined && need.status !== 'True');
    results.set(step.condition, assess(step, observed, blocker, away));
  }
  return [...results.values()];
}

function isUntold({ skipped }: Step, observed: Observed): boolean {
  return skipped?.untold === true && !isLeft(skipped, observed);
}

/** Whether there still is what a step that is skipped would make. */
function isLeft({ of }: Skip, { observe, ours }: Observed): boolean {
  if (of === undefined) return false;
  const { namespace = '', name = '' } = of.metadata;
  const live = observe(kindOf(of), { namespace, name });
  return live !== undefined && ours?.(live) !== false;
}

/**
 * Assesses one step from what the cluster shows. Its message is what is said of the first object that is not as desired;
 * its causes are all of them, each with what explains it. `away`: how many of those are not ready, in all steps, without which a
 * step may be done.
 */
export function assess(step: Step, observed: Observed, blocker?: Progress, away = awayOf([step], observed)): Progress {
  const { condition } = step;
  if (step.skipped !== undefined) {
    const { of, untold: _untold, ...words } = step.skipped;
    if (of === undefined || !isLeft(step.skipped, observed)) return { condition, status: 'True', ...words };
    const message = `${words.message}: ${of.kind} ${of.metadata.name} is to be deleted`;
    return { condition, status: 'False', reason: 'Progressing', message };
  }
  if (step.problem !== undefined) return { condition, status: 'False', ...step.problem };
  if (blocker !== undefined) {
    const { condition: blocking, reason, message, causes = [] } = blocker;
    return {
      condition,
      status: 'False',
      reason: 'Waiting',
      message: `waiting for ${blocking}: ${message}`,
      causes: [{ condition: blocking, reason, message, causes }],
    };
  }
  const parts = partsOf(step, observed, away);
  const causes = parts.flatMap(causeOf);
  const explained = causes.length === 0 ? {} : { causes };
  const open = parts.findIndex(({ health }) => !health.done);
  const before = (open === -1 ? parts : parts.slice(0, open)).map(({ health }) => health);
  const said = (name: 'note' | 'remark') => before.flatMap((health) => (health.done ? (health[name] ?? []) : []));
  const leaving = before.flatMap((health) => (health.done ? (health.leaving ?? []) : []));
  const waiting = withWayOut(said('note'));
  const outdated = [...leaving.filter((one) => one !== true), ...waiting];
  const health = parts[open]?.health;
  const requeueAfter = [...before, ...(health === undefined ? [] : [health])].find(
    (one) => one.requeueAfter !== undefined,
  )?.requeueAfter;
  const again = requeueAfter === undefined ? {} : { requeueAfter };
  if (health === undefined || health.done) {
    const degraded = causes.map(sentenceOf);
    const message = [...degraded, ...said('remark'), ...outdated].join('; ');
    return {
      condition,
      status: 'True',
      reason: degraded.length + waiting.length === 0 ? 'Done' : 'Degraded',
      message,
      ...again,
      ...(outdated.length === 0 ? {} : { outdated: true }),
      ...(leaving.length === 0 ? {} : { leaving: true }),
      ...explained,
    };
  }
  const waits = (reason: Reason, message: string): Progress => {
    const progress = { condition, status: 'False', reason, message } as const;
    return observed.moment === undefined || health.said === true
      ? progress
      : withDeadline(progress, observed.moment, health.begun);
  };
  const awaited = health.reason === 'Missing' || health.rerun === true ? awaitedCause(step, observed) : undefined;
  if (awaited !== undefined) return { ...waits('Waiting', awaited.message), ...again, causes: [awaited, ...causes] };
  // Agents may be down for being of an older revision.
  const told = [sentenceOf({ causes: [], ...health }), ...(health.meanwhile === undefined ? [] : [health.meanwhile])];
  const message = [...told, ...outdated].join('; ');
  return { ...waits(health.reason, message), ...again, ...explained };
}

/** A part of a step, and how it is. */
interface Part {
  readonly object?: Cause['object'];
  readonly health: Health;
}

function partsOf(step: Step, observed: Observed, away: number): readonly Part[] {
  const objects = step.objects.map((desired): Part => {
    const health = healthOf(desired, observed);
    if (desired.verb === 'claim') return { health };
    const { kind, metadata } = desired.object;
    const { namespace, name = '' } = metadata;
    const about = { kind, ...(namespace === undefined ? {} : { namespace }), name };
    if (desired.verb !== 'apply') return { object: about, health };
    if (desired.aside === true) return { object: about, health: asTold(health) };
    if (desired.mostAway !== undefined && !health.done && isAway(health) && away <= desired.mostAway)
      return { object: about, health: { done: true, degraded: health.message, causes: health.causes ?? [] } };
    return { object: about, health: desired.specFrom ? named(about, health) : health };
  });
  const told = [
    ...(step.degraded ?? []).map((degraded): Part => ({ health: { done: true, degraded } })),
    ...(step.remarks ?? []).map((remark): Part => ({ health: { done: true, remark } })),
  ];
  return [...told, ...objects, { health: claimsHealth(step, observed) }, { health: agentsHealth(step, observed) }];
}

/** Reasons of a workload whose pods are not ready, and that is not being changed. */
const unready: readonly Reason[] = ['NotAvailable', 'CrashLoopBackOff'];

const isAway = (health: Health): boolean => !health.done && unready.includes(health.reason);

/** How many are not ready of those without which a step may be done. */
function awayOf(steps: readonly Step[], observed: Observed): number {
  const some = steps.flatMap(({ objects, skipped }) =>
    skipped === undefined ? objects.filter((one) => one.verb === 'apply' && one.mostAway !== undefined) : [],
  );
  return some.filter((desired) => isAway(healthOf(desired, observed))).length;
}

/** What nothing waits for: it is told what it is at. */
function asTold(health: Health): Health {
  return health.done ? health : { done: true, remark: sentenceOf({ causes: [], ...health }) };
}

/** Paths in the words of a child are those of its own spec, not of its control plane's: it is said whose. */
function named({ kind, name }: NonNullable<Cause['object']>, health: Health): Health {
  const told = (words: string) => (/\bspec[.[]/u.test(words) ? `${kind} ${name}: ${words}` : words);
  if (!health.done) return { ...health, message: told(health.message) };
  return health.degraded === undefined ? health : { ...health, degraded: told(health.degraded) };
}

/** What a part has to say of why its step is not done, or is degraded. */
function causeOf({ object, health }: Part): readonly Cause[] {
  const about = object === undefined ? {} : { object };
  if (!health.done) {
    const { reason, message, causes = [] } = health;
    return [{ ...about, reason, message, causes }];
  }
  const { degraded, causes = [] } = health;
  return degraded === undefined ? [] : [{ ...about, reason: 'Degraded', message: degraded, causes }];
}

/** Agents that wait to be replaced, and what somebody can do about it. */
function withWayOut(notes: readonly string[]): readonly string[] {
  const wayOut = `annotate the resource with ${annotations.rollNodeAgents}=true to have them replaced one by one`;
  return notes.length === 0 ? [] : [...notes, wayOut];
}

/** What another resource is still missing before a step may begin; undefined when all are Ready. */
export function awaitedMessage(step: Step, observed: Pick<Observed, 'observe'>): string | undefined {
  return awaitedCause(step, observed)?.message;
}

function awaitedCause({ awaits }: Step, { observe }: Pick<Observed, 'observe'>): Cause | undefined {
  for (const { kind, namespace, name } of awaits) {
    const about = { object: { kind: kind.kind, namespace, name }, causes: [] };
    const object = observe(kind, { namespace, name });
    if (object === undefined)
      return { ...about, reason: 'Missing', message: `waiting for ${kind.kind} ${name}, which does not exist` };
    const ready = conditionOf(object, 'Ready');
    if (ready?.status !== 'True' || isStale(ready, object)) {
      // Not its message: that changes more often than this step is assessed again.
      const why = ready === undefined || ready.status === 'True' ? 'Progressing' : ready.reason;
      const message = `waiting for ${kind.kind} ${name}, which is not Ready (${why})`;
      return { ...about, reason: isReason(why) ? why : 'Progressing', message };
    }
  }
  return undefined;
}

function healthOf(desired: Desired, observed: Observed): Health {
  // Claims are assessed together.
  if (desired.verb === 'claim') return done;
  const { object } = desired;
  const kind = kindOf(object);
  const { namespace, name = '' } = object.metadata;
  const live = observed.observe(kind, { ...(namespace === undefined ? {} : { namespace }), name });
  const title = `${kind.kind} ${name}`;
  if (live !== undefined && observed.ours?.(live) === false)
    return wait('ForeignObject', `${title} is somebody else's`);
  if (kind.kind === 'Job') return jobHealth(object, live, observed);
  if (live === undefined) return wait('Missing', `${title} is to be created${whyUnsigned(desired, observed)}`);
  if (desired.verb === 'resolve') {
    const current = live.metadata.annotations?.[annotations.inputs];
    return current === object.metadata.annotations?.[annotations.inputs]
      ? done
      : wait('Updating', `${title} is being renewed`);
  }
  if (desired.verb === 'generate') {
    const data = (live['data'] ?? {}) as Record<string, string>;
    // A rotation drops the numbers that it began with.
    const complete = desired.rotation !== undefined && Object.values(data).some((value) => value !== '');
    const lacks = (key: string) => (data[key] ?? '') === '';
    const absent = complete ? undefined : Object.keys(desired.values).find(lacks);
    if (absent !== undefined)
      return wait('Missing', `${title}: key ${absent} is to be generated${whyUnsigned(desired, observed)}`);
    const awaited = desired.issued?.keys.find(lacks);
    return awaited === undefined
      ? { done: true, ...replacementWords(desired, live, observed) }
      : wait('Missing', `${title} has no key ${awaited}: ${desired.issued?.lacking}`);
  }
  const applied = live.metadata.annotations?.[annotations.applied];
  // What is live may be well, but it is not yet what this generation states.
  if (applied !== undefined && applied !== digest(object)) return wait('Updating', `${title} is being changed`);
  const { replicas } = (object['spec'] ?? {}) as { replicas?: number };
  // Its status says that all of its 0 pods are ready, but it serves nobody.
  if (kind.group === 'apps' && replicas === 0 && observed.isAutoscaled?.(object) !== true)
    return wait('Stopped', `${title} is stopped: its replicas are set to 0; set 1 or more to start it`);
  const health = workloadHealth(kind, live, observed);
  const behind = health.done && desired.verb === 'apply' ? changedPeer(live, desired.peers) : undefined;
  return behind === undefined ? health : wait('Progressing', `${title} ${behind}`);
}

/** What keeps certificates of a Secret from being signed: whose Secret that is makes it, or is to have it mended. */
function whyUnsigned(desired: Desired, { observe }: Observed): string {
  if (desired.verb !== 'generate') return '';
  const { namespace = '' } = desired.object.metadata;
  const lacking = lackingSignature(desired.values, (name, key) => {
    const { data = {} } = (observe(Secret, { namespace, name }) ?? {}) as { readonly data?: Record<string, string> };
    return data[key] || undefined;
  });
  return lacking === undefined ? '' : `: ${lacking}`;
}

/** The first kind that a resource is to reckon with, and does not, or the other way round. One of an earlier operator does not tell. */
function changedPeer({ status }: StoredObject, wanted: readonly string[] = []): string | undefined {
  const { peers } = (status ?? {}) as { peers?: readonly string[] };
  if (peers === undefined) return undefined;
  const added = wanted.find((kind) => !peers.includes(kind));
  if (added !== undefined) return `has not reconciled with ${added} yet`;
  const removed = peers.find((kind) => !wanted.includes(kind));
  return removed && `has not reconciled without ${removed} yet`;
}
