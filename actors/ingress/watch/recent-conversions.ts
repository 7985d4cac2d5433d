// Events that a definition's webhook has converted a moment ago, or is converting. Watches of such a type soon stand at different places
// of the history, since each waits for its own chunks: without this every one of them would ask about every event by itself.
import { parseExact } from '../../../api/json/exact-json.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Clock } from '../../../runtime/environment.ts';
import { convertedSize, type OutsideConversion } from '../outside-conversion.ts';

/** An event as the hub has it, or converted. */
export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** That an answer is used for: a webhook that answers otherwise from now on is to be seen to. */
const RECENT_MS = 10_000;
/** Of the events as they are stored, in characters. The latest is kept however long it is. */
const KEPT_LENGTH_MAX = 2 * 1024 * 1024;

/** Events that are converted together. */
interface Batch {
  events: Promise<readonly WatchEvent[]>;
  /** Undefined: they are on their way. */
  convertedMs: number | undefined;
}

interface Recent {
  readonly batch: Batch;
  readonly index: number;
}

/** The lines of a chunk that the hub wrote as JSON, an event in each. */
export function linesOf(chunk: Uint8Array): readonly string[] {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString();
  return text.split('\n').filter((line) => line !== '');
}

export const eventIn = (line: string): WatchEvent => parseExact(line) as WatchEvent;

const isOfObject = ({ type }: WatchEvent): boolean => type !== 'BOOKMARK' && type !== 'ERROR';

export class RecentConversions {
  readonly #conversion: OutsideConversion;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By what is asked, in the order in which it was. */
  readonly #kept = new Map<string, Recent>();
  #length = 0;

  constructor(conversion: OutsideConversion, clock: Pick<Clock, 'monotonicMs'>) {
    this.#conversion = conversion;
    this.#clock = clock;
  }

  /** Events, each as its line, in the version of a type. Rejects with the StatusError of a webhook that failed. */
  async into(type: KnownType, lines: readonly string[], requestNumber: number): Promise<readonly WatchEvent[]> {
    const keys = lines.map((line) => `${type.custom?.form.key} ${line}`);
    const found = keys.map((key) => this.#recent(key));
    const missing = lines.flatMap((_, at) => (found[at] === undefined ? [at] : []));
    if (missing.length > 0) {
      const asked = missing.map((at) => lines[at]!);
      const batch: Batch = { events: this.#converted(type, asked, requestNumber), convertedMs: undefined };
      for (const [index, at] of missing.entries()) {
        found[at] = { batch, index };
        this.#keep(keys[at]!, found[at]);
      }
      batch.events.then(
        () => {
          batch.convertedMs = this.#clock.monotonicMs();
        },
        () =>
          this.#forget(
            missing.map((at) => keys[at]!),
            batch,
          ),
      );
    }
    return Promise.all(found.map(async (recent) => (await recent!.batch.events)[recent!.index]!));
  }

  #recent(key: string): Recent | undefined {
    const recent = this.#kept.get(key);
    const convertedMs = recent?.batch.convertedMs;
    const isOld = convertedMs !== undefined && this.#clock.monotonicMs() - convertedMs > RECENT_MS;
    return isOld ? undefined : recent;
  }

  #keep(key: string, recent: Recent): void {
    this.#drop(key);
    this.#kept.set(key, recent);
    this.#length += key.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#length <= KEPT_LENGTH_MAX || oldest === key) return;
      this.#drop(oldest);
    }
  }

  /** What failed is asked again. */
  #forget(keys: readonly string[], batch: Batch): void {
    for (const key of keys) if (this.#kept.get(key)?.batch === batch) this.#drop(key);
  }

  #drop(key: string): void {
    if (this.#kept.delete(key)) this.#length -= key.length;
  }

  async #converted(type: KnownType, lines: readonly string[], requestNumber: number): Promise<readonly WatchEvent[]> {
    const conversion = this.#conversion;
    return conversion.whenThereIsRoom(convertedSize(Buffer.from(lines.join())), async () => {
      const events = lines.map(eventIn);
      const objects = events.filter(isOfObject).map(({ object }) => object);
      const converted = await conversion.into(type, objects, requestNumber);
      let next = 0;
      return events.map((event) => (isOfObject(event) ? { type: event.type, object: converted[next++]! } : event));
    });
  }
}
