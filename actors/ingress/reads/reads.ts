// get and list: ask the hub where the bytes lie, and send them.

import type { JsonObject } from '../../../api/json/json-value.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { notFound, timeout } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { missingName, viewOf } from '../../../api/subresource-views.ts';
import {
  areItemsAsAsked,
  decodedItem,
  itemCount,
  type ListEnvelope,
  type ListItems,
  storedItem,
  storedItemBytes,
} from '../../../rendering/list.ts';
import type { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import { isAsAsked } from '../../../rendering/rendering.ts';
import type { ValueList } from '../../../rendering/value-pieces.ts';
import type { Ref, ReplyTo } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { JobPool } from '../../../runtime/jobs/job-pool.ts';
import type { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import type { HeapShare } from '../../../runtime/memory/heap-share.ts';
import { ownTurn } from '../../../runtime/next-turn.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { decodeStored } from '../../../storage/forms/stored-json.ts';
import { copyOfBody, decodeRecord, withBody } from '../../../storage/records/record-reading.ts';
import type { Slab } from '../../../storage/records/slab-record.ts';
import type { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import type { HubProtocol, ListAnswer } from '../../hub/protocol.ts';
import { PatientTells } from '../../patient-tells.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { PublishedPlace } from '../../store/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';
import {
  type ConvertedSize,
  convertedSize,
  convertedTogether,
  NOTHING_CONVERTED,
  type OutsideConversion,
} from '../outside-conversion.ts';
import type { AnswerForm, AnswerForms } from './answer-forms.ts';
import { inTime } from './answer-time.ts';
import { headersFor, sendMessage } from './answers.ts';
import { streamList, wholeList } from './list-body.ts';
import type { LongWork } from './piece-answer.ts';
import { sendProtobufList } from './protobuf-list.ts';
import { getFreshness, listQuery } from './read-parameters.ts';
import { sendRenderedList } from './rendered-list.ts';
import { sendListValue, sendRenderedObject, sendStored } from './rendered-object.ts';
import { type Representation, unconverted } from './representation.ts';

export interface ReadParts {
  readonly hub: Ref<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly records: ProtobufRecords;
  readonly requestTimeoutMs: number;
  readonly metaGroup: string;
  readonly timers: Timers;
  readonly jobs: JobPool;
  /** For large objects that are rendered. */
  readonly heapRoom: HeapRoom;
  readonly conversion: OutsideConversion;
  readonly forms: AnswerForms;
  /** Absent: lists come in chunks where that is asked for, and say how much is left. */
  readonly paging?: ListPaging;
}

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
const ANSWER_LOST = 'the write is done, its answer is not';

export class Reads {
  readonly #parts: ReadParts;
  readonly #work: LongWork;
  readonly #releases: PatientTells<HubProtocol>;

  constructor(parts: ReadParts) {
    const { timers, jobs, heapRoom } = parts;
    this.#parts = parts;
    // One long answer goes on in a turn, however many there are: hundreds of lists, each with a piece, would hold the thread up for seconds.
    this.#work = { pause: () => ownTurn(timers), jobs, heapRoom };
    this.#releases = new PatientTells(parts.hub, parts.timers);
  }

  get(exchange: Exchange, info: ResourceRequestInfo, form: AnswerForm): Soon<void> {
    const { hub, requestTimeoutMs } = this.#parts;
    const { namespace, name } = info;
    const asking = hub.askSoon(
      { type: 'get', storageKey: form.type.storageKey, namespace, name, freshness: getFreshness(exchange.query) },
      { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    return whenThere(asking, (answer) => this.#answerGet(exchange, info, form, answer));
  }

  #answerGet(
    exchange: Exchange,
    { namespace, name, subresource }: ResourceRequestInfo,
    form: AnswerForm,
    answer: ReplyTo<HubProtocol, 'get'>,
  ): Soon<void> {
    const { slabs, forms } = this.#parts;
    const place = foundPlace(exchange, form.type, { name, subresource }, answer);
    const { type, representation } = forms.now(exchange, form);
    const slab = slabs.slab(place);
    const { offset } = place;
    const view = viewOf(subresource, type);
    if (view === undefined) {
      const isOutside = type.custom?.mayBeOutside === true && !isAsAsked(representation.rendering, slab, offset);
      if (isOutside)
        return this.#sendConverted(
          exchange,
          { namespace, name },
          form,
          withBody(slab, offset, convertedSize, undefined, undefined, undefined),
        );
      return this.#sendRecord(exchange, 200, slab, offset, type, representation);
    }
    return this.#shownInRoom(exchange, type, slab, offset).then((object) => {
      view.requireReadable?.(object);
      return this.sendObject(exchange, 200, view.of(object), representation);
    });
  }

  /** Converts an object once there is room for it, as it is then. */
  async #sendConverted(
    exchange: Exchange,
    { namespace, name }: Named,
    form: AnswerForm,
    size: ConvertedSize,
  ): Promise<void> {
    const { hub, slabs, forms, requestTimeoutMs: deadlineMs, conversion } = this.#parts;
    const { requestNumber, query } = exchange;
    const freshness = getFreshness(query);
    const { shown, representation } = await conversion.whenThereIsRoom(size, async () => {
      const { storageKey } = form.type;
      const asked = { type: 'get', storageKey, namespace, name, freshness } as const;
      const answer = await hub.ask(asked, { deadlineMs, requestNumber });
      const place = foundPlace(exchange, form.type, { name, subresource: '' }, answer);
      const { type, representation } = forms.now(exchange, form);
      const object = decodeRecord(slabs.slab(place), place.offset);
      return { shown: await this.#shown(exchange, type, object), representation };
    });
    await this.sendObject(exchange, 200, shown, representation);
  }

  /** An object, as its record has it in this turn, in the version of the type. */
  #shownInRoom(exchange: Exchange, type: KnownType, slab: Slab, offset: number): Promise<JsonObject> {
    if (type.custom?.mayBeOutside !== true) return this.#shown(exchange, type, decodeRecord(slab, offset));
    const json = copyOfBody(slab, offset);
    return this.#parts.conversion.whenThereIsRoom(convertedSize(json), () =>
      this.#shown(exchange, type, decodeStored(json)),
    );
  }

  /** A stored object in the version of the type. */
  async #shown({ requestNumber }: Exchange, type: KnownType, object: JsonObject): Promise<JsonObject> {
    const { custom } = type;
    if (custom?.needsForm !== true) return object;
    if (!custom.isConvertedOutside(object)) return custom.inVersion(object);
    const [converted] = await this.#parts.conversion.into(type, [object], requestNumber);
    return converted!;
  }

  /** Answers with an object that was just written. */
  sendWritten(
    exchange: Exchange,
    code: number,
    place: PublishedPlace,
    form: AnswerForm,
    warnings?: readonly string[],
  ): Soon<void> {
    const { slabs, forms } = this.#parts;
    const send = (): Soon<void> => {
      const { type, representation } = forms.now(exchange, form);
      return this.#sendRecord(exchange, code, slabs.slab(place), place.offset, type, representation, warnings);
    };
    const isHere = slabs.holds(place) && !mayHaveChanged(form, slabs.slab(place), place.offset);
    return isHere ? send() : this.#reached(exchange, place).then(send);
  }

  /** The store's answer came before its publication, which brings the slab, and the definitions that there were before. */
  async #reached(exchange: Exchange, place: PublishedPlace): Promise<void> {
    const { hub, requestTimeoutMs, slabs } = this.#parts;
    const reached = await hub
      .ask(
        { type: 'reach', revision: place.revision },
        { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
      )
      .catch((error: unknown) => {
        // `Overloaded` would tell the client that nothing was done.
        throw isOrchError(error, 'Overloaded') ? new StatusError(timeout(ANSWER_LOST)) : error;
      });
    if (reached.refused !== undefined)
      throw new StatusError(refusalStatus(reached, exchange.query.get('resourceVersion')));
    // The store restarted meanwhile: its successor has put the object elsewhere.
    if (!slabs.holds(place)) throw new StatusError(timeout(ANSWER_LOST));
  }

  /** Answers with an object of the version asked for that is not stored, or not like this. */
  sendObject(
    exchange: Exchange,
    code: number,
    object: object,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> | undefined {
    return this.#inTime(exchange, sendRenderedObject(exchange, code, object, representation, this.#work, warnings));
  }

  /** Answers with a list of objects of the version asked for that was put together for it. */
  sendList(
    exchange: Exchange,
    list: ValueList,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> | undefined {
    return this.#inTime(exchange, sendListValue(exchange, list, representation, this.#work, warnings));
  }

  /** What has not been sent in its turn. */
  #inTime(exchange: Exchange, sending: Promise<void> | undefined): Promise<void> | undefined {
    return sending && inTime(sending, exchange, this.#parts.timers, this.#parts.requestTimeoutMs);
  }

  /** A stored object as it is asked for. */
  #sendRecord(
    exchange: Exchange,
    code: number,
    slab: Slab,
    offset: number,
    type: KnownType,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> | undefined {
    const { rendering } = representation;
    if (rendering.encoding !== 'protobuf' && isAsAsked(rendering, slab, offset)) {
      const plain = unconverted(representation);
      return this.#inTime(exchange, sendStored(exchange, code, slab, offset, plain, this.#work, warnings));
    }
    if (type.custom?.mayBeOutside === true && !isAsAsked(rendering, slab, offset)) {
      return this.#shownInRoom(exchange, type, slab, offset).then((shown) =>
        this.sendObject(exchange, code, shown, representation, warnings),
      );
    }
    if (rendering.encoding !== 'protobuf') {
      return this.#inTime(exchange, sendStored(exchange, code, slab, offset, representation, this.#work, warnings));
    }
    const messages = this.#parts.records.of(rendering);
    sendMessage(exchange, code, messages.envelope, messages.bytes(slab, offset), representation, warnings);
    return undefined;
  }

  async list(exchange: Exchange, info: ResourceRequestInfo, form: AnswerForm): Promise<void> {
    const { hub, requestTimeoutMs, metaGroup, slabs, timers, forms, conversion } = this.#parts;
    const wanted = listQuery(info, form.type, exchange.query, metaGroup);
    const query = this.#parts.paging?.chunks === false ? { ...wanted, limit: 0, continueToken: '' } : wanted;
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
    const remaining = this.#parts.paging?.remaining === false ? undefined : answer.remaining;
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

type Named = Pick<ResourceRequestInfo, 'namespace' | 'name'>;

/** Of all items of a list, as they are stored. */
function bytesOf(items: ListItems): number {
  let bytes = 0;
  for (let index = 0; index < itemCount(items); index++) bytes += storedItemBytes(items, index);
  return bytes;
}

/** Where the object lies. Throws what the client is told where there is none. */
function foundPlace(
  { query }: Exchange,
  type: KnownType,
  { name, subresource }: Pick<ResourceRequestInfo, 'name' | 'subresource'>,
  answer: ReplyTo<HubProtocol, 'get'>,
): PublishedPlace {
  if (answer.refused !== undefined) throw new StatusError(refusalStatus(answer, query.get('resourceVersion')));
  if (answer.place === null) throw new StatusError(notFound(missingName(type, subresource), name));
  return answer.place;
}

/** True for an object that is not of the edition of its definition that the answer would be made by. */
function mayHaveChanged({ type, representation }: AnswerForm, slab: Slab, offset: number): boolean {
  return type.custom?.needsForm === true && !isAsAsked(representation.rendering, slab, offset);
}
