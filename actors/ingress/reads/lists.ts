// Lists of what is stored: asks the hub which records there are, and sends them as they lie or in the version and shape asked for. Until
// a list is out, the store keeps what it shows.

import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { timeout } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import {
  areItemsAsAsked,
  decodedItem,
  itemCount,
  type ListEnvelope,
  type ListItems,
  storedItem,
  storedItemBytes,
} from '../../../rendering/list.ts';
import type { HeapShare } from '../../../runtime/memory/heap-share.ts';
import type { HubProtocol, ListAnswer } from '../../hub/protocol.ts';
import { PatientTells } from '../../patient-tells.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { convertedSize, convertedTogether, NOTHING_CONVERTED } from '../outside-conversion.ts';
import type { AnswerForm } from './answer-forms.ts';
import { headersFor } from './answers.ts';
import { streamList, wholeList } from './list-body.ts';
import type { LongWork } from './piece-answer.ts';
import { sendProtobufList } from './protobuf-list.ts';
import { listQuery } from './read-parameters.ts';
import { longWorkOf, type ReadParts } from './read-parts.ts';
import { sendRenderedList } from './rendered-list.ts';
import { type Representation, unconverted } from './representation.ts';

/** The feature gates of lists. */
export interface ListPaging {
  /** APIListChunking. */
  readonly chunks: boolean;
  /** RemainingItemCount. */
  readonly remaining: boolean;
}

/** Of the items of a list, whichever comes first. */
const CONVERTED_AT_A_TIME = 256;
const CONVERTED_BYTES = 1024 * 1024;

export class Lists {
  readonly #parts: ReadParts;
  readonly #paging: ListPaging;
  readonly #work: LongWork;
  readonly #releases: PatientTells<HubProtocol>;

  constructor(parts: ReadParts, paging: ListPaging = { chunks: true, remaining: true }) {
    this.#parts = parts;
    this.#paging = paging;
    this.#work = longWorkOf(parts);
    this.#releases = new PatientTells(parts.hub, parts.timers);
  }

  async list(exchange: Exchange, info: ResourceRequestInfo, form: AnswerForm): Promise<void> {
    const { hub, requestTimeoutMs, metaGroup, slabs, timers, forms, conversion } = this.#parts;
    const wanted = listQuery(info, form.type, exchange.query, metaGroup);
    const query = this.#paging.chunks ? wanted : { ...wanted, limit: 0, continueToken: '' };
    const answer = await hub.ask(
      { type: 'list', ...query },
      { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    if (answer.refused !== undefined)
      throw new StatusError(refusalStatus(answer, exchange.query.get('resourceVersion')));
    try {
      const { type, representation } = forms.now(exchange, form);
      const { places, incarnation } = answer;
      const stored = { places, slabs: slabs.ofStore(incarnation).byNumber, areWhole: type.custom !== undefined };
      const { rendering } = representation;
      const mayBeOutside = type.custom?.mayBeOutside === true;
      const areAsAsked = (mayBeOutside || rendering.encoding !== 'protobuf') && areItemsAsAsked(rendering, stored);
      const isPlain = areAsAsked && rendering.encoding !== 'protobuf';
      const isOutside = mayBeOutside && !areAsAsked;
      const asked = isPlain ? unconverted(representation) : representation;
      const send = (items: ListItems): Promise<void> => {
        // Until the list is out, the store gives back nothing of what has died since: a client that stops reading is cut off.
        const patience = timers.after(requestTimeoutMs, () => exchange.cutOff());
        return this.#send(exchange, type, asked, answer, items).finally(() => patience.cancel());
      };
      if (!isOutside) await send(stored);
      else
        await conversion.keepingMany(bytesOf(stored), async (share) =>
          send(await this.#convertedItems(exchange, type, stored, share)),
        );
    } finally {
      if (answer.pin !== 0) this.#releases.tell<'release'>({ type: 'release', pin: answer.pin });
    }
  }

  async #send(
    exchange: Exchange,
    type: KnownType,
    representation: Representation,
    answer: ListAnswer,
    items: ListItems,
  ): Promise<void> {
    const { revision, continueToken } = answer;
    const remaining = this.#paging.remaining ? answer.remaining : undefined;
    const envelope: ListEnvelope = {
      apiVersion: type.apiVersion,
      listKind: type.listKind,
      revision,
      continueToken,
      remaining,
    };
    const { rendering, renderer } = representation;
    if (rendering.encoding === 'protobuf') {
      await sendProtobufList(exchange, envelope, items, representation, this.#parts.records, this.#work.pause);
      return;
    }
    if (items.converted !== undefined || rendering.pretty || !renderer.keepsStoredItems) {
      await sendRenderedList(exchange, envelope, items, representation, this.#work);
      return;
    }
    const whole = wholeList(envelope, items);
    const headers = headersFor(representation.contentType);
    if (whole !== undefined) {
      exchange.answer(200, headers, whole);
      return;
    }
    exchange.start(200, headers);
    await streamList(envelope, items, exchange, this.#work.pause);
  }

  /** The items in the version of the type: in batches, between which the thread serves others. */
  async #convertedItems(
    { requestNumber }: Exchange,
    type: KnownType,
    items: ListItems,
    share: HeapShare,
  ): Promise<ListItems> {
    const { conversion, requestTimeoutMs, timers } = this.#parts;
    let isLate = false;
    const patience = timers.after(requestTimeoutMs, () => {
      isLate = true;
    });
    const converted: Buffer[] = [];
    const count = itemCount(items);
    try {
      while (converted.length < count) {
        const from = converted.length;
        let to = from;
        let size = NOTHING_CONVERTED;
        for (; to < Math.min(count, from + CONVERTED_AT_A_TIME) && size.bytes < CONVERTED_BYTES; to++)
          size = convertedTogether(size, convertedSize(storedItem(items, to)));
        await conversion.someOfMany(share, size, async () => {
          const objects = Array.from({ length: to - from }, (_, index) => decodedItem(items, from + index));
          for (const object of await conversion.into(type, objects, requestNumber)) {
            await conversion.turn(size.bytes / objects.length);
            converted.push(Buffer.from(JSON.stringify(object)));
          }
        });
        if (isLate) throw new StatusError(timeout('the webhook of the definition takes too long to convert the list'));
        await this.#work.pause();
      }
    } finally {
      patience.cancel();
    }
    return { ...items, converted };
  }
}

/** Of all items of a list, as they are stored. */
function bytesOf(items: ListItems): number {
  let bytes = 0;
  for (let index = 0; index < itemCount(items); index++) bytes += storedItemBytes(items, index);
  return bytes;
}
