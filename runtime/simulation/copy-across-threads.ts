// What a message becomes on another thread, as the structured clone has it, in a fraction of its time: most messages are
// plain data, and the simulation sends little else.

/** A copy, in which shared memory stays shared. Throws DataCloneError for what cannot cross threads. */
export function copyAcrossThreads(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return isPlain(value) ? value : structuredClone(value);
  if (ArrayBuffer.isView(value)) return copyView(value);
  if (value instanceof SharedArrayBuffer) return value;
  if (Array.isArray(value)) return value.map(copyAcrossThreads);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  // Not by assignment: a member may be called `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyAcrossThreads(member)]));
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'function' && typeof value !== 'symbol';
}

/** Of the bytes that are looked at, not of the whole memory they lie in, which may be Node's pool. */
function copyView(view: ArrayBufferView): unknown {
  if (!(view instanceof Uint8Array)) return structuredClone(view);
  if (!(view.buffer instanceof SharedArrayBuffer)) return Uint8Array.from(view);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
