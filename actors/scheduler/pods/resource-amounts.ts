// Amounts of resources as the scheduler counts them: cpu in thousandths, everything else in whole units, rounded up.
// Plain numbers, because the fit check runs for every pod on every node; amounts above 2^53 - 1 count as that.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { countOf } from '../../../values/quantity.ts';

/** What a pod asks for, or a node offers. `scalars` holds extended resources and huge pages by name. */
export interface ResourceAmounts {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Pods a node takes; 0 in requests. */
  readonly pods: number;
  readonly scalars: ReadonlyMap<string, number>;
}

const NO_SCALARS: ReadonlyMap<string, number> = new Map();
/** A ResourceList, such as a node's allocatable. Quantities that cannot be read count as 0. */
export function readAmounts(list: unknown): ResourceAmounts {
  const sum = new AmountSum();
  sum.add(asObject(list));
  return sum.amounts();
}

/** Sums and maxima over ResourceLists, as a pod's request needs them. */
export class AmountSum {
  private milliCpu = 0;
  private memoryBytes = 0;
  private ephemeralStorageBytes = 0;
  private pods = 0;
  private scalars: Map<string, number> | undefined;

  /** Adds each amount of `list`. */
  add(list: JsonObject): void {
    this.merge(list, addUp);
  }

  /** Raises each amount to that of `list` where it is lower. */
  raise(list: JsonObject): void {
    this.merge(list, Math.max);
  }

  /** The sums as they are now. */
  amounts(): ResourceAmounts {
    return {
      milliCpu: this.milliCpu,
      memoryBytes: this.memoryBytes,
      ephemeralStorageBytes: this.ephemeralStorageBytes,
      pods: this.pods,
      scalars: this.scalars ?? NO_SCALARS,
    };
  }

  private merge(list: JsonObject, combine: (sum: number, amount: number) => number): void {
    for (const name of Object.keys(list)) {
      const amount = countOf(list[name], name === 'cpu' ? 1000 : 1) ?? 0;
      if (name === 'cpu') this.milliCpu = combine(this.milliCpu, amount);
      else if (name === 'memory') this.memoryBytes = combine(this.memoryBytes, amount);
      else if (name === 'ephemeral-storage') this.ephemeralStorageBytes = combine(this.ephemeralStorageBytes, amount);
      else if (name === 'pods') this.pods = combine(this.pods, amount);
      else {
        // What an init container asks nothing of is not asked for.
        if (amount === 0 && combine === Math.max) continue;
        this.scalars ??= new Map();
        this.scalars.set(name, combine(this.scalars.get(name) ?? 0, amount));
      }
    }
  }
}

function addUp(sum: number, amount: number): number {
  return Math.min(sum + amount, Number.MAX_SAFE_INTEGER);
}

/** True when both hold the same amounts of the same resources. */
export function sameAmounts(a: ResourceAmounts, b: ResourceAmounts): boolean {
  if (a.milliCpu !== b.milliCpu || a.memoryBytes !== b.memoryBytes || a.pods !== b.pods) return false;
  if (a.ephemeralStorageBytes !== b.ephemeralStorageBytes || a.scalars.size !== b.scalars.size) return false;
  for (const [name, amount] of a.scalars) {
    if (b.scalars.get(name) !== amount) return false;
  }
  return true;
}
