// Events of a watch whose objects a definition's webhook converts. The hub sends them as they are stored, like those of any watch;
// here each chunk is read, its objects converted together, and written as the client asked.
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import type { Rendering } from '../../../rendering/rendering.ts';
import { watchEventFrame } from '../../../rendering/watch-event.ts';
import { eventIn, linesOf, type RecentConversions, type WatchEvent } from './recent-conversions.ts';

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
    return this.written(linesOf(chunk).map(eventIn), nowMs);
  }

  #frame(type: string, object: object): Buffer {
    return watchEventFrame(type, object, this.rendering.encoding, this.#schema);
  }
}

/** Converts one chunk for all watches that get it: once for each version. */
export class ChunkConversion {
  readonly #recent: RecentConversions;
  readonly #lines: readonly string[];
  readonly #converted = new Map<string, Promise<readonly WatchEvent[]>>();

  constructor(recent: RecentConversions, chunk: Uint8Array) {
    this.#recent = recent;
    this.#lines = linesOf(chunk);
  }

  /** Its events in the version of a type. Rejects with the StatusError of a webhook that failed. */
  into({ type, requestNumber }: Pick<OutsideEvents, 'type' | 'requestNumber'>): Promise<readonly WatchEvent[]> {
    let converted = this.#converted.get(type.apiVersion);
    if (converted === undefined) {
      converted = this.#recent.into(type, this.#lines, requestNumber);
      this.#converted.set(type.apiVersion, converted);
    }
    return converted;
  }
}
