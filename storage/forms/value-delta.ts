// One stored form told by another: what an update replaced is nearly what it wrote, so the event log keeps only where they
// differ. An object's versions differ in a few places (checksum, revision, the fields that changed, times), and few of these
// change in length: what follows lies where it lay, as far from the end as it did, or a few bytes from there.
//
//   0 u32 length of the value told   4 steps, each: u32 bytes that follow and are the value's own, u32 where in the other value
//   to go on, u32 how many bytes of it; the own bytes
const HEAD_BYTES = 4;
const STEP_BYTES = 12;
/** Checksum, form and revision of a stored form: told as they are, since no two are alike there. */
const OWN_BYTES = 16;
/** What is alike for less is told as it is. */
const ALIKE_BYTES_MIN = 2 * STEP_BYTES;
/** So far is searched around the place where what follows would be. */
const SEARCHED_BYTES = 8;
/** Compared at once, or more: a call costs as much as a loop over some fifty bytes. */
const CHUNK_BYTES_MIN = 128;

/** The most bytes that `writeDelta` leaves behind for a value of so many. */
export function deltaBytesMax(valueBytes: number): number {
  return HEAD_BYTES + STEP_BYTES + valueBytes;
}

/**
 * Writes what tells `value` to whoever has `other` into `target`, which has room for `deltaBytesMax`; returns where it ends, or
 * -1 when it would be no shorter than the value. What is in `target` behind `at` is undefined then.
 */
export function writeDelta(target: Buffer, at: number, value: Buffer, other: Buffer): number {
  const { length } = value;
  const last = at + length;
  const shift = other.length - length;
  target.writeUInt32LE(length, at);
  let end = at + HEAD_BYTES;
  /** Up to here the value is told. */
  let told = 0;
  let from = OWN_BYTES;
  let moved = 0;
  while (from < length) {
    let alike = alikeBytes(value, from, other, from + moved);
    if (alike < ALIKE_BYTES_MIN) {
      const next = movedAt(value, from, other, moved, shift, from - told);
      if (next === moved) {
        from += alike + 1;
        continue;
      }
      moved = next;
      alike = alikeBytes(value, from, other, from + moved);
    }
    end = writeStep(target, end, value, told, from, from + moved, alike);
    if (end >= last) return -1;
    from += alike;
    told = from;
  }
  if (end + STEP_BYTES + length - told >= last) return -1;
  return told === length ? end : writeStep(target, end, value, told, length, 0, 0);
}

/**
 * How far further on in the other value what follows is alike for long enough; `moved` where that is not found, which is as far as it
 * was before. `own`: how many bytes before it were not found.
 */
function movedAt(value: Buffer, from: number, other: Buffer, moved: number, shift: number, own: number): number {
  if (shift !== moved && isAlike(value, from, other, from + shift)) return shift;
  // Ever less often: values that have little in common are not to take long.
  if ((own & (own - 1)) !== 0) return moved;
  const byte = value[from];
  for (let by = 1; by <= SEARCHED_BYTES; by++) {
    const [later, earlier] = [from + moved + by, from + moved - by];
    if (other[later] === byte && isAlike(value, from, other, later)) return moved + by;
    if (other[earlier] === byte && isAlike(value, from, other, earlier)) return moved - by;
  }
  return moved;
}

function isAlike(one: Buffer, from: number, other: Buffer, otherFrom: number): boolean {
  if (otherFrom < 0 || from + ALIKE_BYTES_MIN > one.length || otherFrom + ALIKE_BYTES_MIN > other.length) return false;
  for (let at = 0; at < ALIKE_BYTES_MIN; at++) {
    if (one[from + at] !== other[otherFrom + at]) return false;
  }
  return true;
}

/** The value's own bytes from one place to another, and behind them so many of the other's. */
function writeStep(
  target: Buffer,
  at: number,
  value: Buffer,
  from: number,
  to: number,
  alikeFrom: number,
  alikeBytes: number,
): number {
  target.writeUInt32LE(to - from, at);
  target.writeUInt32LE(alikeFrom, at + 4);
  target.writeUInt32LE(alikeBytes, at + 8);
  return at + STEP_BYTES + value.copy(target, at + STEP_BYTES, from, to);
}

/** How many bytes are the same from these places on. */
function alikeBytes(one: Buffer, from: number, other: Buffer, otherFrom: number): number {
  if (otherFrom < 0) return 0;
  const most = Math.min(one.length - from, other.length - otherFrom);
  let alike = 0;
  let chunk = CHUNK_BYTES_MIN;
  while (chunk >= CHUNK_BYTES_MIN && one[from + alike] === other[otherFrom + alike]) {
    const [at, otherAt] = [from + alike, otherFrom + alike];
    if (alike + chunk <= most && one.compare(other, otherAt, otherAt + chunk, at, at + chunk) === 0) {
      alike += chunk;
      chunk *= 2;
    } else {
      chunk /= 2;
    }
  }
  while (alike < most && one[from + alike] === other[otherFrom + alike]) alike++;
  return alike;
}

/** The value that a delta tells to whoever has `other`; undefined when it does not fit that. */
export function readDelta(delta: Buffer, other: Buffer): Buffer | undefined {
  if (delta.length < HEAD_BYTES || toldBytes(delta, other.length) !== delta.readUInt32LE(0)) return undefined;
  const value = Buffer.allocUnsafe(delta.readUInt32LE(0));
  let filled = 0;
  for (let at = HEAD_BYTES; at < delta.length; at = ownEnd(delta, at)) {
    filled += delta.copy(value, filled, at + STEP_BYTES, ownEnd(delta, at));
    const from = delta.readUInt32LE(at + 4);
    filled += other.copy(value, filled, from, from + delta.readUInt32LE(at + 8));
  }
  return value;
}

/** How many bytes the steps tell; -1 when one reaches beyond the delta or the other value. */
function toldBytes(delta: Buffer, otherBytes: number): number {
  let told = 0;
  for (let at = HEAD_BYTES; at < delta.length; at = ownEnd(delta, at)) {
    if (at + STEP_BYTES > delta.length || ownEnd(delta, at) > delta.length) return -1;
    const alikeBytes = delta.readUInt32LE(at + 8);
    if (delta.readUInt32LE(at + 4) + alikeBytes > otherBytes) return -1;
    told += delta.readUInt32LE(at) + alikeBytes;
  }
  return told;
}

function ownEnd(delta: Buffer, step: number): number {
  return step + STEP_BYTES + delta.readUInt32LE(step);
}
