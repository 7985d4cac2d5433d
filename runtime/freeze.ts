// Makes a message what it would be on the far side of a thread: nobody's to change, and plain data only. For tests: a
// message that passes here can cross a thread, and an actor that keeps changing what it sent is found out.

const PLAIN_PROTOTYPES: readonly unknown[] = [Object.prototype, Array.prototype, null];

/** What has been frozen throughout already: a message forwarded is not walked again. */
const frozen = new WeakSet<object>();

/** Things that cross a thread as they are and cannot be frozen, or need not be. */
function isOpaque(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof SharedArrayBuffer ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Date
  );
}

/**
 * Freezes plain data throughout; bytes and buffers stay as they are. Throws a TypeError for what cannot cross a thread
 * unchanged: functions, symbols, instances of classes.
 */
export function deepFreeze(value: unknown): void {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const one = waiting.pop();
    if (typeof one === 'function' || typeof one === 'symbol') throw notPlain(typeof one);
    if (typeof one !== 'object' || one === null || frozen.has(one) || isOpaque(one)) continue;
    if (!PLAIN_PROTOTYPES.includes(Object.getPrototypeOf(one))) throw notPlain(one.constructor.name);
    frozen.add(Object.freeze(one));
    for (const child of Object.values(one)) waiting.push(child);
  }
}

function notPlain(what: string): TypeError {
  return new TypeError(`a message holds a ${what}, which cannot cross a thread`);
}
