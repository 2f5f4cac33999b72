import { DaemonSet, Deployment, Job, type KubeObject, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import {
  annotations,
  type Composition,
  conditionOf,
  keyIdOf,
  kindOf,
  ownershipOf,
  templateOf,
} from '@openstack-operator/openstack';
import type { ComposeContext } from '../context.ts';

/** A composition in which digests of another key stand as they are live, and what that means for Jobs. */
export interface Adopted {
  readonly composition: Composition;
  /** Job name -> inputs of its last finished run, in terms of the present key. */
  readonly finishedJobs: Readonly<Record<string, string>>;
  /** Job name -> what the inputs of its live run count as. */
  readonly adoptedJobs: ReadonlyMap<string, string>;
}

/** What adoption needs beside the composition. */
export interface AdoptionInput {
  /** Job name -> inputs of its last finished run, as the status has it. */
  readonly jobs: Readonly<Record<string, string>>;
  /** The composition with the key that all clouds had, where that is still known. */
  readonly former: (operatorImage: string | undefined) => Composition | undefined;
}

const workloads = [Deployment, StatefulSet, DaemonSet].map(({ kind }) => kind);

/**
 * Takes over the digests of another key than the present one (it was lost, the cloud was restored elsewhere, or an
 * earlier operator had another): they cannot be compared, so that they count as what is stated now. The live text is
 * stated again, and a workload's annotation, or the status for a Job, remembers what it counts as: only what differs
 * from that is a change. What is no secret is compared whatever the key is, and where the key that all clouds had is
 * still known, that is compared as a whole.
 */
export function adoptDigests(
  context: ComposeContext,
  composition: Composition,
  { jobs, former }: AdoptionInput,
): Adopted {
  const live = foreignDigests(context, composition, jobs);
  if (live.size === 0) return { composition, finishedJobs: jobs, adoptedJobs: new Map() };
  const equivalent = comparison(context, composition, live, former);
  const finishedJobs = { ...jobs };
  const adoptedJobs = new Map<string, string>();
  const adopt = (object: KubeObject): KubeObject => {
    const found = live.get(object);
    if (found === undefined) return object;
    const name = object.metadata.name ?? '';
    if (!equivalent(object, found)) {
      if (object.kind === 'Job' && found.known !== undefined) adoptedJobs.set(name, found.known);
      return object;
    }
    if (object.kind !== 'Job') return withTemplateDigest(object, found.live ?? '');
    if (found.finished) finishedJobs[name] = digestIn(object);
    if (found.live === undefined) return object;
    adoptedJobs.set(name, digestIn(object));
    return withDigest(object, annotations.inputs, found.live);
  };
  const steps = composition.steps.map((step) => ({
    ...step,
    objects: step.objects.map((desired) => {
      if (desired.verb !== 'apply') return desired;
      const object = adopt(desired.object);
      return object === desired.object ? desired : { ...desired, object };
    }),
  }));
  return { composition: { ...composition, steps }, finishedJobs, adoptedJobs };
}

/** A digest of another key, where one of the present key is stated. */
interface Foreign {
  /** What stands in the live object; undefined for a Job that is gone. */
  readonly live: string | undefined;
  /** The text to compare: what the live one was adopted as last, otherwise itself. */
  readonly text: string;
  /** What it was adopted as, with the present key. */
  readonly known?: string;
  /** Whether it is of a Job's run that has finished. */
  readonly finished: boolean;
}

/** The stated objects whose live counterpart, or whose finished run, has a digest of another key. */
function foreignDigests(
  context: ComposeContext,
  { steps }: Composition,
  jobs: Readonly<Record<string, string>>,
): Map<KubeObject, Foreign> {
  const found = new Map<KubeObject, Foreign>();
  for (const { objects } of steps) {
    for (const desired of objects) {
      if (desired.verb !== 'apply') continue;
      const { object } = desired;
      const foreign = workloads.includes(object.kind)
        ? foreignInWorkload(context, object)
        : object.kind === 'Job'
          ? foreignInJob(context, object, jobs)
          : undefined;
      if (foreign !== undefined) found.set(object, foreign);
    }
  }
  return found;
}

function foreignInWorkload(context: ComposeContext, object: KubeObject): Foreign | undefined {
  const live = liveOf(context, object);
  const text = live && digestIn(live);
  if (!digestIn(object) || !text || isOfKey(context, text)) return undefined;
  const adopted = live.metadata.annotations?.[annotations.adoptedCredentials];
  return {
    live: text,
    text: adopted ?? text,
    ...(adopted !== undefined && isOfKey(context, adopted) ? { known: adopted } : {}),
    finished: false,
  };
}

function foreignInJob(
  context: ComposeContext,
  object: KubeObject,
  jobs: Readonly<Record<string, string>>,
): Foreign | undefined {
  const live = liveOf(context, object);
  const before = jobs[object.metadata.name ?? ''];
  if (live === undefined) {
    return before === undefined || isOfKey(context, before)
      ? undefined
      : { live: undefined, text: before, finished: true };
  }
  const text = digestIn(live);
  if (!text || isOfKey(context, text)) return undefined;
  const finished = conditionOf(live, 'Complete')?.status === 'True';
  const known = finished && before !== undefined && isOfKey(context, before) ? { known: before } : {};
  return { live: text, text, finished, ...known };
}

function isOfKey({ digestKey }: ComposeContext, text: string): boolean {
  return keyIdOf(text) === digestKey.id;
}

function liveOf(context: ComposeContext, object: KubeObject): StoredObject | undefined {
  const { namespace = '', name = '' } = object.metadata;
  const live = context.cache.get(kindOf(object), { namespace, name });
  return live !== undefined && ownershipOf(context.object, false).ours?.(live) === true ? live : undefined;
}

/**
 * Whether a digest of another key counts as the stated one. A key that proves nothing (no digest of the resource is
 * one of it) is not the one that the cloud had.
 */
function comparison(
  context: ComposeContext,
  composition: Composition,
  live: ReadonlyMap<KubeObject, Foreign>,
  former: AdoptionInput['former'],
): (object: KubeObject, foreign: Foreign) => boolean {
  const withoutKey = [...live].filter(([, { text, known }]) => known === undefined && keyIdOf(text) === undefined);
  const formerly = new Map<string, string>();
  if (withoutKey.length > 0) {
    const objects = (former(formerImage(context, composition))?.steps ?? []).flatMap((step) => step.objects);
    for (const desired of objects)
      if (desired.verb === 'apply') formerly.set(idOf(desired.object), digestIn(desired.object));
  }
  const proven = withoutKey.some(([object, { text }]) => formerly.get(idOf(object)) === text);
  return (object, { text, known }) => {
    if (known !== undefined) return known === digestIn(object);
    if (keyIdOf(text) !== undefined) return templateOf(text) === templateOf(digestIn(object));
    return !proven || formerly.get(idOf(object)) === text;
  };
}

/** The image of the operator that ran the live Jobs. */
function formerImage(context: ComposeContext, { steps }: Composition): string | undefined {
  const jobs = steps.flatMap(({ objects }) =>
    objects.flatMap((desired) => ('object' in desired && desired.object.kind === Job.kind ? [desired.object] : [])),
  );
  const images = jobs
    .filter((job) => imageOf(job) === context.operatorImage)
    .flatMap((job) => imageOf(liveOf(context, job) ?? {}) ?? []);
  return images[0];
}

function imageOf(job: { readonly [field: string]: unknown }): string | undefined {
  const { template } = (job['spec'] ?? {}) as { template?: { spec?: { containers?: readonly { image?: string }[] } } };
  return template?.spec?.containers?.[0]?.image;
}

/** The digest of credentials in a workload's pod template, or of a Job's inputs; empty when it has none. */
function digestIn(object: KubeObject): string {
  if (object.kind === 'Job') return object.metadata.annotations?.[annotations.inputs] ?? '';
  return (object['spec'] as Workload | undefined)?.template?.metadata?.annotations?.[annotations.credentials] ?? '';
}

interface Workload {
  readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
}

/** Adopted objects by what was composed: the same ones again, so that they keep their digests. */
const adopted = new WeakMap<KubeObject, { readonly live: string; readonly object: KubeObject }>();

function withTemplateDigest(object: KubeObject, live: string): KubeObject {
  const known = adopted.get(object);
  if (known?.live === live) return known.object;
  const spec = object['spec'] as Workload;
  const metadata = spec.template?.metadata ?? {};
  const template = {
    ...spec.template,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.credentials]: live } },
  };
  const result = withDigest(
    { ...object, spec: { ...spec, template } },
    annotations.adoptedCredentials,
    digestIn(object),
  );
  adopted.set(object, { live, object: result });
  return result;
}

function withDigest(object: KubeObject, name: string, text: string): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: text } } };
}

function idOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}
