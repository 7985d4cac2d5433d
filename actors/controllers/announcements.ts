// Events by which controllers tell users what they do. Told once each, as well as may be: one that is not taken is dropped, and so
// are those that come too fast.
import { newEvent } from '../../api/event-object.ts';
import { timestampOf } from '../../api/metadata/object-meta.ts';
import type { Clock } from '../../runtime/environment.ts';
import { type Due, NOTHING, type Plan } from './controller.ts';
import { coreTarget } from './targets.ts';

const WAITING_MAX = 1000;
const PREFIX = 'event ';

/** What an event is about. */
export interface Subject {
  readonly kind: 'Node' | 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Announcement {
  readonly about: Subject;
  readonly component: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Takes its place among a controller's keys: those that it `owns` are planned by it. */
export class Announcements {
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #waiting = new Map<string, Announcement>();
  #told = 0;

  constructor(clock: Clock, due: Due) {
    this.#clock = clock;
    this.#due = due;
  }

  tell(announcement: Announcement): void {
    if (this.#waiting.size >= WAITING_MAX) return;
    const key = `${PREFIX}${++this.#told}`;
    this.#waiting.set(key, announcement);
    this.#due.add(key);
  }

  /** What has not been told was for somebody else to tell. */
  clear(): void {
    this.#waiting.clear();
  }

  owns(key: string): boolean {
    return key.startsWith(PREFIX);
  }

  plan(key: string): Plan {
    const announcement = this.#waiting.get(key);
    if (announcement === undefined) return NOTHING;
    this.#waiting.delete(key);
    const { about, component, type, reason, message } = announcement;
    const namespace = about.namespace || 'default';
    const nowMs = this.#clock.nowMs();
    const { namespace: _, ...clusterScoped } = about;
    const body = newEvent({
      namespace,
      name: `${about.name}.${(BigInt(nowMs) * 1_000_000n + BigInt(this.#told)).toString(16)}`,
      involvedObject: { apiVersion: 'v1', ...(about.namespace === '' ? clusterScoped : about) },
      type,
      reason,
      message,
      component,
      at: timestampOf(nowMs),
    });
    return { writes: [{ verb: 'create', target: coreTarget('events', namespace, ''), body }] };
  }
}
