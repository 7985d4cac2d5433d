// When a node was last heard of, and what is said of it once it has been silent for too long. Pure: is told the time.
import { asTimeMs, partAt, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ApiObject } from '../controller.ts';

/** A node is believed for this long after a sign of life. */
const GRACE_MS = 40_000;
/** One that has never said how it is, for this long after it was made. */
const STARTUP_GRACE_MS = 60_000;
const READY = 'Ready';
const KEPT_CONDITIONS = [READY, 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const NEVER_HEARD = 'NodeStatusNeverUpdated';
const NOT_HEARD = 'NodeStatusUnknown';

/** The present moment, by both clocks. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The `Ready` condition of a node; undefined where it has none. */
export function readyCondition(node: ApiObject): ApiObject | undefined {
  return partsAt(partAt(node, 'status'), 'conditions').find(({ type }) => type === READY);
}

/** True where a node agent has said how the node is; what is written here of a node that never spoke does not count. */
export function hasHeartbeat(ready: ApiObject | undefined): boolean {
  return ready !== undefined && ready.reason !== NEVER_HEARD && asTimeMs(ready.lastHeartbeatTime) !== undefined;
}

export class NodeHealth {
  readonly #createdWallMs: number;
  #conditions: readonly ApiObject[];
  /** The heartbeat's time as it was last seen; undefined: no `Ready` condition. */
  #heartbeat: string | undefined;
  #heardAtMs: number;
  #hasAgent: boolean;

  /** @param isLeased whether there is a lease of the node. */
  constructor(node: ApiObject, isLeased: boolean, now: Moment) {
    this.#createdWallMs = asTimeMs(partAt(node, 'metadata').creationTimestamp) ?? now.wallMs;
    this.#conditions = partsAt(partAt(node, 'status'), 'conditions');
    const ready = this.#ready;
    this.#heartbeat = heartbeatOf(ready);
    this.#hasAgent = isLeased || hasHeartbeat(ready);
    const isFirstWord = ready !== undefined || isLeased;
    this.#heardAtMs = now.monotonicMs - (isFirstWord ? 0 : Math.max(0, now.wallMs - this.#createdWallMs));
  }

  /** The node, as it is now. */
  observe(node: ApiObject, { monotonicMs }: Moment): void {
    this.#conditions = partsAt(partAt(node, 'status'), 'conditions');
    const ready = this.#ready;
    const heartbeat = heartbeatOf(ready);
    if (ready?.reason !== NEVER_HEARD && heartbeat !== this.#heartbeat) this.#heardAtMs = monotonicMs;
    this.#heartbeat = heartbeat;
    this.#hasAgent ||= hasHeartbeat(ready);
  }

  /** Its lease was renewed. */
  renewed({ monotonicMs }: Moment): void {
    this.#hasAgent = true;
    this.#heardAtMs = monotonicMs;
  }

  /** Its silence is counted from now on. */
  beginAnew({ monotonicMs }: Moment): void {
    this.#heardAtMs = monotonicMs;
  }

  /** What `Ready` says; undefined: there is none. */
  get readyStatus(): string | undefined {
    const ready = this.#ready;
    return ready === undefined ? undefined : textAt(ready, 'status');
  }

  /**
   * The node's conditions once nobody knows any more; undefined where they stay as they are. A node that no agent has ever shown
   * itself on is not waited for: whoever made it by hand is taken at their word.
   */
  silence(now: Moment, dialect: Dialect): readonly ApiObject[] | undefined {
    const graceMs = this.readyStatus === undefined ? STARTUP_GRACE_MS : GRACE_MS;
    if (!this.#hasAgent || this.readyStatus === 'Unknown') return undefined;
    if (now.monotonicMs - this.#heardAtMs <= graceMs) return undefined;
    const unknown = KEPT_CONDITIONS.map((type) => this.#unknown(type, now, dialect));
    const others = this.#conditions.filter(({ type }) => !KEPT_CONDITIONS.includes(String(type)));
    return [...others, ...unknown];
  }

  get #ready(): ApiObject | undefined {
    return this.#conditions.find(({ type }) => type === READY);
  }

  #unknown(type: string, now: Moment, dialect: Dialect): ApiObject {
    const known = this.#conditions.find((condition) => condition.type === type);
    const agent = dialect.nodeAgent[0]!.toUpperCase() + dialect.nodeAgent.slice(1);
    const lastTransitionTime = timestampOf(now.wallMs);
    if (known === undefined)
      return {
        type,
        status: 'Unknown',
        lastHeartbeatTime: timestampOf(this.#createdWallMs),
        lastTransitionTime,
        reason: NEVER_HEARD,
        message: `${agent} never posted node status.`,
      };
    if (known.status === 'Unknown') return known;
    const message = `${agent} stopped posting node status.`;
    return { ...known, status: 'Unknown', lastTransitionTime, reason: NOT_HEARD, message };
  }
}

function heartbeatOf(ready: ApiObject | undefined): string | undefined {
  return ready === undefined ? undefined : textAt(ready, 'lastHeartbeatTime');
}
