// How many objects of a type there are, by what of them counts: objects that count the same are kept as one. Recounting costs what
// the kinds of objects cost, not what all of them do. Of some it may be known only that they are there.
import type { Dialect } from '../../config/dialect.ts';
import type { Quantity } from '../../values/quantity.ts';
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, textAt } from '../json/object-fields.ts';
import { type Amounts, NO_AMOUNTS, sumOf } from './amounts.ts';
import { countsUntilMs } from './pods.ts';
import { type CountedType, usageOf } from './usage.ts';

/** What of an object a quota looks at. */
function countedPart({ plural }: CountedType, object: JsonObject, dialect: Dialect): JsonObject {
  const spec = partAt(object, 'spec');
  const metadata = partAt(object, 'metadata');
  if (plural === 'pods') {
    const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
    const resources = (list: string): JsonObject[] => partsAt(spec, list).map((one) => ({ resources: one.resources }));
    const { activeDeadlineSeconds, priorityClassName, affinity, overhead } = spec;
    return {
      metadata: { deletionTimestamp, deletionGracePeriodSeconds },
      spec: {
        containers: resources('containers'),
        initContainers: resources('initContainers'),
        activeDeadlineSeconds,
        priorityClassName,
        affinity,
        overhead,
      },
      status: { phase: textAt(partAt(object, 'status'), 'phase') },
    };
  }
  if (plural === 'services') {
    const ports = partsAt(spec, 'ports').map(({ nodePort }) => ({ nodePort: nodePort === undefined ? 0 : 1 }));
    return { spec: { type: spec.type, allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts, ports } };
  }
  const annotation = dialect.spell('volume.beta.@label/storage-class');
  return {
    metadata: { annotations: { [annotation]: partAt(metadata, 'annotations')[annotation] } },
    spec: { storageClassName: spec.storageClassName, resources: spec.resources },
  };
}

interface Alike {
  readonly text: string;
  readonly object: JsonObject;
  count: number;
}

/** The objects of one type in one namespace. */
export class Tally {
  readonly #type: CountedType;
  readonly #dialect: Dialect;
  readonly #byName = new Map<string, Alike>();
  readonly #byText = new Map<string, Alike>();
  /** Objects that nobody has looked at. */
  readonly #unread = new Set<string>();

  constructor(type: CountedType, dialect: Dialect) {
    this.#type = type;
    this.#dialect = dialect;
  }

  /** How many objects are there that `usage` leaves out. */
  get unreadCount(): number {
    return this.#unread.size;
  }

  /** The names of those. */
  unread(): Iterable<string> {
    return this.#unread;
  }

  /** Whether an object is there, read or not. */
  has(name: string): boolean {
    return this.#byName.has(name) || this.#unread.has(name);
  }

  /** An object is there that is not yet read. */
  arrived(name: string): void {
    this.#unread.add(name);
  }

  /** True when it makes a difference. */
  put(name: string, object: JsonObject): boolean {
    this.#unread.delete(name);
    const part = countedPart(this.#type, object, this.#dialect);
    const text = JSON.stringify(part);
    if (this.#byName.get(name)?.text === text) return false;
    this.remove(name);
    let alike = this.#byText.get(text);
    if (alike === undefined) {
      alike = { text, object: JSON.parse(text) as JsonObject, count: 0 };
      this.#byText.set(text, alike);
    }
    alike.count++;
    this.#byName.set(name, alike);
    return true;
  }

  /** True when it was there. */
  remove(name: string): boolean {
    if (this.#unread.delete(name)) return true;
    const alike = this.#byName.get(name);
    if (alike === undefined) return false;
    this.#byName.delete(name);
    alike.count--;
    if (alike.count === 0) this.#byText.delete(alike.text);
    return true;
  }

  /** What those of them count for that are wanted. */
  usage(nowMs: number, isWanted: (object: JsonObject) => boolean): Amounts {
    let sum = NO_AMOUNTS;
    for (const { object, count } of this.#byText.values())
      if (isWanted(object)) sum = sumOf(sum, times(usageOf(this.#type, object, this.#dialect, nowMs), count));
    return sum;
  }

  /** When the next of them counts less though nothing happens to it; undefined: none does. */
  nextChangeMs(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const { object } of this.#byText.values()) {
      const untilMs = countsUntilMs(object);
      if (untilMs !== undefined && untilMs >= nowMs && (next === undefined || untilMs < next)) next = untilMs;
    }
    return next;
  }
}

function times(amounts: Amounts, count: number): Amounts {
  const multiplied: Record<string, Quantity> = {};
  for (const [name, { nano, format }] of Object.entries(amounts))
    multiplied[name] = { nano: nano * BigInt(count), format };
  return multiplied;
}
