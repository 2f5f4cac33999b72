import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Website } from '../../packages/kube/example/website.ts';

/** A cluster with the operator of Websites, as the suite sees it: whatever client a contestant has. */
export interface Cluster {
  /** Refusals reject with an error whose `code` is the HTTP status. */
  create(object: KubeObject): Promise<StoredObject>;
  /** Undefined when there is none. */
  read(kind: Kind, name: string): Promise<Live | undefined>;
  replace(object: StoredObject): Promise<unknown>;
  /** A merge patch. */
  patch(kind: Kind, name: string, patch: object): Promise<unknown>;
  remove(kind: Kind, name: string): Promise<unknown>;
  /** Lets some time pass before the next look: 10 ms, or 100 ms of virtual time. */
  pause(): Promise<unknown>;
}

/** The kinds that the suite works on, all in the namespace `default`. */
export type Kind = 'Website' | 'ConfigMap' | 'Deployment';

/** An object with the fields that the suite looks at. */
export interface Live extends StoredObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
  readonly data?: Readonly<Record<string, string>>;
}

/** The apiVersion of each kind. */
export const apiVersions = { Website: 'example.com/v1', ConfigMap: 'v1', Deployment: 'apps/v1' } as const;

/** Looks for one condition before it has failed: a minute of 10 ms each, or more. */
const MOST_LOOKS = 6000;

function website(name: string, spec: object = {}): Website {
  const metadata = { namespace: 'default', name };
  return { apiVersion: apiVersions.Website, kind: 'Website', metadata, spec: { page: 'hello', replicas: 1, ...spec } };
}

async function until(cluster: Cluster, kind: Kind, name: string, holds: (live: Live) => boolean): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const live = await cluster.read(kind, name);
    if (live && holds(live)) return;
    await cluster.pause();
  }
  throw new Error(`${kind} ${name} is not as expected after ${MOST_LOOKS} looks`);
}

const hasPage = (page: string) => (live: Live) => live.data?.['index.html'] === page;
const hasReplicas = (count: number) => (live: Live) => live.spec?.replicas === count;
const isReady = (count: number) => (live: Live) => live.status?.readyReplicas === count;
const refusedWith = (code: number) => (error: unknown) => (error as { code?: unknown }).code === code;

/** Creates a Website and waits until it is ready. */
async function ready(cluster: Cluster, name: string, spec: { replicas?: number } = {}): Promise<void> {
  await cluster.create(website(name, spec));
  await until(cluster, 'Website', name, isReady(spec.replicas ?? 1));
}

/** The tests, by name; each makes its own Websites, named for its number. */
export const tests: Readonly<Record<string, (cluster: Cluster, name: string) => Promise<unknown>>> = {
  'a Website gets a ConfigMap with its page': async (cluster, name) => {
    await cluster.create(website(name));
    await until(cluster, 'ConfigMap', name, hasPage('hello'));
  },
  'a Website gets a Deployment with its replicas': async (cluster, name) => {
    await cluster.create(website(name, { replicas: 2 }));
    await until(cluster, 'Deployment', name, hasReplicas(2));
  },
  'a status says how many replicas are ready': (cluster, name) => ready(cluster, name, { replicas: 3 }),
  'a Website controls what is made for it': async (cluster, name) => {
    await ready(cluster, name);
    const uid = (await cluster.read('Website', name))?.metadata.uid;
    for (const kind of ['ConfigMap', 'Deployment'] as const) {
      const live = await cluster.read(kind, name);
      deepStrictEqual(
        live?.metadata.ownerReferences?.map((owner) => [owner.uid, owner.controller]),
        [[uid, true]],
      );
    }
  },
  'a changed page reaches the ConfigMap': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.patch('Website', name, { spec: { page: 'other' } });
    await until(cluster, 'ConfigMap', name, hasPage('other'));
  },
  'more replicas reach the Deployment and the status': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.patch('Website', name, { spec: { replicas: 4 } });
    await until(cluster, 'Website', name, isReady(4));
    ok(hasReplicas(4)((await cluster.read('Deployment', name)) as Live));
  },
  'a Website may have no replicas': (cluster, name) => ready(cluster, name, { replicas: 0 }),
  'of changes in a row the last one counts': async (cluster, name) => {
    await ready(cluster, name);
    for (const page of ['second', 'third', 'fourth']) await cluster.patch('Website', name, { spec: { page } });
    await until(cluster, 'ConfigMap', name, hasPage('fourth'));
  },
  'a ConfigMap that was changed by hand is put right': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.patch('ConfigMap', name, { data: { 'index.html': 'by hand' } });
    await until(cluster, 'ConfigMap', name, hasPage('hello'));
  },
  'a Deployment that was scaled by hand is put right': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.patch('Deployment', name, { spec: { replicas: 5 } });
    await until(cluster, 'Deployment', name, hasReplicas(1));
  },
  'a ConfigMap that was deleted is made again': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.remove('ConfigMap', name);
    await until(cluster, 'ConfigMap', name, hasPage('hello'));
  },
  'a Deployment that was deleted is made again, and ready': async (cluster, name) => {
    await ready(cluster, name);
    const uid = (await cluster.read('Deployment', name))?.metadata.uid;
    await cluster.remove('Deployment', name);
    await until(cluster, 'Deployment', name, (live) => live.metadata.uid !== uid && isReady(1)(live));
  },
  'a Website without a page is refused': (cluster, name) =>
    rejects(cluster.create(website(name, { page: undefined })), refusedWith(422)),
  'negative replicas are refused': (cluster, name) =>
    rejects(cluster.create(website(name, { replicas: -1 })), refusedWith(422)),
  'a name is taken once': async (cluster, name) => {
    await cluster.create(website(name));
    await rejects(cluster.create(website(name)), refusedWith(409));
  },
  'a change of an outdated version is a conflict': async (cluster, name) => {
    const old = await cluster.create(website(name));
    await cluster.patch('Website', name, { metadata: { labels: { changed: 'yes' } } });
    await rejects(cluster.replace(old), refusedWith(409));
  },
  'a field that the definition does not have is dropped': async (cluster, name) => {
    const { spec } = (await cluster.create(website(name, { color: 'red' }))) as Website;
    deepStrictEqual(Object.keys(spec).toSorted(), ['page', 'replicas']);
  },
  'a Website that was deleted is gone': async (cluster, name) => {
    await ready(cluster, name);
    await cluster.remove('Website', name);
    strictEqual(await cluster.read('Website', name), undefined);
  },
  'a finalizer holds a deletion': async (cluster, name) => {
    const { metadata, ...rest } = website(name);
    await cluster.create({ ...rest, metadata: { ...metadata, finalizers: ['example.com/hold'] } });
    await cluster.remove('Website', name);
    ok((await cluster.read('Website', name))?.metadata.deletionTimestamp);
    await cluster.patch('Website', name, { metadata: { finalizers: null } });
    strictEqual(await cluster.read('Website', name), undefined);
  },
  'ten Websites at once': async (cluster, name) => {
    const names = Array.from({ length: 10 }, (_, index) => `${name}-${index}`);
    await Promise.all(names.map((one) => cluster.create(website(one, { replicas: 2 }))));
    for (const one of names) await until(cluster, 'Website', one, isReady(2));
  },
};
