// A list in a shape of its own (Table, partial metadata), or of objects that are stored in another version. Each item has to
// be decoded, so a long list is made in slices between which the thread serves others. Plain lists are list-body.ts.
import type { JsonObject } from '../../../api/json-value.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { headersFor, sendValue } from './answers.ts';
import {
  convertedItem,
  decodedItem,
  type ListEnvelope,
  type ListItems,
  listMetadata,
  listOpening,
} from './list-body.ts';
import { pacedWriter } from './paced-writer.ts';
import type { Representation } from './representation.ts';

/** Items made in one turn: about two milliseconds of work. */
const SLICE_ITEMS = 64;

/** Sends the list. `pause` lets the thread do other work; the items must lie still until this resolves. */
export async function sendShapedList(
  exchange: Exchange,
  envelope: ListEnvelope,
  items: ListItems,
  representation: Representation,
  pause: () => Promise<void>,
): Promise<void> {
  const { contentType, encoding, pretty, renderer } = representation;
  const count = items.places.length >>> 1;
  if (encoding !== 'json' || pretty || renderer.reorders) {
    const objects: JsonObject[] = [];
    for (let i = 0; i < count; i++) {
      if (i > 0 && i % SLICE_ITEMS === 0) await pause();
      objects.push(decodedItem(items, i));
    }
    sendValue(exchange, 200, renderer.shapedList(objects, listMetadata(envelope)), representation);
    return;
  }
  // The items are the last member of an empty list: everything before its closing is the opening.
  const opening = JSON.stringify(renderer.shapedList([], listMetadata(envelope))).slice(0, -CLOSING.length);
  await sendItems(exchange, contentType, opening, items, (object) => renderer.shapedItem(object), pause);
}

/** Sends a list as JSON whose items have to be converted. `pause` as above. */
export function sendConvertedList(
  exchange: Exchange,
  envelope: ListEnvelope,
  items: ListItems,
  { contentType, renderer }: Representation,
  pause: () => Promise<void>,
): Promise<void> {
  const opening = listOpening(envelope).toString('utf8');
  return sendItems(exchange, contentType, opening, items, (object) => convertedItem(renderer, object), pause);
}

async function sendItems(
  exchange: Exchange,
  contentType: string,
  opening: string,
  items: ListItems,
  rendered: (object: JsonObject) => object,
  pause: () => Promise<void>,
): Promise<void> {
  const count = items.places.length >>> 1;
  const headers = headersFor(contentType);
  if (count <= SLICE_ITEMS) {
    exchange.answer(200, headers, `${opening}${slice(items, 0, count, rendered)}${CLOSING}\n`);
    return;
  }
  const { response } = exchange;
  exchange.start(200, headers);
  const write = pacedWriter(response);
  for (let from = 0; from < count && !response.aborted; from += SLICE_ITEMS) {
    if (from > 0) await pause();
    const to = Math.min(from + SLICE_ITEMS, count);
    const text = slice(items, from, to, rendered);
    await write(Buffer.from(from === 0 ? opening + text : `,${text}`));
  }
  if (response.aborted) return;
  await write(Buffer.from(`${CLOSING}\n`));
  response.end();
}

const CLOSING = ']}';

/** The items from one index up to another, joined by commas. */
function slice(items: ListItems, from: number, to: number, rendered: (object: JsonObject) => object): string {
  const texts: string[] = [];
  for (let i = from; i < to; i++) texts.push(JSON.stringify(rendered(decodedItem(items, i))));
  return texts.join(',');
}
