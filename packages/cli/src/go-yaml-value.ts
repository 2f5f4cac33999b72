import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, Scalar } from 'yaml';
import type { CommandError } from './command-error.ts';
import { goYamlScalar } from './go-yaml-scalar.ts';

/** Deeper than any field of ours, and shallow enough for every recursion over it; kubectl stops at 10000. */
const DEEPEST = 200;

/** What is said of more. */
export const tooDeep = `lists and maps stand in one another more than ${DEEPEST} deep: no resource is; write it flatter`;

/** Makes JSON of the nodes of one document, as kubectl does (go-yaml v2, decode.go; scalars: goYamlScalar). */
export class GoYamlValue {
  readonly #errorAt: (node: Node, field: string, message: string) => CommandError;
  readonly #anchors = new Map<string, Node>();
  /** What is being read, for aliases that stand in what they mean. */
  readonly #open = new Set<Node>();
  #aliases = 0;
  #nodes = 0;
  #nodesOfAliases = 0;

  constructor(errorAt: (node: Node, field: string, message: string) => CommandError) {
    this.#errorAt = errorAt;
  }

  /** @throws what `errorAt` makes of the node that kubectl refuses, its path, and why */
  valueOf(node: Node, path: string, depth: number): unknown {
    if (depth > DEEPEST) throw this.#errorAt(node, '', tooDeep);
    this.#count(node, path);
    if (isAlias(node)) return this.#ofAlias(node, path, (target) => this.valueOf(target, path, depth));
    const { anchor } = node as { anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    if (isScalar(node)) {
      try {
        return goYamlScalar(node);
      } catch (error) {
        throw this.#errorAt(node, path, (error as Error).message);
      }
    }
    this.#open.add(node);
    const value = isSeq(node)
      ? node.items.map((item, position) => this.valueOf(nodeOf(item), `${path}[${position}]`, depth + 1))
      : this.#ofMap(node, path, depth);
    this.#open.delete(node);
    return value;
  }

  #ofAlias<T>(node: Node & { source: string }, path: string, read: (target: Node) => T): T {
    const target = this.#anchors.get(node.source);
    if (target === undefined) {
      throw this.#errorAt(
        node,
        path,
        `*${node.source} has no &${node.source} before it: name an anchor, or write the value`,
      );
    }
    if (this.#open.has(target)) {
      throw this.#errorAt(
        node,
        path,
        `*${node.source} stands within &${node.source} itself, which never ends: write it out`,
      );
    }
    this.#aliases++;
    const value = read(target);
    this.#aliases--;
    return value;
  }

  #ofMap(node: Node, path: string, depth: number): Record<string, unknown> {
    // Names such as __proto__ are keys like others.
    const object = Object.create(null) as Record<string, unknown>;
    const seen = new Set<string>();
    for (const pair of (isMap(node) ? node.items : []) as readonly Pair[]) {
      const key = nodeOf(pair.key);
      const value = nodeOf(pair.value);
      if (isScalar(key) && key.value === '<<' && (key.type === undefined || key.type === 'PLAIN')) {
        Object.assign(object, this.#merged(value, path, depth));
        continue;
      }
      const name = this.#keyOf(key, path, depth);
      const at = /[.[\]]/u.test(name) ? `${path}[${JSON.stringify(name)}]` : path === '' ? name : `${path}.${name}`;
      if (seen.has(name)) {
        throw this.#errorAt(
          key,
          at,
          'this key stands twice, and kubectl would take the last silently: remove one of the two',
        );
      }
      seen.add(name);
      object[name] = this.valueOf(value, at, depth + 1);
    }
    return { ...object };
  }

  /** As go-yaml does it: what is merged goes over keys before it, those after go over it; of several maps the first counts. */
  #merged(node: Node, path: string, depth: number): Record<string, unknown> {
    const read = (one: Node): Record<string, unknown> => {
      if (isAlias(one)) return this.#ofAlias(one, path, read);
      if (isMap(one)) return this.valueOf(one, path, depth + 1) as Record<string, unknown>;
      throw this.#errorAt(
        one,
        path,
        '<< is followed by what is no map: give it a map, an alias of one, or a list of such',
      );
    };
    if (!isSeq(node)) return read(node);
    return Object.assign(Object.create(null), ...node.items.map((item) => read(nodeOf(item))).reverse()) as Record<
      string,
      unknown
    >;
  }

  #keyOf(key: Node, path: string, depth: number): string {
    const value = this.valueOf(key, path, depth + 1);
    if (value === null) throw this.#errorAt(key, path, 'a key is empty or null: name it, in quotes if it is called so');
    if (typeof value === 'object') throw this.#errorAt(key, path, 'a key is a list or a map: expected a name');
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  /** go-yaml's measure of aliases that multiply (decode.go, allowedAliasRatio). */
  #count(node: Node, path: string): void {
    this.#nodes++;
    if (this.#aliases > 0) this.#nodesOfAliases++;
    const above = Math.min(Math.max((this.#nodes - 400_000) / 3_600_000, 0), 1);
    if (this.#nodesOfAliases > 100 && this.#nodes > 1000 && this.#nodesOfAliases / this.#nodes > 0.99 - 0.89 * above) {
      throw this.#errorAt(node, path, 'aliases of aliases multiply beyond what kubectl reads: write out what is meant');
    }
  }
}

/** A pair without a value, as in a set, has null. */
function nodeOf(node: unknown): Node {
  return (node ?? new Scalar('')) as Node;
}
