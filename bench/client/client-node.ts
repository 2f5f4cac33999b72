import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { namespace, play } from './rounds.ts';

/** What is used of `@kubernetes/client-node`, which is installed outside of the tree. */
interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
  readonly CoreV1Api: unknown;
  readonly PatchStrategy: { readonly MergePatch: string };
  readonly setHeaderOptions: (name: string, value: string) => unknown;
}

interface KubeConfig {
  loadFromFile(path: string): void;
  makeApiClient(api: unknown): {
    patchNamespacedConfigMap(request: object, options: unknown): Promise<unknown>;
  };
  createDispatcher(...args: unknown[]): unknown;
}

/**
 * A contestant: `@kubernetes/client-node` as its README uses it. It offers no setting for its connections and opens one
 * for each request; with `kept` they are kept by a replaced method, as its users help themselves.
 */
const [kubeconfig = '', modules = '', connections = ''] = process.argv.slice(2);
const file = pathToFileURL(join(modules, 'node_modules/@kubernetes/client-node/dist/index.js'));
const { KubeConfig, CoreV1Api, PatchStrategy, setHeaderOptions } = (await import(file.href)) as ClientNode;
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
if (connections === 'kept') {
  const create = config.createDispatcher.bind(config);
  let dispatcher: unknown;
  config.createDispatcher = (...args) => (dispatcher ??= create(...args));
}
const api = config.makeApiClient(CoreV1Api);
const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
await play((name, body) => api.patchNamespacedConfigMap({ namespace, name, body }, options));
