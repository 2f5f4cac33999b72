import type { KubeObject } from '@openstack-operator/kube';
import { type Lie, type Mutant, targetOf } from './mutant.ts';
import { objectEdits } from './object-edits.ts';
import { textEdits } from './text-edits.ts';
import type { Edit } from './value-edits.ts';
import type { Written } from './wire.ts';

/** A mutant that a rollout has. */
export interface FoundMutant extends Mutant {
  /** Only node agents have to do with it: on a cloud that claims no node, it is written and nothing more. */
  readonly onNodesOnly: boolean;
}

/** Every mistake that this suite knows, in what the operator of a good rollout has written. */
export function mutantsOf(written: Written): FoundMutant[] {
  const objects = [...written.values()].filter(({ metadata }) => metadata.namespace === 'openstack');
  const mounted = new Set(
    [...JSON.stringify(objects).matchAll(/"secretName":"([^"]+)"/g)].map(([, name]) => name ?? ''),
  );
  const agents = JSON.stringify(objects.filter(({ kind }) => kind === 'DaemonSet'));
  const others = JSON.stringify(objects.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind)));
  const onNodesOnly = ({ kind, metadata }: KubeObject) => {
    const name = `"${metadata.name}"`;
    return kind === 'DaemonSet' || (agents.includes(name) && !others.includes(name));
  };
  const seen = new Map<string, number>();
  return objects.flatMap((object) =>
    liesOf(object, mounted).map(({ what, lie }) => {
      const target = targetOf(object);
      const id = `${target.kind} ${target.name} ${what}`;
      const count = (seen.get(id) ?? 0) + 1;
      seen.set(id, count);
      return { id: count === 1 ? id : `${id} (${count})`, target, lie, onNodesOnly: onNodesOnly(object) };
    }),
  );
}

interface Named {
  readonly what: string;
  readonly lie: Lie;
}

function liesOf(object: KubeObject, mounted: ReadonlySet<string>): Named[] {
  switch (object.kind) {
    case 'ConfigMap':
      return dataEdits(object, (key, text) => textEdits(key, text), false);
    case 'Secret':
      if (object['generated'] === true) return mounted.has(object.metadata.name ?? '') ? keysOf(object) : [];
      return [
        ...(isEnvironment(object) ? keysOf(object) : []),
        ...dataEdits(object, (key, text) => textEdits(key, text), true),
      ];
    default:
      return [
        ...objectEdits(object).map(({ title, path, change }) => ({
          what: title,
          lie: { path, change },
        })),
        ...orderOf(object),
      ];
  }
}

function isEnvironment({ data }: KubeObject): boolean {
  return Object.keys(data ?? {}).some((key) => key.startsWith('OS_'));
}

function dataEdits(object: KubeObject, editsOf: (key: string, text: string) => Edit[], encoded: boolean): Named[] {
  const decode = (value: unknown) => (encoded ? Buffer.from(String(value), 'base64').toString() : String(value));
  const encode = (text: string | undefined) =>
    text !== undefined && encoded ? Buffer.from(text).toString('base64') : text;
  return Object.entries(object['data'] ?? {}).flatMap(([key, value]) =>
    editsOf(key, decode(value)).map(({ what, apply }) => ({
      what: `${key} ${what}`,
      lie: { path: ['data', key], change: (found: unknown) => encode(apply(decode(found))) },
    })),
  );
}

/** Keys under another name: to whoever reads the one, it is missing. */
function keysOf(object: KubeObject): Named[] {
  return Object.keys(object['data'] ?? {}).map((key) => ({
    what: `${key}: key misspelt`,
    lie: {
      path: ['data'],
      change: (data) => {
        const { [key]: value, ...others } = data as Record<string, unknown>;
        return { ...others, [`${key}X`]: value };
      },
    },
  }));
}

/** What is waited for, not waited for; it takes a minute longer, so that luck does not put the order right. */
function orderOf(object: KubeObject): Named[] {
  const pretend = pretendOf(object.kind);
  if (pretend === undefined) return [];
  const late = { name: 'late', image: 'client', command: ['late'] };
  const change = (spec: unknown) => {
    const { initContainers = [], ...others } = spec as { initContainers?: unknown[] };
    return { ...others, initContainers: [late, ...initContainers] };
  };
  return [{ what: 'not waited for', lie: { path: ['spec', 'template', 'spec'], change, pretend } }];
}

function pretendOf(kind: string): ((object: KubeObject) => KubeObject) | undefined {
  const status = (of: (object: KubeObject) => object) => (object: KubeObject) => ({ ...object, status: of(object) });
  switch (kind) {
    case 'Job':
      return status(() => ({ conditions: [{ type: 'Complete', status: 'True' }] }));
    case 'Deployment':
    case 'StatefulSet':
    case 'DaemonSet':
      return status(({ metadata, spec }) => {
        const { replicas = 1 } = (spec ?? {}) as { replicas?: number };
        return {
          observedGeneration: metadata.generation,
          replicas,
          updatedReplicas: replicas,
          readyReplicas: replicas,
          availableReplicas: replicas,
          desiredNumberScheduled: 1,
          currentNumberScheduled: 1,
          updatedNumberScheduled: 1,
          numberReady: 1,
          numberAvailable: 1,
        };
      });
    default:
      return undefined;
  }
}
