import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { play } from './play.ts';
import { apiVersions, type Kind, type Live } from './suite.ts';

/** What is used of `@kubernetes/client-node`, which is installed outside of the tree. */
interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
  readonly KubernetesObjectApi: { makeApiClient(config: KubeConfig): ObjectApi };
  readonly CustomObjectsApi: unknown;
  readonly AppsV1Api: unknown;
  readonly PatchStrategy: { readonly MergePatch: string; readonly ServerSideApply: string };
  readonly setHeaderOptions: (name: string, value: string) => unknown;
  readonly makeInformer: (config: KubeConfig, path: string, list: () => Promise<unknown>) => Informer;
}

interface KubeConfig {
  loadFromFile(path: string): void;
  makeApiClient(api: unknown): StatusApi;
}

interface StatusApi {
  patchNamespacedCustomObjectStatus(request: object, options: unknown): Promise<unknown>;
  patchNamespacedDeploymentStatus(request: object, options: unknown): Promise<unknown>;
}

interface ObjectApi {
  create(object: object): Promise<StoredObject>;
  read(header: object): Promise<StoredObject>;
  replace(object: object): Promise<unknown>;
  delete(object: object): Promise<unknown>;
  list(apiVersion: string, kind: string): Promise<unknown>;
  patch(
    object: object,
    pretty?: string,
    dryRun?: string,
    manager?: string,
    force?: boolean,
    strategy?: string,
  ): Promise<Live>;
}

interface Informer {
  on(verb: 'change' | 'add' | 'update' | 'delete', callback: (object: Live) => void): void;
  on(verb: 'error', callback: (error: unknown) => void): void;
  get(name: string, namespace: string): Live | undefined;
  start(): Promise<void>;
}

/**
 * A contestant: the operator of packages/kube/example with `@kubernetes/client-node` as its README uses it: informers,
 * server-side apply, and a queue by hand, as it has none. With `marks` it says of each Deployment that it is ready, as
 * tests on envtest do, where nothing runs one.
 */
const [kubeconfig = '', modules = '', marks] = process.argv.slice(2);
const file = pathToFileURL(join(modules, 'node_modules/@kubernetes/client-node/dist/index.js'));
const library = (await import(file.href)) as ClientNode;
const config = new library.KubeConfig();
config.loadFromFile(kubeconfig);
const objects = library.KubernetesObjectApi.makeApiClient(config);
const custom = config.makeApiClient(library.CustomObjectsApi);
const apps = config.makeApiClient(library.AppsV1Api);
const merge = library.setHeaderOptions('Content-Type', library.PatchStrategy.MergePatch);
const { MergePatch, ServerSideApply } = library.PatchStrategy;

const namespace = 'default';
const plurals = { Website: 'websites', ConfigMap: 'configmaps', Deployment: 'deployments' } as const;
const informers = {
  Website: informer('Website'),
  ConfigMap: informer('ConfigMap'),
  Deployment: informer('Deployment'),
};

/** Keys that wait, and the one that is worked on: a change meanwhile has it worked on once more. */
const waiting = new Set<string>();
let isWorking = false;

function informer(kind: Kind): Informer {
  const root = apiVersions[kind] === 'v1' ? '/api/v1' : `/apis/${apiVersions[kind]}`;
  const made = library.makeInformer(config, `${root}/${plurals[kind]}`, () => objects.list(apiVersions[kind], kind));
  for (const verb of ['change', 'delete'] as const) made.on(verb, (object) => changed(kind, object));
  made.on('error', () => void wait(1000).then(() => made.start()));
  return made;
}

function changed(kind: Kind, object: Live): void {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.kind === 'Website');
  const name = kind === 'Website' ? object.metadata.name : owner?.name;
  if (kind === 'Deployment' && marks !== undefined) markReady(object).catch(logged);
  if (name === undefined) return;
  waiting.add(name);
  if (!isWorking) void work();
}

async function work(): Promise<void> {
  isWorking = true;
  for (const name of waiting) {
    waiting.delete(name);
    await reconcile(name).catch(async (error: unknown) => {
      logged(error);
      await wait(5);
      waiting.add(name);
    });
  }
  isWorking = false;
}

async function reconcile(name: string): Promise<void> {
  const website = informers.Website.get(name, namespace) as
    | (Live & { spec: { page: string; replicas: number } })
    | undefined;
  if (website === undefined || website.metadata.deletionTimestamp !== undefined) return;
  const { apiVersion, kind, metadata, spec } = website;
  const { uid } = metadata;
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const meta = { namespace, name, ownerReferences: [owner] };
  const labels = { app: name };
  const volumeMounts = [{ name: 'page', mountPath: '/srv' }];
  const containers = [{ name: 'web', image: 'web:1', ports: [{ containerPort: 8080 }], volumeMounts }];
  const template = { metadata: { labels }, spec: { containers, volumes: [{ name: 'page', configMap: { name } }] } };
  await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta, data: { 'index.html': spec.page } });
  const deployment = await apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta,
    spec: { replicas: spec.replicas, selector: { matchLabels: labels }, template },
  });
  const readyReplicas = deployment.status?.readyReplicas ?? 0;
  if (website.status?.readyReplicas === readyReplicas) return;
  const body = { status: { readyReplicas } };
  const request = { group: 'example.com', version: 'v1', namespace, plural: 'websites', name, body };
  await custom.patchNamespacedCustomObjectStatus(request, merge);
}

function apply(object: object): Promise<Live> {
  return objects.patch(object, undefined, undefined, 'website-operator', true, ServerSideApply);
}

async function markReady({ metadata: { name, generation }, spec, status }: Live): Promise<void> {
  if ((status as { observedGeneration?: number } | undefined)?.observedGeneration === generation) return;
  const replicas = spec?.replicas ?? 1;
  const ready = { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: generation };
  await apps.patchNamespacedDeploymentStatus({ namespace, name, body: { status: ready } }, merge);
}

/** What is deleted meanwhile is told of by the informer; all else is tried again. */
function logged(error: unknown): void {
  if (codeOf(error) !== 404 && codeOf(error) !== 409) console.error(error);
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

const at = (kind: Kind, name: string) => ({ apiVersion: apiVersions[kind], kind, metadata: { namespace, name } });
await Promise.all(Object.values(informers).map((one) => one.start()));
await play({
  create: (object: KubeObject) => objects.create(object),
  replace: (object) => objects.replace(object),
  patch: (kind, name, patch) =>
    objects.patch(merged(at(kind, name), patch), undefined, undefined, undefined, undefined, MergePatch),
  remove: (kind, name) => objects.delete(at(kind, name)),
  read: async (kind, name) => {
    try {
      return await objects.read(at(kind, name));
    } catch (error) {
      if (codeOf(error) === 404) return undefined;
      throw error;
    }
  },
  pause: () => wait(10),
});

/** The patch with what says which object is meant: this client takes both as one. */
function merged(header: ReturnType<typeof at>, patch: { metadata?: object }): object {
  return { ...patch, ...header, metadata: { ...patch.metadata, ...header.metadata } };
}
