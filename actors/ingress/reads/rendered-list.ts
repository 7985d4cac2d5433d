// A list whose items do not go out as the bytes they are stored as: indented, as YAML, in a shape (Table, partial metadata),
// or of another version. A short one is one write. A long one is made in pieces, in the pool when it is large and the pool
// takes it, else here, in slices between which the thread serves others. Plain lists are list-body.ts.
import { JOB_BYTES_MIN, LIST_JOB, listInputOf } from '../../../rendering/jobs.ts';
import { itemCount, type ListEnvelope, type ListItems, storedItemBytes } from '../../../rendering/list.ts';
import { listPieces } from '../../../rendering/list-pieces.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { headersFor } from './answers.ts';
import { type LongWork, PieceAnswer } from './piece-answer.ts';
import type { Representation } from './representation.ts';

/** Up to both a list is one write. */
const WHOLE_ITEMS_MAX = 64;
const WHOLE_BYTES_MAX = 64 * 1024;

/** Sends the list; the items must lie still until this resolves. */
export async function sendRenderedList(
  exchange: Exchange,
  envelope: ListEnvelope,
  items: ListItems,
  { contentType, renderer }: Representation,
  work: LongWork,
): Promise<void> {
  const bytes = storedBytes(items, JOB_BYTES_MIN);
  const headers = headersFor(contentType);
  const pieces = (): Iterable<Uint8Array> => listPieces(envelope, items, renderer);
  if (itemCount(items) <= WHOLE_ITEMS_MAX && bytes <= WHOLE_BYTES_MAX) {
    exchange.answer(200, headers, Buffer.concat([...pieces()]));
    return;
  }
  const answer = new PieceAnswer(exchange, 200, headers);
  if (bytes >= JOB_BYTES_MIN && work.jobs.hasRoom && items.converted === undefined) {
    const { rendering, nowMs } = renderer;
    const input = { envelope, ...listInputOf(items), rendering, nowMs };
    await answer.fromJob(work, { job: LIST_JOB, input, here: pieces });
  } else await answer.inSlices(pieces(), work.pause);
}

/** Of all items together, or of enough of them to be more than `bytesMax`. */
function storedBytes(items: ListItems, bytesMax: number): number {
  let bytes = 0;
  for (let i = 0; i < itemCount(items) && bytes < bytesMax; i++) bytes += storedItemBytes(items, i);
  return bytes;
}
