// Events of a watch whose objects a definition's webhook converts. The hub sends them as they are stored, like those of any watch;
// here each chunk is read, its objects converted together, and written as the client asked.
import { parseExact } from '../../../api/exact-json.ts';
import type { JsonObject } from '../../../api/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import type { Rendering } from '../../../rendering/rendering.ts';
import { watchEventFrame } from '../../../rendering/watch-event.ts';
import type { OutsideConversion } from '../outside-conversion.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** The events of a chunk that the hub wrote as JSON. */
function eventsOf(chunk: Uint8Array): readonly WatchEvent[] {
  const lines = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => parseExact(line) as WatchEvent);
}

const isOfObject = ({ type }: WatchEvent): boolean => type !== 'BOOKMARK' && type !== 'ERROR';

/** How the hub is asked for the events: as they are stored, bookmarks in the version of the client. */
export function storedRendering({ target: { group, version, kind } }: Rendering): Rendering {
  return { target: { group, version, kind }, shape: undefined, encoding: 'json', pretty: false };
}

/** What a watch of such a type is kept with. */
export class OutsideEvents {
  readonly type: KnownType;
  readonly rendering: Rendering;
  /** Of the watch. */
  readonly requestNumber: number;
  /** A chunk is on its way. */
  isConverting = false;
  /** The last chunk of a watch that ended meanwhile. */
  ending: Uint8Array | undefined = undefined;
  readonly #schema: () => Schema;
  #columnsDue: boolean;

  constructor(type: KnownType, rendering: Rendering, schema: () => Schema, requestNumber: number) {
    this.type = type;
    this.rendering = rendering;
    this.requestNumber = requestNumber;
    this.#schema = schema;
    this.#columnsDue = rendering.shape?.kind === 'Table';
  }

  /** Events, converted, as the client gets them. */
  written(events: readonly WatchEvent[], nowMs: number): Buffer {
    const renderer = new Renderer(this.rendering, nowMs);
    const frames = events.map(({ type, object }) => {
      if (type === 'ERROR') return this.#frame(type, object);
      const withColumns = this.#columnsDue;
      this.#columnsDue = false;
      return this.#frame(type, renderer.object(object, withColumns));
    });
    return Buffer.concat(frames);
  }

  /** A chunk in which there is no object. */
  withoutObjects(chunk: Uint8Array, nowMs: number): Buffer {
    return this.written(eventsOf(chunk), nowMs);
  }

  #frame(type: string, object: object): Buffer {
    return watchEventFrame(type, object, this.rendering.encoding, this.#schema);
  }
}

/** Converts one chunk for all watches that get it: once for each version. */
export class ChunkConversion {
  readonly #conversion: OutsideConversion;
  readonly #events: readonly WatchEvent[];
  readonly #bytes: number;
  readonly #converted = new Map<string, Promise<readonly WatchEvent[]>>();

  constructor(conversion: OutsideConversion, chunk: Uint8Array) {
    this.#conversion = conversion;
    this.#events = eventsOf(chunk);
    this.#bytes = chunk.length;
  }

  /** Its events in the version of a type. Rejects with the StatusError of a webhook that failed. */
  into({ type, requestNumber }: Pick<OutsideEvents, 'type' | 'requestNumber'>): Promise<readonly WatchEvent[]> {
    let converted = this.#converted.get(type.apiVersion);
    if (converted === undefined) {
      converted = this.#convert(type, requestNumber);
      this.#converted.set(type.apiVersion, converted);
    }
    return converted;
  }

  async #convert(type: KnownType, requestNumber: number): Promise<readonly WatchEvent[]> {
    const objects = this.#events.filter(isOfObject).map(({ object }) => object);
    const conversion = this.#conversion;
    const converted = await conversion.whenThereIsRoom(this.#bytes, () =>
      conversion.into(type, objects, requestNumber),
    );
    let next = 0;
    return this.#events.map((event) => (isOfObject(event) ? { type: event.type, object: converted[next++]! } : event));
  }
}
