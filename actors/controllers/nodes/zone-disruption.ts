// How fast nodes of each zone may be given the taint that evicts their pods: by how much of the zone answers. Where nothing
// answers anywhere, it is more likely that we are cut off, and nobody is evicted. Pure: is told the time.

/** Nodes a second that may be tainted, of a zone in order; after many at once of a small zone none, of a large one few. */
const RATE = 0.1;
const LARGE_ZONE_RATE = 0.01;
const LARGE_ZONE_NODES = 50;
/** Share of a zone's nodes that must fail, and more than how many of them, for it to be disrupted partly. */
const PARTLY_SHARE = 0.55;
const PARTLY_NODES = 2;

/** What is waited for is there when the wait is over, however the sum was rounded. */
const WHOLE = 1 - 1e-6;

type Disruption = 'none yet known' | 'none' | 'partial' | 'full';

/** Lets one through at once, and then as many a second as its rate says. */
class Pace {
  #perSecond = RATE;
  #saved = 1;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Who waited before waits on. */
  set(perSecond: number, nowMs: number): void {
    this.#saved = this.#savedAt(nowMs) >= WHOLE ? 1 : 0;
    this.#atMs = nowMs;
    this.#perSecond = perSecond;
  }

  take(nowMs: number): boolean {
    const saved = this.#savedAt(nowMs);
    if (this.#perSecond === 0 || saved < WHOLE) return false;
    this.#saved = saved - 1;
    this.#atMs = nowMs;
    return true;
  }

  /** Undefined: nobody is let through at this rate. */
  waitMs(nowMs: number): number | undefined {
    if (this.#perSecond === 0) return undefined;
    return Math.max(0, ((1 - this.#savedAt(nowMs)) * 1000) / this.#perSecond);
  }

  #savedAt(nowMs: number): number {
    return Math.min(1, this.#saved + ((nowMs - this.#atMs) * this.#perSecond) / 1000);
  }
}

interface Zone {
  state: Disruption;
  readonly pace: Pace;
  /** Names of nodes that wait for the taint, in order. */
  readonly waiting: Set<string>;
}

/** How many nodes of a zone are ready, and how many are not. */
export interface ZoneCount {
  readonly ready: number;
  readonly failing: number;
}

/** What a review of all zones asks for. */
export type ReviewOutcome =
  | 'go on'
  /** Nothing answers any more: no node shall evict its pods. */
  | 'all is lost'
  /** Something answers again: all nodes begin anew to be silent. */
  | 'all begins anew';

export class ZoneDisruption {
  readonly #zones = new Map<string, Zone>();

  clear(): void {
    this.#zones.clear();
  }

  /** Zones in which nodes wait. */
  get waiting(): string[] {
    return [...this.#zones].filter(([, { waiting }]) => waiting.size > 0).map(([name]) => name);
  }

  /** The node shall have the taint when it is its turn. */
  enqueue(zone: string, node: string, nowMs: number): void {
    this.#zone(zone, nowMs).waiting.add(node);
  }

  dequeue(zone: string, node: string): void {
    this.#zones.get(zone)?.waiting.delete(node);
  }

  /** The nodes of a zone whose turn it is, and how long the next waits; undefined: for nothing that time would bring. */
  take(name: string, nowMs: number): { readonly nodes: readonly string[]; readonly waitMs: number | undefined } {
    const zone = this.#zones.get(name);
    const nodes: string[] = [];
    if (zone === undefined) return { nodes, waitMs: undefined };
    for (const node of zone.waiting) {
      if (!zone.pace.take(nowMs)) break;
      zone.waiting.delete(node);
      nodes.push(node);
    }
    return { nodes, waitMs: zone.waiting.size === 0 ? undefined : zone.pace.waitMs(nowMs) };
  }

  /** Sets the zones' paces by what their nodes say now. Zones without nodes that count are left out, or forgotten. */
  review(counts: ReadonlyMap<string, ZoneCount>, nowMs: number): ReviewOutcome {
    for (const [name, { waiting }] of this.#zones)
      if (!counts.has(name) && waiting.size === 0) this.#zones.delete(name);
    const zones = [...counts].map(([name, count]) => ({ zone: this.#zone(name, nowMs), count }));
    const wasLost = zones.every(({ zone }) => zone.state === 'full');
    const isLost = zones.every(({ count }) => stateOf(count) === 'full');
    if (zones.length === 0 || (wasLost && isLost)) return 'go on';
    for (const { zone, count } of zones) {
      const state = isLost ? 'full' : stateOf(count);
      // One that had failed whole before the others did was evicted until now.
      if (zone.state === state && !wasLost && !isLost) continue;
      zone.state = state;
      zone.pace.set(isLost ? 0 : rateOf(state, count), nowMs);
    }
    if (isLost) return 'all is lost';
    return wasLost ? 'all begins anew' : 'go on';
  }

  #zone(name: string, nowMs: number): Zone {
    let zone = this.#zones.get(name);
    if (zone === undefined) {
      zone = { state: 'none yet known', pace: new Pace(nowMs), waiting: new Set() };
      this.#zones.set(name, zone);
    }
    return zone;
  }
}

function stateOf({ ready, failing }: ZoneCount): Disruption {
  if (ready === 0 && failing > 0) return 'full';
  return failing > PARTLY_NODES && failing / (ready + failing) >= PARTLY_SHARE ? 'partial' : 'none';
}

// A zone that fails whole beside others that answer is evicted as if nothing were the matter.
function rateOf(state: Disruption, { ready, failing }: ZoneCount): number {
  if (state !== 'partial') return RATE;
  return ready + failing > LARGE_ZONE_NODES ? LARGE_ZONE_RATE : 0;
}
