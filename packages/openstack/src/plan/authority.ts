import { createPrivateKey, X509Certificate } from 'node:crypto';
import { parseTimestamp, type StoredObject, timestamp } from '@openstack-operator/kube';
import type { authorityPhases } from '../api/status.ts';
import type { Observed } from '../assess/observed.ts';
import { annotations } from '../engine/names/names.ts';
import { isOfUsers } from '../engine/objects/pod-volumes.ts';
import { conditionOf, requestOf } from '../engine/status/conditions.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import { authorityKeys } from '../engine/vocabulary/certificate.ts';
import type { Generator } from '../engine/vocabulary/step.ts';
import type { Action, GeneratedSecret, Plan } from './action.ts';
import { withAnnotation } from './applied.ts';
import { backdated, longestWait, renewalOf } from './certificates.ts';

/** Keys of the authority that is to follow, until it signs. */
const nextKeys = { certificate: 'next.crt', key: 'next.key' } as const;

/**
 * Milliseconds from when a Secret is another one to when all pods that mount it go by that: kubelets look at Secrets every
 * minute or so, what copies files in a pod every minute, and servers within two.
 */
const readSpan = 10 * 60_000;

/** Milliseconds after which a replacement that is not done yet is told of with whatever else is to be mended. */
const longReplacement = 2 * 3_600_000;

/** Milliseconds after which is looked again at what nothing tells of: pods and Secrets of other resources. */
const lookedAgain = 30_000;

/** An authority as its Secret has it. */
interface AuthorityState {
  /** How many there were, with the newest. */
  readonly generation: number;
  /** Absent: there is one alone, or what was to follow is damaged. */
  readonly phase?: (typeof authorityPhases)[number];
  /** Another one is to follow anew: of the one that was, a part is lost. */
  readonly again?: true;
  /** The one that signs, and the one that goes or comes. */
  readonly signing: string;
  readonly other?: string;
  /** What somebody else has added to the file, and is kept in it. */
  readonly added: string;
  /** When the newest one was made, in milliseconds since the epoch. */
  readonly begun: number;
}

type Data = Readonly<Record<string, string>>;

const dataOf = (secret: StoredObject): Data => (secret['data'] ?? {}) as Data;
const textOf = (secret: StoredObject, key: string): string =>
  Buffer.from(dataOf(secret)[key] ?? '', 'base64').toString();
const bytesOf = (text: string): string => Buffer.from(text).toString('base64');

/** The certificates of a file (RFC 7468), one by one, each with a line's end: the next one begins on a line of its own. */
function blocksOf(text: string): string[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? [];
  return blocks.map((block) => `${block}\n`);
}

/** The certificate that a text is; undefined for what is none. */
function read(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

/** Whether a Secret has the authority that is to follow, with its key. */
function hasNext(secret: StoredObject): boolean {
  try {
    const key = createPrivateKey(textOf(secret, nextKeys.key));
    return read(textOf(secret, nextKeys.certificate))?.checkPrivateKey(key) === true;
  } catch {
    return false;
  }
}

/** Where the replacement of a Secret's authority stands: its keys say so. Undefined for a Secret without a certificate of one. */
function stateOf(secret: StoredObject): AuthorityState | undefined {
  const blocks = blocksOf(textOf(secret, authorityKeys.certificate));
  const [signing, other, ...others] = blocks;
  if (signing === undefined || read(signing) === undefined) return undefined;
  const added = others.join('');
  const generation = generationOf(secret);
  const madeAt = (text: string) => (read(text)?.validFromDate.getTime() ?? 0) + backdated;
  if (Object.values(nextKeys).some((key) => (dataOf(secret)[key] ?? '') !== '')) {
    const isWhole = hasNext(secret) && other?.trim() === textOf(secret, nextKeys.certificate).trim();
    return isWhole && other !== undefined
      ? { generation, phase: 'Trusted', signing, other, added, begun: madeAt(other) }
      : { generation, again: true, signing, added, begun: madeAt(signing) };
  }
  const signs = { generation, signing, begun: madeAt(signing) };
  const isBefore =
    other !== undefined && formerOf(other) === secret.metadata.annotations?.[annotations.formerAuthority];
  return isBefore ? { ...signs, phase: 'Signing', other, added } : { ...signs, added: (other ?? '') + added };
}

/** How the one before is known from what somebody else has added. */
const formerOf = (certificate: string): string | undefined => read(certificate)?.fingerprint256;

function generationOf({ metadata }: StoredObject): number {
  const number = Number(metadata.annotations?.[annotations.generation]);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

/** The same Secret, with an authority that is called by its generation: who has two of them tells them apart by name. */
export function inGeneration(desired: GeneratedSecret, secret: StoredObject): GeneratedSecret {
  const { [authorityKeys.certificate]: generator } = desired.values;
  if (desired.authority === undefined || generator?.type !== 'certificate') return desired;
  const isBefore = Object.values(nextKeys).some((key) => dataOf(secret)[key] !== undefined);
  const named = called(generator, Math.max(1, generationOf(secret) - (isBefore ? 1 : 0)));
  return { ...desired, values: { ...desired.values, [authorityKeys.certificate]: named } };
}

function called<G extends Extract<Generator, { type: 'certificate' }>>(generator: G, generation: number): G {
  return generation === 1 ? generator : { ...generator, commonName: `${generator.commonName} ${generation}` };
}

/** What is to be done next, or what is awaited. */
type Turn =
  | { readonly act: 'trust' | 'settle' | 'sign' | 'retire' }
  | { readonly awaited?: string; readonly requeueAfter: number };

function turnOf(desired: GeneratedSecret, secret: StoredObject, observed: Observed): Turn | undefined {
  const state = stateOf(secret);
  const { [authorityKeys.certificate]: generator } = desired.values;
  if (desired.authority === undefined || state === undefined || generator?.type !== 'certificate') return undefined;
  const { now } = observed;
  if (state.phase === undefined) {
    const { asked } = desired.authority;
    const until = renewalOf(bytesOf(state.signing), generator.seconds) - now;
    const isAsked = asked !== undefined && asked !== secret.metadata.annotations?.[annotations.rotatedFor];
    return isAsked || until <= 0 || state.again === true
      ? { act: 'trust' }
      : { requeueAfter: Math.min(until, longestWait) };
  }
  // It can no longer serve anybody who waits for the next one.
  if (state.phase === 'Trusted' && (read(state.signing)?.validToDate.getTime() ?? 0) <= now) return { act: 'sign' };
  const ofOthers = awaitedSecret(state, secret, observed);
  if (ofOthers !== undefined) return { awaited: ofOthers, requeueAfter: lookedAgain };
  const settled = parseTimestamp(secret.metadata.annotations?.[annotations.rotatedAt] ?? '');
  // A clock that was ahead has said so.
  if (Number.isNaN(settled) || settled > now) return { act: 'settle' };
  return awaitedPod(state, secret, { observed, settled }) ?? { act: state.phase === 'Trusted' ? 'sign' : 'retire' };
}

/** What of the Secrets beside an authority's own is still of the one before. */
function awaitedSecret({ phase, signing, other = '' }: AuthorityState, secret: StoredObject, observed: Observed) {
  const others = secretsBeside(secret, observed);
  if (phase === 'Trusted') {
    const without = others.find((one) => mentions(one, signing) && !mentions(one, other));
    return without && `Secret ${without.metadata.name} has the one before alone`;
  }
  const former = others.find((one) => signedIn(one, other));
  return former && `Secret ${former.metadata.name} has a certificate of the one before`;
}

function secretsBeside({ metadata: { namespace = '', name } }: StoredObject, { secrets }: Observed): StoredObject[] {
  return (secrets?.(namespace) ?? []).filter((one) => one.metadata.name !== name);
}

/** Whether a Secret has a certificate, be it within another text: a line of its signature has nothing that would be written otherwise. */
function mentions(secret: StoredObject, certificate: string): boolean {
  const line = certificate.trim().split('\n').at(-3) ?? '';
  return line !== '' && Object.keys(dataOf(secret)).some((key) => textOf(secret, key).includes(line));
}

/** Whether a Secret has a certificate that an authority has signed. */
function signedIn(secret: StoredObject, authority: string): boolean {
  const by = read(authority);
  if (by === undefined) return false;
  return Object.keys(dataOf(secret)).some((key) => {
    const text = textOf(secret, key);
    const certificate = text.startsWith('-----BEGIN CERTIFICATE') ? read(text) : undefined;
    return (
      certificate !== undefined && !certificate.ca && certificate.checkIssued(by) && certificate.verify(by.publicKey)
    );
  });
}

/** A volume of a pod, as far as it is followed. */
interface Volume {
  readonly name?: string;
  readonly secret?: { readonly secretName?: string; readonly items?: readonly unknown[] };
}

/**
 * The first pod that may not go by what its Secrets have now, and when it may. Kubelets that are away update no volumes, and
 * their pods are not Ready: they have until `readSpan` after they are again.
 */
function awaitedPod(
  state: AuthorityState,
  secret: StoredObject,
  { observed, settled }: { readonly observed: Observed; readonly settled: number },
): Extract<Turn, { requeueAfter: number }> | undefined {
  const { namespace = '', name } = secret.metadata;
  const isConcerned = (one: StoredObject) =>
    state.phase === 'Trusted' ? mentions(one, state.signing) : signedIn(one, state.signing);
  const secrets = new Set([
    name,
    ...secretsBeside(secret, observed)
      .filter(isConcerned)
      .map((one) => one.metadata.name),
  ]);
  const until = (at: number): Extract<Turn, { requeueAfter: number }> => ({
    awaited: `pods have until ${timestamp({ now: () => at })} to read it`,
    requeueAfter: at - observed.now,
  });
  const latest = [settled];
  for (const pod of observed.pods(namespace, {})) {
    const { phase = '' } = (pod['status'] ?? {}) as { readonly phase?: string };
    if (['Succeeded', 'Failed'].includes(phase)) continue;
    const said = (what: string) => ({ awaited: `pod ${pod.metadata.name} ${what}`, requeueAfter: lookedAgain });
    const created = parseTimestamp(pod.metadata.creationTimestamp ?? '');
    if (state.phase === 'Trusted') {
      // Jobs read Secrets of other resources, which have the next one later than the authority's own.
      const isOfJob = pod.metadata.labels?.['batch.kubernetes.io/controller-uid'] !== undefined;
      if (isOfJob && created <= settled) return said('is to end');
      if (created < state.begun && readsOnce(pod, name)) return said('is to be replaced');
    }
    // What is on no node yet mounts what there is then.
    const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
    if (created > settled || nodeName === undefined || !mounts(pod, secrets)) continue;
    const ready = conditionOf(pod, 'Ready');
    if (ready?.status !== 'True') return said('is not Ready');
    latest.push(parseTimestamp(ready.lastTransitionTime));
  }
  const at = Math.max(...latest.filter((time) => !Number.isNaN(time))) + readSpan;
  return at > observed.now ? until(at) : undefined;
}

const volumesOf = (pod: StoredObject) => ((pod['spec'] ?? {}) as { volumes?: readonly Volume[] }).volumes ?? [];

function mounts(pod: StoredObject, secrets: ReadonlySet<string>): boolean {
  return volumesOf(pod).some(({ secret }) => secrets.has(secret?.secretName ?? ''));
}

/**
 * Whether a pod mounts the certificate as a file, which stays as it was. A directory has some keys alone: not that of the
 * authority. What users mount besides is theirs.
 */
function readsOnce(pod: StoredObject, name: string): boolean {
  return volumesOf(pod).some(
    (one) => one.secret?.secretName === name && one.secret.items === undefined && !isOfUsers(one),
  );
}

/** Who is what while an authority is replaced, and what that waits for. */
function wordsOf(secret: StoredObject, { generation, phase }: AuthorityState, awaited: string): string {
  const of = `Secret ${secret.metadata.name}: authority ${generation}`;
  return phase === 'Trusted'
    ? `${of} is trusted beside the one before, and signs once all trust it: ${awaited}`
    : `${of} signs, and the one before is trusted until nobody shows a certificate of it: ${awaited}`;
}

/**
 * What is to be said of an authority that is being replaced, and whether that takes too long. Undefined while none is.
 */
export function replacementWords(
  desired: GeneratedSecret,
  secret: StoredObject,
  observed: Observed,
): { readonly remark: string } | { readonly degraded: string } | undefined {
  const state = stateOf(secret);
  const turn = state?.phase && turnOf(desired, secret, observed);
  if (state === undefined || turn === undefined || !('awaited' in turn) || turn.awaited === undefined) return undefined;
  const words = wordsOf(secret, state, turn.awaited);
  return observed.now > state.begun + longReplacement ? { degraded: words } : { remark: words };
}

/** The next act of the replacement of an authority; no action where something is awaited. Undefined for what has none. */
export function planAuthority(
  desired: GeneratedSecret,
  secret: StoredObject,
  { observed, step }: { readonly observed: Observed; readonly step: string },
): Plan | undefined {
  const turn = turnOf(desired, secret, observed);
  const state = stateOf(secret);
  if (turn === undefined || state === undefined) return undefined;
  if (!('act' in turn)) return { actions: [], requeueAfter: turn.requeueAfter };
  const update = (live: StoredObject, more: Partial<Extract<Action, { verb: 'update' }>> = {}): Plan => {
    const { metadata } = live;
    const action = {
      verb: 'update',
      step,
      reason: 'RotationDue',
      desired,
      live,
      metadata,
      missing: [],
      rotate: false,
    } as const;
    return { actions: [{ ...action, ...more }] };
  };
  const rotated = (what: string) => ({ event: eventOf('KeysRotated', `Secret ${secret.metadata.name}: ${what}`) });
  const { generation, signing, other = '', added } = state;
  switch (turn.act) {
    case 'trust':
      return trust(desired, secret, { state, update });
    case 'settle':
      return update(withAnnotation(secret, annotations.rotatedAt, timestamp({ now: () => observed.now })));
    case 'sign': {
      const { [nextKeys.certificate]: _certificate, [nextKeys.key]: key = '', ...data } = dataOf(secret);
      const signs = {
        ...data,
        [authorityKeys.certificate]: bytesOf(other + signing + added),
        [authorityKeys.key]: key,
      };
      const missing = Object.entries(desired.values).flatMap(([name, one]) =>
        one.type === 'certificate' && one.signedBy?.key === authorityKeys.key ? [name] : [],
      );
      const marked = withAnnotation(secret, annotations.formerAuthority, formerOf(signing) ?? '');
      return update(withoutTime({ ...marked, data: signs }), {
        missing,
        ...rotated(`authority ${generation} signs; the key of the one before is deleted`),
      });
    }
    case 'retire': {
      const data = { ...dataOf(secret), [authorityKeys.certificate]: bytesOf(signing + added) };
      return update(
        { ...without(secret, annotations.formerAuthority), data },
        rotated(`authority ${generation} alone is trusted`),
      );
    }
  }
}

/** Makes another authority, which is trusted beside the one that signs. */
function trust(
  desired: GeneratedSecret,
  secret: StoredObject,
  {
    state: { generation, signing, added },
    update,
  }: {
    readonly state: AuthorityState;
    readonly update: (live: StoredObject, more: Partial<Extract<Action, { verb: 'update' }>>) => Plan;
  },
): Plan {
  const { asked } = desired.authority ?? {};
  const numbered = withAnnotation(withoutTime(secret), annotations.generation, `${generation + 1}`);
  const live = asked === undefined ? numbered : withAnnotation(numbered, annotations.rotatedFor, asked);
  const { [authorityKeys.certificate]: first } = desired.values;
  const next: Readonly<Record<string, Generator>> = {
    [nextKeys.key]: { type: 'privateKey' },
    ...(first?.type === 'certificate'
      ? { [nextKeys.certificate]: { ...called(first, generation + 1), key: nextKeys.key } }
      : {}),
  };
  return update(
    { ...live, data: { ...dataOf(secret), [authorityKeys.certificate]: bytesOf(signing) } },
    {
      desired: { ...desired, values: { ...desired.values, ...next } },
      missing: Object.keys(next),
      bundle: { key: authorityKeys.certificate, of: [authorityKeys.certificate, nextKeys.certificate], more: added },
      event: eventOf(
        'KeysRotated',
        `Secret ${secret.metadata.name}: authority ${generation + 1} is trusted beside the one before`,
      ),
    },
  );
}

/** The Secret without the time from which on all Secrets have what is new. */
const withoutTime = (secret: StoredObject): StoredObject => without(secret, annotations.rotatedAt);

function without(secret: StoredObject, annotation: string): StoredObject {
  const { [annotation]: _before, ...others } = secret.metadata.annotations ?? {};
  return { ...secret, metadata: { ...secret.metadata, annotations: others } };
}

/** What the status tells of an authority; undefined where there is none. */
export function authorityStatus(secret: StoredObject, { values }: Pick<GeneratedSecret, 'values'>) {
  const state = stateOf(secret);
  const { [authorityKeys.certificate]: generator } = values;
  if (state === undefined || generator?.type !== 'certificate') return undefined;
  const { seconds } = generator;
  const { generation, phase, signing } = state;
  const request = phase === undefined ? requestOf(secret, annotations.rotatedFor) : undefined;
  const at = (time: number) => timestamp({ now: () => time });
  return {
    generation,
    ...(phase === undefined ? {} : { phase }),
    ...(request === undefined ? {} : { request }),
    ends: at(read(signing)?.validToDate.getTime() ?? 0),
    next: at(renewalOf(bytesOf(signing), seconds)),
  };
}
