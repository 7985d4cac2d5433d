// Pods whose binding the server refused as too late: gone, or taken by another. The news of what became of them is on its way, and
// until it comes they are neither queued nor placed. Where it does not come, the refusal meant something else (a webhook's word, the
// page of a proxy), and the pod must not be forgotten.
import type { QueuedPod } from './queue.ts';

interface OpenBinding {
  readonly queued: QueuedPod;
  readonly dueMs: number;
}

export class OpenBindings {
  /** In the order in which they are due, since all wait for as long. */
  readonly #byKey = new Map<string, OpenBinding>();

  add(queued: QueuedPod, dueMs: number): void {
    this.#byKey.delete(queued.pod.key);
    this.#byKey.set(queued.pod.key, { queued, dueMs });
  }

  /** There is news of the pod. */
  remove(key: string): void {
    this.#byKey.delete(key);
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  /** Takes out those of whom there was no news. */
  takeDue(nowMs: number): readonly QueuedPod[] {
    const due: QueuedPod[] = [];
    for (const [key, { queued, dueMs }] of this.#byKey) {
      if (dueMs > nowMs) break;
      this.#byKey.delete(key);
      due.push(queued);
    }
    return due;
  }

  /** Infinity: none waits. */
  nextDueMs(): number {
    const [first] = this.#byKey.values();
    return first?.dueMs ?? Number.POSITIVE_INFINITY;
  }
}
