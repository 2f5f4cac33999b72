import { readFileSync } from 'node:fs';
import {
  type Client,
  createClient,
  type Kind,
  type KubeObject,
  Namespace,
  Pod,
  realClock,
  ServiceAccount,
  type StoredObject,
  seededRandom,
  sleep,
  transportFor,
  virtualClock,
} from '@openstack-operator/kube';
import { createSandbox } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { uniqueName } from '../conformance/server.ts';

/** A server with controllers but no nodes: what pods do is written into their status by the test. */
export interface ControllerServer {
  readonly name: 'sandbox' | 'kubernetes';
  readonly client: Client;
  /** Makes a namespace of a new name, with its service account. */
  namespace(): Promise<string>;
  /** Reads until the value is as it should be, while the controllers work; gives it. */
  readonly eventually: <T>(read: () => Promise<T>, holds: (value: T) => boolean) => Promise<T>;
  /** The objects of a kind in a namespace, by name. */
  readonly list: <T extends KubeObject>(kind: Kind<T>, namespace: string) => Promise<StoredObject<T>[]>;
}

const PATIENCE_MS = 40_000;
const STEP_MS = 25;

const servers = new Map<boolean, ControllerServer>();

/**
 * The server of this run: `CONFORMANCE_SERVER=kubernetes` takes the real one of CONFORMANCE_KUBECONFIG, which has a
 * scheduler or not; the sandbox has one where it is asked for.
 */
export function controllerServer({ scheduler = false } = {}): ControllerServer {
  const server =
    servers.get(scheduler) ?? (process.env['CONFORMANCE_SERVER'] === 'kubernetes' ? kubernetes() : sandbox(scheduler));
  servers.set(scheduler, server);
  return server;
}

function sandbox(scheduler: boolean): ControllerServer {
  const clock = virtualClock();
  const started = createSandbox({ clock, random: seededRandom(1), images: [], nodes: [], scheduler });
  return serverOf('sandbox', started.client(), (ms) => clock.advance(ms));
}

function kubernetes(): ControllerServer {
  const path = process.env['CONFORMANCE_KUBECONFIG'];
  if (!path) throw new Error('CONFORMANCE_KUBECONFIG must name the kubeconfig of a real API server with controllers');
  const config = parse(readFileSync(path, 'utf8'));
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  const decode = (text: string) => Buffer.from(text, 'base64').toString();
  const tls = {
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
  const transport = transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(tls) });
  return serverOf('kubernetes', createClient({ transport, clock: realClock }), (ms) => sleep(realClock, ms));
}

function serverOf(
  name: ControllerServer['name'],
  client: Client,
  wait: (ms: number) => Promise<void>,
): ControllerServer {
  async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
    for (let waited = 0; ; waited += STEP_MS) {
      const value = await read();
      if (holds(value)) return value;
      if (waited > PATIENCE_MS)
        throw new Error(`it did not happen in ${PATIENCE_MS / 1000} s; last: ${JSON.stringify(value)}`);
      await wait(STEP_MS);
    }
  }
  const list = async <T extends KubeObject>(kind: Kind<T>, namespace: string) =>
    (await client.list(kind, { namespace })).items;
  return {
    name,
    client,
    eventually,
    list,
    async namespace() {
      const namespace = uniqueName('controllers');
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await eventually(
        () => list(ServiceAccount, namespace),
        (accounts) => accounts.length > 0,
      );
      return namespace;
    },
  };
}

/** What differs from run to run is put as `<uid>`, `<time>`, ...; generated parts of names as `<hash>` and `<random>`. */
export function stable(value: unknown, namespace: string, others: readonly string[] = []): unknown {
  let text = JSON.stringify(value, (key, field) =>
    key === 'managedFields' || key === 'resourceVersion' ? undefined : field,
  );
  for (const name of others) text = text.replaceAll(name, '<name>');
  text = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(namespace, '<namespace>')
    .replaceAll(
      /\b([a-z]+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g,
      '$1-<hash>-<random>',
    )
    .replaceAll(/\b([a-z]+)-[bcdfghjklmnpqrstvwxz2456789]{6,10}\b/g, '$1-<hash>')
    .replaceAll(/"[bcdfghjklmnpqrstvwxz2456789]{6,10}"/g, '"<hash>"')
    .replaceAll(/\b([a-z]+)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-<random>');
  return JSON.parse(text);
}

/** Writes what a kubelet would report: the pod runs and is ready, or has ended. */
export async function report(
  { client }: ControllerServer,
  { metadata }: StoredObject,
  phase: 'Running' | 'Succeeded' | 'Failed',
  ip = '10.1.2.3',
): Promise<void> {
  const ready = phase === 'Running' ? 'True' : 'False';
  const time = '2026-01-01T00:00:00Z';
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready, lastTransitionTime: time }));
  const status = { phase, conditions, podIP: ip, podIPs: [{ ip }] };
  const ref = { name: metadata.name, namespace: metadata.namespace ?? '' };
  await client.patch(Pod, ref, 'merge', { status }, { subresource: 'status' });
}

/** A pod template with one container. */
export function template(labels: Record<string, string>, image = 'example/app:1', spec = {}) {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...spec } };
}
