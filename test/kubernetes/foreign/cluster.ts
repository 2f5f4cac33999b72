import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  CustomResourceDefinition,
  connect,
  isApiError,
  type Kind,
  type KubeObject,
  Namespace,
  type ObjectRef,
  realClock,
  realRandom,
  type StoredObject,
} from '@openstack-operator/kube';
import { createSandbox, listen } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { eventually } from '../eventually.ts';
import type { Program } from './programs.ts';

/** The servers that each operator is run against. */
export type ServerName = 'kubernetes' | 'sandbox';

/** A server that is reached over HTTP/2 with TLS, by the operator and by the test. */
export interface Cluster {
  readonly name: ServerName;
  /** Path of the administrator's. */
  readonly kubeconfig: string;
  readonly client: Client;
  /** A directory that goes with it. */
  readonly home: string;
  /** `METHOD path: status` of each request that a sandbox would not take because it does not offer such a thing. */
  readonly notOffered: readonly string[];
  stop(): Promise<void>;
}

/** 405, 406, 415, 501: no operator that works on a real server asks for what that one does not have. */
const refusals: ReadonlySet<number> = new Set([405, 406, 415, 501]);

/** The real API server of CONFORMANCE_KUBECONFIG, with its controllers, or a sandbox made for the caller. */
export async function startCluster(name: ServerName): Promise<Cluster> {
  return name === 'kubernetes' ? await kubernetes() : await sandbox();
}

async function kubernetes(): Promise<Cluster> {
  const kubeconfig = process.env['CONFORMANCE_KUBECONFIG'] ?? '';
  const client = await clientOf(kubeconfig);
  const home = makeHome();
  return {
    name: 'kubernetes',
    kubeconfig,
    client,
    home,
    notOffered: [],
    async stop() {
      await client.close();
      rmSync(home, { recursive: true });
    },
  };
}

async function sandbox(): Promise<Cluster> {
  const started = createSandbox({
    clock: realClock,
    random: realRandom,
    images: [],
    nodes: [],
    authorization: 'RBAC',
  });
  const { api } = started;
  const notOffered: string[] = [];
  const listening = await listen({
    ...api,
    async handle(request, ...rest) {
      const answer = await api.handle(request, ...rest);
      if (refusals.has(answer.status)) notOffered.push(`${request.method} ${request.path}: ${answer.status}`);
      return answer;
    },
  });
  const home = makeHome();
  const kubeconfig = join(home, 'kubeconfig');
  writeFileSync(kubeconfig, await listening.kubeconfig(), { mode: 0o600 });
  const client = await clientOf(kubeconfig);
  return {
    name: 'sandbox',
    kubeconfig,
    client,
    home,
    notOffered,
    async stop() {
      await client.close();
      await listening.close();
      started.stop();
      rmSync(home, { recursive: true });
    },
  };
}

function makeHome(): string {
  return mkdtempSync(join(tmpdir(), 'foreign-'));
}

async function clientOf(kubeconfig: string): Promise<Client> {
  return (await connect({ kubeconfig, env: {}, clock: realClock, userAgent: 'foreign' })).client;
}

/** Installs an operator's definitions, and waits until their kinds are served. */
export async function installDefinitions(
  cluster: Cluster,
  { definitions }: Pick<Program, 'definitions'>,
): Promise<void> {
  await serveDefinitions(
    cluster,
    definitions.map((file) => parse(readFileSync(file, 'utf8')) as CustomResourceDefinition),
  );
}

/** Installs definitions, and waits until their kinds are served. */
export async function serveDefinitions(
  { client }: Cluster,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  for (const definition of definitions)
    await client.apply(CustomResourceDefinition, definition, { fieldManager: 'foreign', force: true });
  await eventually(
    async () => {
      const { items } = await client.list(CustomResourceDefinition);
      return items.filter(
        ({ status }) => !status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True'),
      );
    },
    (waiting) => waiting.length === 0,
  );
}

/** Makes a namespace. */
export async function makeNamespace({ client }: Cluster, name: string): Promise<void> {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** How long an operator may take for one thing, in seconds. */
const PATIENCE_S = 120;

/**
 * Reads an object until it is as it should be, or is no more (`undefined`); gives it.
 * @throws Error with what was read last
 */
export async function until<T extends KubeObject>(
  { client }: Cluster,
  kind: Kind<T>,
  ref: ObjectRef,
  holds: (found: StoredObject<T> | undefined) => boolean,
): Promise<StoredObject<T> | undefined> {
  const read = async () => {
    try {
      return await client.get(kind, ref);
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      throw error;
    }
  };
  return await eventually(read, holds, PATIENCE_S);
}

/** Waits until an object is gone. */
export async function untilGone(cluster: Cluster, kind: Kind, ref: ObjectRef): Promise<void> {
  await until(cluster, kind, ref, (found) => found === undefined);
}

/** Deletes an object and waits until it is gone. */
export async function remove(cluster: Cluster, kind: Kind, ref: ObjectRef): Promise<void> {
  await cluster.client.delete(kind, ref);
  await untilGone(cluster, kind, ref);
}

/** With what words a change is refused. */
export async function refusalOf(change: Promise<unknown>): Promise<string> {
  try {
    await change;
    return 'not refused';
  } catch (error) {
    if (isApiError(error)) return error.message;
    throw error;
  }
}
