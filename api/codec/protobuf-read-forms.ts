// Reads the small messages that have a form of their own in JSON: quantities, times, a number or a text.

import { formatDuration } from '../../values/duration.ts';
import { DecodeError } from './decode-error.ts';
import type { formatTime } from './timestamp.ts';
import { isWritable } from './timestamp.ts';
import type { WireReader } from './wire.ts';

/** Reads one value; its tag and length have been read. */
export type ValueReader = (reader: WireReader) => unknown;

/** JSON has no way to write infinity or what is no number. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new DecodeError('is not a finite number');
  return value;
}

/** Reads the fields of a small message that has a form of its own, by number. */
export function readParts(reader: WireReader, parts: Readonly<Record<number, () => void>>): void {
  while (reader.at < reader.end) {
    const tag = reader.varint();
    const part = parts[tag >>> 3];
    if (part === undefined) reader.skip(tag & 7);
    else part();
  }
}

/** The fields of these messages. */
export const FIRST = 1;
const SECOND = 2;
const THIRD = 3;

export function readQuantity(reader: WireReader): unknown {
  let text = '';
  readParts(reader, {
    [FIRST]: () => {
      text = reader.text();
    },
  });
  return text === '' ? '0' : text;
}

export function readIntOrString(reader: WireReader): unknown {
  let isText = false;
  let integer = 0;
  let text = '';
  readParts(reader, {
    [FIRST]: () => {
      isText = reader.integer() === 1;
    },
    [SECOND]: () => {
      integer = reader.integer() | 0;
    },
    [THIRD]: () => {
      text = reader.text();
    },
  });
  return isText ? text : integer;
}

export function instantReader(format: typeof formatTime): ValueReader {
  return (reader) => {
    if (reader.at === reader.end) return null;
    let seconds = 0;
    let nanos = 0;
    readParts(reader, {
      [FIRST]: () => {
        seconds = reader.integer();
      },
      [SECOND]: () => {
        nanos = reader.integer();
      },
    });
    if (!isWritable(seconds) || nanos < 0 || nanos > 999_999_999)
      throw new DecodeError('is not a moment between the years 1 and 9999');
    return format({ seconds, nanos });
  };
}

export function readDuration(reader: WireReader): unknown {
  let nanos = 0n;
  readParts(reader, {
    [FIRST]: () => {
      nanos = reader.int64();
    },
  });
  return formatDuration(nanos);
}

export function readStringList(reader: WireReader): unknown {
  const list: string[] = [];
  readParts(reader, { [FIRST]: () => list.push(reader.text()) });
  return list;
}
