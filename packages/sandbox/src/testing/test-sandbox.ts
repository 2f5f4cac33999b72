import { type KubeObject, seededRandom, type VirtualClock, virtualClock } from '@openstack-operator/kube';
import type { IContainer, IPodSpec } from 'kubernetes-models/v1';
import { Event, Pod, type Stored } from '../cluster/kinds.ts';
import type { ExecResult } from '../nodes/container.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox.ts';
import { testImage } from './test-images.ts';

/** A sandbox on a virtual clock with what tests ask it for. */
export interface TestSandbox {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  /** Creates a pod in `default` with one container of the test image, unless the spec says otherwise. */
  pod(
    name: string,
    container?: Partial<IContainer>,
    spec?: Partial<IPodSpec>,
    labels?: Record<string, string>,
  ): Promise<void>;
  get(name: string): Stored<Pod> | undefined;
  /** `type reason: message` of a pod's events, in the order of their names. */
  events(name: string): string[];
  exec(name: string, ...argv: string[]): Promise<ExecResult>;
  /** Lets time pass until the pod is in that phase. */
  until(name: string, phase: string): Promise<void>;
  /** Lets time pass until the pod is ready. */
  ready(...names: string[]): Promise<void>;
  create(object: KubeObject): Promise<void>;
}

/** Starts one; the namespaces have their service accounts. */
export async function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const clock = virtualClock();
  const sandbox = createSandbox({ clock, random: seededRandom(1), images: [testImage], ...options });
  await clock.advance(1);
  const { store, registry } = sandbox.api;
  const get = (name: string) => store.get(Pod, `default/${name}`);
  const isReady = (name: string) =>
    get(name)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return {
    clock,
    sandbox,
    get,
    async pod(name, container = {}, spec = {}, labels = {}) {
      await sandbox.client().create(Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', labels },
        spec: { containers: [{ name: 'c', image: 'test:1', ...container }], ...spec },
      });
    },
    events: (name) =>
      (store.list(Event, 'default') as Stored<Event>[])
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    exec: (name, ...argv) => sandbox.pods.exec({ namespace: 'default', name }, argv),
    until: (name, phase) => sandbox.run(() => get(name)?.status?.phase === phase),
    ready: (...names) => sandbox.run(() => names.every(isReady)),
    async create(object) {
      const kind = registry.findKind(object.apiVersion, object.kind)?.type.kind;
      if (!kind) throw new Error(`the sandbox does not serve ${object.kind}`);
      await sandbox.client().create(kind, object);
    },
  };
}

/** A ConfigMap in `default`. */
export function configMap(name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/** A Secret in `default` from plain values. */
export function secret(name: string, values: Record<string, string>): KubeObject {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, data };
}
