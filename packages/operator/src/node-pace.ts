/** Nodes of which one millisecond is worth while. */
const nodesEach = 5;

/**
 * For how long what happens on the nodes of a cloud waits for more of it. A look at a resource with agents is one at all
 * of its nodes, however few have changed, and a zone that is lost or a roll changes thousands of pods one after the other:
 * with 5,000 nodes one look a second answers all of them, with a hundred none waits.
 */
export class NodePace {
  readonly #nodes = new Map<string, number>();

  /** Notes how many nodes were looked at. `resource`: `<kind> <namespace>/<name>`. */
  saw(resource: string, nodes: number): void {
    if (nodes === 0) this.#nodes.delete(resource);
    else this.#nodes.set(resource, nodes);
  }

  /** Milliseconds for which a change of what a resource has on its nodes waits. */
  of(resource: string): number {
    return (this.#nodes.get(resource) ?? 0) / nodesEach;
  }

  /** Milliseconds for which a change of a node waits: of the largest resource of a kind, as it may concern each. */
  ofKind(kind: string): number {
    const all = [...this.#nodes].filter(([resource]) => resource.startsWith(`${kind} `));
    return Math.max(0, ...all.map(([, nodes]) => nodes)) / nodesEach;
  }

  /** The resource is gone. */
  forget(resource: string): void {
    this.#nodes.delete(resource);
  }
}
