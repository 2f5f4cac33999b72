import type { KubeObject } from '@openstack-operator/kube';
import { type OptionRead, optionReads } from '@openstack-operator/processes';
import { targetOf } from './mutant.ts';
import { type GoodRollout, goodRollout } from './trial.ts';

/** A good rollout, and which of its mistakes are in options that no process of it ever looks up. */
export interface Covered {
  readonly good: GoodRollout;
  /** Whether a mutant is in what nobody reads: then all goes on as if it were not there. */
  readonly isUnread: (id: string) => boolean;
}

/** Brings up a good cloud, with an ear on what its processes read. */
export async function coveredRollout(spec: Record<string, unknown>): Promise<Covered> {
  const reads: OptionRead[] = [];
  const listen = (message: unknown) => void reads.push(message as OptionRead);
  optionReads.subscribe(listen);
  const good = await goodRollout(spec);
  optionReads.unsubscribe(listen);
  const coverage = new Coverage(good, reads);
  return { good, isUnread: (id) => coverage.isUnread(id) };
}

/** `group/option` as oslo.config compares them. */
const keyOf = (group: string, name: string) =>
  `${group === 'DEFAULT' ? group : group.toLowerCase()}/${name.replaceAll('-', '_')}`;

class Coverage {
  /** ConfigMap and key, or Secret -> options looked up by pods that have them; what no process loads is not here. */
  readonly #read = new Map<string, Set<string>>();
  readonly #files = new Map<string, string>();

  constructor({ written, pods }: GoodRollout, reads: readonly OptionRead[]) {
    for (const object of written.values()) {
      const { kind, name } = targetOf(object);
      for (const [key, text] of Object.entries((object['data'] ?? {}) as Record<string, string>))
        if (kind === 'ConfigMap') this.#files.set(`${name} ${key}`, text);
    }
    const loaded = new Map<string, Set<string>>();
    for (const { pod, files = [] } of reads) loaded.set(pod, new Set([...(loaded.get(pod) ?? []), ...files]));
    for (const { pod, group, name } of reads) {
      const object = pods.get(pod);
      if (object === undefined || group === undefined) continue;
      for (const source of sourcesOf(object, loaded.get(pod) ?? new Set())) {
        const options = this.#read.get(source) ?? new Set();
        this.#read.set(source, options.add(name === undefined ? keyOf(group, '*') : keyOf(group, name)));
      }
    }
  }

  isUnread(id: string): boolean {
    const [, map = '', file = '', group = '', rest = ''] =
      /^ConfigMap (\S+) (\S+\.(?:conf|ini)) \[([^\]]+)\](.*)$/.exec(id) ?? [];
    if (map !== '') {
      const source = `${map} ${file}`;
      const [, name] = /^ ([^:\s]+): /.exec(rest) ?? [];
      const names = name === undefined ? this.#optionsOf(source, group) : [name];
      return names.every((one) => this.#isUnread(source, group, one));
    }
    const [, secret = '', section = '', option = ''] = /^Secret (\S+) OS_([A-Z0-9_]+?)__([A-Z0-9_]+)/.exec(id) ?? [];
    const inScripts = () => [...this.#files.values()].some((text) => text.includes(`OS_${section}__${option}`));
    const name = section === 'DEFAULT' ? section : section.toLowerCase();
    return secret !== '' && this.#isUnread(secret, name, option.toLowerCase()) && !inScripts();
  }

  #isUnread(source: string, group: string, name: string): boolean {
    const read = this.#read.get(source);
    return read !== undefined && !read.has(keyOf(group, name)) && !read.has(keyOf(group, '*'));
  }

  #optionsOf(source: string, group: string): string[] {
    const [, section = ''] = `\n${this.#files.get(source) ?? ''}\n[`.split(`\n[${group}]\n`);
    const lines = section.slice(0, Math.max(0, section.indexOf('\n['))).split('\n');
    return lines.flatMap((line) => /^([^=:\s#;]+)\s*[=:]/.exec(line)?.[1] ?? []);
  }
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { name: string; configMap?: { name: string } }[];
}

interface Container {
  readonly envFrom?: readonly { secretRef?: { name: string } }[];
  readonly volumeMounts?: readonly { name: string; mountPath: string; subPath?: string }[];
}

/** Where a pod's options come from: keys of ConfigMaps that are mounted as files that it loads, Secrets in its environment. */
function sourcesOf({ spec }: KubeObject, loaded: ReadonlySet<string>): string[] {
  const { containers = [], initContainers = [], volumes = [] } = (spec ?? {}) as PodSpec;
  const plain = (name: string) => targetOf({ kind: 'ConfigMap', metadata: { name } } as KubeObject).name;
  return [...initContainers, ...containers].flatMap(({ envFrom = [], volumeMounts = [] }) => [
    ...envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
    ...volumeMounts.flatMap(({ name, mountPath, subPath }) => {
      const map = volumes.find((volume) => volume.name === name)?.configMap?.name;
      return map !== undefined && subPath !== undefined && loaded.has(mountPath) ? [`${plain(map)} ${subPath}`] : [];
    }),
  ]);
}
