// A body as the chunks in which it comes. How small they are is the client's choice, long before anybody knows who it is, and an
// object for each would cost more than a hundred times its one byte: small ones are put together as they come.

/** No chunk is put together with others beyond this. */
const TOGETHER_BYTES_MAX = 4096;

/** Adds a chunk behind those that came before, which stay as they are or are put together with it. */
export function addChunk(chunks: Uint8Array[], chunk: Uint8Array): void {
  let added = chunk;
  // Never a larger one with a smaller: each byte is copied a few times, whatever the sizes.
  for (let before = chunks.at(-1); before !== undefined && isPutTogether(before, added); before = chunks.at(-1)) {
    added = wholeOf([before, added], before.length + added.length);
    chunks.pop();
  }
  chunks.push(added);
}

function isPutTogether(before: Uint8Array, chunk: Uint8Array): boolean {
  return before.length <= chunk.length && before.length + chunk.length <= TOGETHER_BYTES_MAX;
}

/** All of them, which are so many bytes, in a buffer of its own: a slice of a pool would carry the whole pool to another thread. */
export function wholeOf(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
