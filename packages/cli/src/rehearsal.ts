import {
  type AbortScope,
  abortScope,
  type Clock,
  ConnectionError,
  CustomResourceDefinition,
  createClient,
  type Health,
  type HttpRequest,
  type HttpResponse,
  isApiError,
  type KubeObject,
  type Log,
  Namespace,
  type Random,
  type Runtime,
  type StoredObject,
  type Transport,
  virtualClock,
} from '@openstack-operator/kube';
import { crd, kindOf, kinds } from '@openstack-operator/openstack';
import { runOperator } from '@openstack-operator/operator';
import { openstackImages } from '@openstack-operator/processes';
import { createSandbox, type Image, type Sandbox, type SandboxOptions, type User } from '@openstack-operator/sandbox';
import { operatorImage } from './operator-image.ts';

/** Namespace of the operator, on the sandbox as in `config/default`. */
export const operatorNamespace = 'openstack-operator-system';

/** How a rehearsal is set up. */
export interface RehearsalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Names of the sandbox's nodes; default one. */
  readonly nodes?: readonly string[];
  /** What each of them offers; default: two cores and 8 GiB, which carry the whole minimal cloud. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Network interfaces that each of them has beside those of every sandbox node. */
  readonly interfaces?: readonly string[];
  /** What is on the disks of its nodes: absolute path -> content. */
  readonly files?: Readonly<Record<string, string>>;
  /** What its nodes can run beside OpenStack's images and the operator's. */
  readonly images?: readonly Image[];
  /** Whether the Python of OpenStack's images resolves names for OVSDB, as Debian's does (default: no, as Kolla's). */
  readonly resolver?: boolean;
  /** Put between operator and API server: a test that counts, delays or falsifies. */
  readonly wire?: (transport: Transport) => Transport;
  /** What the API server asks before it serves, and what goes wrong with it (see `createSandbox`). */
  readonly server?: Pick<SandboxOptions, 'authorization' | 'faults'>;
}

/** How one operator of a rehearsal differs from the usual one. */
export interface OperatorLife {
  /** Name in the leader election; without it there is none. */
  readonly identity?: string;
  /** Follows these namespaces only. */
  readonly namespaces?: readonly string[];
  /** Its own namespace, which is its name on the resources that it manages (default: `operatorNamespace`). */
  readonly namespace?: string;
  /** Gets its checks. */
  readonly health?: Health;
  /** Manages the resources that are annotated with this class. */
  readonly operatorClass?: string;
  /** Whom it logs in as (default: an administrator). */
  readonly user?: User;
  /** Aborted: it ends in that moment as by SIGKILL, even while it starts. */
  readonly killed?: AbortSignal;
  /** Its own clock, which may stand still or jump (default: everybody's). */
  readonly clock?: Clock;
}

/** A sandbox with our CRDs in it, and an operator that can be started and stopped. */
export interface Rehearsal {
  readonly sandbox: Sandbox;
  /** Every object that the API server has. */
  objects(): StoredObject[];
  /** Starts an operator; resolves when its controllers work. @throws Error when it ends before that */
  startOperator(life?: OperatorLife): Promise<RunningOperator>;
  /** Creates an object, and its namespace where that is missing. */
  create(object: KubeObject): Promise<StoredObject>;
  /** Ends it all, its operators too. */
  stop(): void;
}

/** An operator in this process. */
export interface RunningOperator {
  readonly runtime: Runtime;
  /** Rejects when the operator fails. */
  readonly ended: Promise<void>;
  /** Ends it gracefully, as SIGTERM does. */
  stop(): Promise<void>;
  /** Calls back when a write of it has been answered. */
  onWrite(listener: (request: HttpRequest) => void): void;
  /** Ends it in this moment, as SIGKILL does: nothing that it sends arrives any more, no answer reaches it. */
  kill(): void;
}

let served: readonly StoredObject[] | undefined;

/** Our CRDs as an API server has them that serves them: those of the first sandbox of this process, and of that time. */
async function definitions(clock: Clock): Promise<readonly StoredObject[]> {
  if (served !== undefined) return served;
  const first = createSandbox({ clock: virtualClock({ start: clock.now() }), images: [], nodes: [] });
  const client = first.client();
  for (const kind of kinds)
    await client.create(CustomResourceDefinition, crd(kind) as unknown as CustomResourceDefinition);
  served = first.api.store.list(CustomResourceDefinition);
  first.stop();
  return served;
}

/** Brings up a sandbox whose nodes know OpenStack's images, and installs our CRDs. */
export async function createRehearsal({
  clock,
  random,
  log,
  nodes = ['node-1'],
  capacity = { cpu: '2', memory: '8Gi' },
  interfaces = [],
  files: onDisk = {},
  images = [],
  resolver = false,
  wire: between = (transport) => transport,
  server = {},
}: RehearsalOptions): Promise<Rehearsal> {
  const plugged = Object.fromEntries(interfaces.map((name) => [`/sys/class/net/${name}/operstate`, 'up\n']));
  const files = { ...plugged, ...onDisk };
  const sandbox: Sandbox = createSandbox({
    clock,
    random,
    images: [...openstackImages({ resolver }), operatorImage(() => sandbox.client()), ...images],
    ...server,
    objects: await definitions(clock),
    nodes: nodes.map((name) => ({ name, capacity, files })),
  });
  const client = sandbox.client();
  const ensureNamespace = async (name: string) => {
    try {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    } catch (error) {
      if (!isApiError(error, 409)) throw error;
    }
  };
  await ensureNamespace(operatorNamespace);
  /** Of the operators that live. */
  const kills = new Set<() => void>();

  return {
    sandbox,
    objects: () => {
      const { registry, store } = sandbox.api;
      return [...new Set(registry.all().map(({ id }) => id))].flatMap((id) => store.list(id));
    },
    async startOperator({ user, killed, clock: own = clock, ...life } = {}) {
      const stop = new AbortController();
      const wire = mortal(between(sandbox.transport(user)));
      const kill = () => {
        kills.delete(kill);
        wire.cut();
        stop.abort(new Error('killed'));
      };
      kills.add(kill);
      killed?.addEventListener('abort', kill, { once: true });
      const started = Promise.withResolvers<Runtime>();
      const ended = runOperator({
        client: createClient({ transport: wire.transport, clock: own, userAgent: 'openstack-operator' }),
        clock: own,
        random,
        log,
        signal: stop.signal,
        namespace: operatorNamespace,
        ...life,
        started: started.resolve,
      });
      ended.then(() => started.reject(new Error('the operator ended before its controllers worked')), started.reject);
      const runtime = await started.promise;
      return {
        runtime,
        ended,
        async stop() {
          stop.abort(new Error('stopped'));
          await ended;
        },
        onWrite: (listener) => wire.listeners.push(listener),
        kill,
      };
    },
    async create(object) {
      const { namespace = 'default' } = object.metadata;
      await ensureNamespace(namespace);
      return await client.create(kindOf(object), { ...object, metadata: { ...object.metadata, namespace } });
    },
    stop() {
      for (const kill of kills) kill();
      sandbox.stop();
    },
  };
}

/** A transport that can die: after `cut` requests neither arrive nor are answered, and bodies end in the middle. */
function mortal(transport: Transport) {
  const dead = new AbortController();
  const listeners: ((request: HttpRequest) => void)[] = [];
  const never = () => {
    throw new ConnectionError('ECONNRESET', 'the process was killed');
  };
  return {
    listeners,
    cut: () => dead.abort(),
    transport: {
      request: async (request: HttpRequest, signal?: AbortSignal) => {
        if (dead.signal.aborted) never();
        // Node keeps what AbortSignal.any joins while somebody listens to it, and with it the whole sandbox.
        const scope = abortScope({ parents: [signal, dead.signal] });
        const response = await transport.request(request, scope.signal).catch((error: unknown) => {
          scope[Symbol.dispose]();
          throw error;
        });
        if (request.method !== 'GET') for (const listener of listeners) listener(request);
        return dead.signal.aborted ? never() : { ...response, body: readWithin(scope, response.body) };
      },
      close: () => transport.close(),
    },
  };
}

/** A body, whose scope ends with it: an operator that lives for long sends many requests. */
async function* readWithin(scope: AbortScope, body: HttpResponse['body']): HttpResponse['body'] {
  using _ = scope;
  yield* body;
}

/** Every resource of ours that the cache knows. */
export function resourcesIn({ cache }: Runtime): StoredObject[] {
  return kinds.flatMap((kind) => cache.list(kind));
}
