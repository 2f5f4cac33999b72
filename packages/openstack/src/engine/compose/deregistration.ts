import type { KubeObject } from '@openstack-operator/kube';
import { deregistrationSuffix, labelsOf } from '../names/names.ts';
import { imageOf } from '../objects/images.ts';
import { podSpec } from '../objects/pod.ts';
import { conditionOf } from '../status/conditions.ts';
import { commonAccounts, heldAccounts } from '../vocabulary/common-accounts.ts';
import type { Init, Mount } from '../vocabulary/component.ts';
import { type Context, contextOf, externalOf } from '../vocabulary/context.ts';
import { keepingsOf } from '../vocabulary/keeping.ts';
import type { Capability, Service } from '../vocabulary/service.ts';
import type { ServiceResource, Surroundings } from '../vocabulary/surroundings.ts';

/** How what a deleted resource has elsewhere is taken back. */
export interface Deregistration {
  /** Absent where nothing is to be done. */
  readonly job?: KubeObject;
  /** What the Job takes back, in words. */
  readonly things: readonly string[];
  /** What cannot be taken back, and why. */
  readonly lost: readonly string[];
}

/** What a deregistration has to know beside the surroundings. */
export interface Remaining {
  readonly hasSecret: (name: string) => boolean;
  /** Whether the control plane that owns the resource goes, and its Keystone with it. */
  readonly goesWithOwner: boolean;
  /** Whether that control plane makes the resource anew at once. */
  readonly comesBack: boolean;
}

/** Seconds that it may take; then the resource goes without. */
export const deregistrationSeconds = 600;

const folder = '/etc/openstack/deregister';

/**
 * Whether something of the resource may live on without it: in a Keystone, whosever it is, or in a database server or
 * broker that this operator does not run.
 */
export function leavesRecords(service: Service, { spec = {} }: ServiceResource): boolean {
  return keepingsOf(service, spec).some(
    ({ keeping, field }) =>
      field !== undefined && (keeping.holds === 'registration' || externalOf(spec, field) !== undefined),
  );
}

/**
 * The Job `<name>-deregister`: takes back what the lists of the records Jobs have made in what lives on. The user in
 * Keystone is disabled, never deleted, because trusts and access rules hang on it (production rule 17), and the
 * endpoints go, unless that Keystone goes as well. Databases, virtual hosts and their users go with `deletionPolicy:
 * Delete` only, as Retain keeps data; those of servers that this operator runs stay. What was never made has no list (a
 * Secret), and is no concern of it.
 */
export function deregistration<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
  { hasSecret, goesWithOwner, comesBack }: Remaining,
): Deregistration {
  // A client that logs in between would have a catalogue without it for as long as its token is valid.
  if (comesBack) return { things: [], lost: [] };
  const context = contextOf(service, resource, surroundings) as unknown as Context;
  const kept = { service: service as unknown as Service, context };
  const { spec } = context;
  const mounts: Mount[] = [];
  const things: string[] = [];
  const lists: string[] = [];
  const lost: string[] = [];
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Readonly<Record<string, string>> };
  const held = heldAccounts(kept.service, context.name, spec);
  /** Which other one has the same account there: it would stand still without that. */
  const sharedBy = (capability: Capability): string | undefined => {
    const words = surroundings
      .twins()
      .flatMap((twin) =>
        commonAccounts(held, twin).flatMap((common) =>
          common.capability === capability ? [`${twin.kind} ${twin.name} has ${common.what} as well`] : [],
        ),
      );
    return words[0];
  };
  const images = { component: deregistrationSuffix, main: false, spec, release: context.release };
  const runs: (Init & { image: string; user: NonNullable<Init['user']> })[] = [];
  for (const { capability, keeping, field } of keepingsOf(kept.service, spec)) {
    if (field === undefined) continue;
    const isExternal = externalOf(spec, field) !== undefined;
    const provider = isExternal || goesWithOwner ? undefined : context.reference(field);
    const livesOn = isExternal || (provider !== undefined && provider.metadata.deletionTimestamp === undefined);
    const isDeleted = spec.deletionPolicy === 'Delete';
    const goes = { data: isExternal && isDeleted, registration: livesOn, resources: livesOn && isDeleted };
    if (!goes[keeping.holds]) continue;
    const shared = sharedBy(capability);
    const isReady = provider === undefined || conditionOf(provider, 'Ready')?.status === 'True';
    const left = shared ?? (isReady ? undefined : `${provider?.kind} ${provider?.metadata.name} is not Ready`);
    const thing = keeping.things(kept, shared !== undefined);
    if (thing === '') continue;
    const list = context.named(keeping.suffix);
    const exists = hasSecret(list);
    if (!exists || left !== undefined) {
      if (exists || list in jobs) lost.push(`${thing} (${left ?? 'its list is gone'})`);
      continue;
    }
    things.push(thing);
    const path = `${folder}/${keeping.target}`;
    mounts.push({ path, secret: list, follows: true });
    const { target, client } = keeping;
    // What was made last goes first: resources before the user who may delete them.
    if (client === undefined) lists.unshift(`${target}=${path}/records.json`);
    else
      runs.push({
        name: target,
        image: imageOf(client.image, images),
        user: client.user,
        runs: client.remove(path, kept),
      });
  }
  if (lists.length > 0) {
    const command = ['openstack-operator', 'records', 'remove', ...lists];
    runs.unshift({ name: 'records', image: surroundings.operatorImage, user: 'operator', runs: { command } });
  }
  const last = runs.pop();
  if (last === undefined) return { things, lost };
  const labels = labelsOf(service.name, context.name, deregistrationSuffix);
  const pod = podSpec({
    name: last.name,
    image: last.image,
    user: last.user,
    runs: last.runs,
    init: runs,
    configs: [],
    mounts,
    spec: { ...spec, resources: undefined },
    restartPolicy: 'Never',
  });
  return {
    things,
    lost,
    job: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: context.named(deregistrationSuffix), namespace: context.namespace, labels },
      spec: {
        backoffLimit: 6,
        activeDeadlineSeconds: deregistrationSeconds,
        podReplacementPolicy: 'Failed',
        template: { metadata: { labels }, spec: pod },
      },
    },
  };
}
