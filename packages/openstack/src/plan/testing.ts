import {
  type CacheReader,
  controllerReference,
  type Kind,
  matchesLabels,
  type StoredObject,
} from '@openstack-operator/kube';
import { cloudLabel } from '../engine/names/names.ts';
import type { Live } from './live.ts';

/** A resource that owns what tests plan for. */
export const owner: StoredObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Memcached',
  metadata: { name: 'm', namespace: 'ns', uid: 'm', resourceVersion: '1', generation: 1 },
};

/** An object of the owner's, or what is said of it otherwise. */
export function stored(
  apiVersion: string,
  kind: string,
  name: string,
  more: Record<string, unknown> = {},
): StoredObject {
  const { metadata, ...rest } = more as { metadata?: object };
  const reference = controllerReference(owner);
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', ownerReferences: [reference], ...metadata },
    ...rest,
  };
}

/** What a plan follows from, with these objects in the cache. */
export function liveWith(objects: readonly StoredObject[], more: Partial<Live> = {}): Live {
  const of = ({ kind }: Kind) => objects.filter((object) => object.kind === kind);
  const cache = {
    get: (kind: Kind, ref: { name: string }) => of(kind).find(({ metadata }) => metadata.name === ref.name),
    list: (kind: Kind, { labelSelector = {} }: { labelSelector?: object } = {}) =>
      of(kind).filter(({ metadata: { labels } }) => matchesLabels(labelSelector, labels)),
    controlledBy: (kind: Kind, { metadata: { uid } }: StoredObject) =>
      of(kind).filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid && one.controller)),
    byIndex: (kind: Kind, _index: string, value: string) =>
      kind.kind === 'Node' ? of(kind).filter(({ metadata }) => (metadata.labels?.[cloudLabel] ?? '') === value) : [],
    has: () => true,
    synced: () => true,
    served: () => true,
  } as unknown as CacheReader;
  return {
    resource: owner,
    cache,
    done: new Set(),
    observe: (kind, { name }) => cache.get(kind, { name }),
    pods: () => [],
    eventWords: () => undefined,
    finishedJobs: {},
    now: 0,
    met: new Set(),
    isResolved: () => true,
    hold: () => undefined,
    referring: () => [],
    retaining: [],
    ...more,
  };
}
