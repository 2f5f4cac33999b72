import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { operatorNamespace } from '@openstack-operator/cli';
import {
  type Client,
  CustomResourceDefinition,
  createClient,
  createLog,
  defineKind,
  type HttpRequest,
  isApiError,
  type Kind,
  type KubeObject,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  realClock,
  realRandom,
  ServiceAccount,
  type StoredObject,
  type Transport,
  timestamp,
  transportFor,
} from '@openstack-operator/kube';
import { crd, kinds } from '@openstack-operator/openstack';
import { runOperator } from '@openstack-operator/operator';
import { parse } from 'yaml';
import { configObjects, kindOf } from '../../sandbox/rollout/operator-access.ts';
import { eventually, wait } from '../eventually.ts';

const path = process.env['CONFORMANCE_KUBECONFIG'] ?? '';
const config = parse(readFileSync(path, 'utf8'));
const { cluster } = config.clusters[0];
const { user } = config.users[0];
const decode = (text: string) => Buffer.from(text, 'base64').toString();
const ca = decode(cluster['certificate-authority-data']);
const admin = { ca, cert: decode(user['client-certificate-data']), key: decode(user['client-key-data']) };

/** The administrator's client. */
export const client: Client = createClient({
  transport: transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(admin) }),
  clock: realClock,
});

/** A client of somebody else, in whose name the administrator asks. */
export function clientOf(name: string, ...groups: string[]): { client: Client; transport: Transport } {
  const wire = transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(admin) });
  const who = { 'impersonate-user': name, 'impersonate-group': [...groups, 'system:authenticated'] };
  const transport: Transport = {
    close: () => wire.close(),
    request: (request, signal) => wire.request({ ...request, headers: { ...request.headers, ...who } }, signal),
  };
  return { client: createClient({ transport, clock: realClock }), transport };
}

/** As `kubectl apply --server-side -k config/default`, which this runs. */
export function installDefault(): void {
  execFileSync('kubectl', [
    'apply',
    '--server-side',
    '--force-conflicts',
    '-k',
    'config/default',
    '--kubeconfig',
    path,
  ]);
}

/** Creates what is not there yet. */
export async function ensure(object: KubeObject, kind: Kind = kindOf(object)): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isApiError(error, 409)) throw error;
  }
}

const namespaceOf = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

/** What a cluster administrator labels a namespace with whose clouds may have node agents. */
export const withNodeAgents = {
  'openstack.k8s.io/node-agents': 'allowed',
  'pod-security.kubernetes.io/enforce': 'privileged',
};

/** Installs the CRDs, the service account, and files of `config/` with its rights. */
export async function install(files: readonly (readonly [path: string, namespace?: string])[]): Promise<void> {
  for (const kind of kinds) {
    const definition = crd(kind) as unknown as CustomResourceDefinition;
    await client.apply(CustomResourceDefinition, definition, { fieldManager: 'test', force: true });
  }
  await ensure(namespaceOf(operatorNamespace));
  for (const [file, namespace] of [['rbac/service_account.yaml'] as const, ...files]) {
    for (const object of configObjects(file, namespace)) await ensure(object);
  }
}

/** Makes a namespace and waits for its service account, which pods need. */
export async function makeNamespace(name: string, labels?: Record<string, string>): Promise<void> {
  await client.create(Namespace, namespaceOf(name, labels) as Namespace);
  await eventually(
    () => client.list(ServiceAccount, { namespace: name }),
    ({ items }) => items.length > 0,
  );
}

/** A node that exists in the API alone. */
export async function makeNode(name: string): Promise<void> {
  await ensure({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await beat(name);
}

/** A node's heartbeat, without which it is not Ready for longer than 40 s. */
async function beat(name: string): Promise<void> {
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z', lastHeartbeatTime: timestamp(realClock) };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Test', message: '', ...times }];
  await client.patch(Node, { name }, 'merge', { status: { conditions } }, { subresource: 'status' }).catch((error) => {
    if (!isApiError(error, 404)) throw error;
  });
}

/** The default StorageClass, of volumes that `playNode` makes. */
export async function makeStorageClass(): Promise<void> {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await ensure({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations },
    provisioner: 'example.org/none',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
}

interface TokenRequest extends KubeObject {
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token: string };
}
const TokenRequest = defineKind<TokenRequest>('authentication.k8s.io/v1', 'TokenRequest', 'tokenrequests');

/** As `kubectl create token openstack-operator`. */
async function token(): Promise<string> {
  const transport = transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(admin) });
  const response = await transport.request({
    method: 'POST',
    path: `/api/v1/namespaces/${operatorNamespace}/serviceaccounts/openstack-operator/token`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: TokenRequest.kind,
      metadata: {},
      spec: { expirationSeconds: 3600 },
    }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  await transport.close();
  return (JSON.parse(Buffer.concat(chunks).toString()) as TokenRequest).status?.token ?? '';
}

/** An operator in this process that logs in as its ServiceAccount. */
export interface RealOperator {
  /** `METHOD path: status` of every request that was refused with 403. */
  readonly refused: string[];
  /** Requests that are no reads, but for leases. */
  readonly writes: string[];
  /** What it logged as warning or error. */
  readonly complaints: string[];
  stop(): Promise<void>;
}

/** Starts the operator; it works when this resolves. */
export async function startOperator(namespaces?: readonly string[]): Promise<RealOperator> {
  const bearer = await token();
  const refused: string[] = [];
  const writes: string[] = [];
  const complaints: string[] = [];
  const stop = new AbortController();
  const started = Promise.withResolvers<unknown>();
  const wire = transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(caOnly) });
  const caOnly = { ca };
  const transport: Transport = {
    close: () => wire.close(),
    async request(request: HttpRequest, signal?: AbortSignal) {
      const response = await wire.request(
        { ...request, headers: { ...request.headers, authorization: `Bearer ${bearer}` } },
        signal,
      );
      const line = `${request.method} ${request.path}: ${response.status}`;
      if (response.status === 403) refused.push(line);
      if (request.method !== 'GET' && !/\/(leases|selfsubjectaccessreviews)/.test(request.path)) writes.push(line);
      return response;
    },
  };
  const operator = createClient({ transport, clock: realClock, userAgent: 'openstack-operator' });
  const ended = runOperator({
    client: operator,
    clock: realClock,
    random: realRandom,
    log: createLog({ clock: realClock, write: (line) => complaints.push(line.slice(0, 600)), level: 'warn' }),
    signal: stop.signal,
    namespace: operatorNamespace,
    identity: `test-${Buffer.from(realRandom.bytes(4)).toString('hex')}`,
    ...(namespaces === undefined ? {} : { namespaces }),
    started: started.resolve,
  });
  ended.catch(started.reject);
  await started.promise;
  return {
    refused,
    writes,
    complaints,
    async stop() {
      stop.abort(new Error('stopped'));
      await ended;
      await operator.close();
    },
  };
}

/**
 * Does for a namespace what comes of a node: its kubelet's reports (pods of Jobs succeed, others run), and a volume for
 * each claim, as scheduler and provisioner would. Until aborted.
 */
export async function playNode(namespace: string, node: string, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    if (round % 20 === 0) await beat(node);
    const pods = await client.list(Pod, { namespace });
    const claims = await client.list(PersistentVolumeClaim, { namespace });
    await Promise.all([
      ...pods.items.map((pod) => reportOn(pod, node)),
      ...claims.items.filter(({ status }) => status?.phase === 'Pending').map((claim) => provide(claim, node)),
    ]);
    await wait(100);
  }
}

async function provide(
  { metadata: { name, namespace = '', uid }, spec }: StoredObject<PersistentVolumeClaim>,
  node: string,
): Promise<void> {
  const annotations = { 'volume.kubernetes.io/selected-node': node };
  await client.patch(PersistentVolumeClaim, { namespace, name }, 'merge', { metadata: { annotations } });
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}` },
    spec: {
      accessModes: spec?.accessModes,
      capacity: spec?.resources?.requests,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      hostPath: { path: '/nonexistent' },
      storageClassName: spec?.storageClassName,
    },
  };
  await ensure(volume, PersistentVolume);
}

async function reportOn(pod: StoredObject<Pod>, node: string): Promise<void> {
  const { metadata, status } = pod;
  const runs = metadata.ownerReferences?.every(({ kind }) => kind !== 'Job') === true;
  const phase = runs ? 'Running' : 'Succeeded';
  const ref = { name: metadata.name, namespace: metadata.namespace ?? '' };
  try {
    if (metadata.deletionTimestamp !== undefined) {
      await client.delete(Pod, ref, { gracePeriodSeconds: 0 });
      return;
    }
    if (status?.phase === phase) return;
    if (pod.spec?.nodeName === undefined) await bind(ref, node);
    const time = '2026-01-01T00:00:00Z';
    const ready = runs ? 'True' : 'False';
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready, lastTransitionTime: time }));
    const ip = '10.1.2.3';
    await client.patch(
      Pod,
      ref,
      'merge',
      { status: { phase, conditions, podIP: ip, podIPs: [{ ip }] } },
      { subresource: 'status' },
    );
  } catch (error) {
    if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
  }
}

/** What the scheduler does: no scheduler runs beside the API server. */
async function bind(ref: { name: string; namespace: string }, node: string): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: node };
  await client.create<KubeObject>(
    Pod,
    { apiVersion: 'v1', kind: 'Binding', metadata: ref, target },
    { subresource: 'binding' },
  );
}
