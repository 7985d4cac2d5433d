// Memory in which long answers are put together, a piece at a time. Whoever sends a piece has it read before the call returns
// (HttpResponse), so that one room serves an answer after another: memory of its own for each would be mapped, faulted in and
// collected, and V8 marks its whole heap for every few dozen megabytes of that, which can take more CPU than all else of a list.

/** Bytes of one piece. */
export const PIECE_BYTES = 256 * 1024;
/** Room for a piece, and for what comes before the first item of a list. */
const ROOM_BYTES = PIECE_BYTES + 16 * 1024;

/** The room of the answer that was out last. */
let spare: Buffer | undefined;

/** A room for what is put together and sent in the same turn. */
export function roomOfThisTurn(): Buffer {
  spare ??= Buffer.allocUnsafeSlow(ROOM_BYTES);
  return spare;
}

/** Lends a room until `use` has ended. */
export async function withRoom(use: (room: Buffer) => Promise<void>): Promise<void> {
  const room = roomOfThisTurn();
  spare = undefined;
  try {
    await use(room);
  } finally {
    spare = room;
  }
}
