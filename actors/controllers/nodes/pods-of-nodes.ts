// Which pods are bound to which node, by their keys, for the controllers that look at all pods of a node. Knows no more of either.

const NONE: ReadonlySet<string> = new Set();

export class PodsOfNodes {
  readonly #pods = new Map<string, Set<string>>();

  /** Binds a pod; one that is bound to no node (an empty name) is nobody's. */
  add(node: string, pod: string): void {
    if (node === '') return;
    const pods = this.#pods.get(node);
    if (pods === undefined) this.#pods.set(node, new Set([pod]));
    else pods.add(pod);
  }

  /** True where the pod was the last of its node. */
  remove(node: string, pod: string): boolean {
    const pods = this.#pods.get(node);
    if (!pods?.delete(pod) || pods.size > 0) return false;
    this.#pods.delete(node);
    return true;
  }

  of(node: string): ReadonlySet<string> {
    return this.#pods.get(node) ?? NONE;
  }

  /** The nodes that pods are bound to. */
  nodes(): Iterable<string> {
    return this.#pods.keys();
  }

  clear(): void {
    this.#pods.clear();
  }
}
