// What answers with one object: asks the hub where its bytes lie, and sends them; shows what was written, and what was put together
// for an answer. Lists of what is stored are lists.ts.

import type { JsonObject } from '../../../api/json/json-value.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { notFound, timeout } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { missingName, viewOf } from '../../../api/subresource-views.ts';
import { isAsAsked } from '../../../rendering/rendering.ts';
import type { ValueList } from '../../../rendering/value-pieces.ts';
import type { ReplyTo } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { decodeStored } from '../../../storage/forms/stored-json.ts';
import { copyOfBody, decodeRecord, withBody } from '../../../storage/records/record-reading.ts';
import type { Slab } from '../../../storage/records/slab-record.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { PublishedPlace } from '../../store/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type ConvertedSize, convertedSize } from '../outside-conversion.ts';
import type { AnswerForm } from './answer-forms.ts';
import { inTime } from './answer-time.ts';
import { sendMessage } from './answers.ts';
import type { LongWork } from './piece-answer.ts';
import { getFreshness } from './read-parameters.ts';
import { longWorkOf, type ReadParts } from './read-parts.ts';
import { sendListValue, sendRenderedObject, sendStored } from './rendered-object.ts';
import { type Representation, unconverted } from './representation.ts';

const ANSWER_LOST = 'the write is done, its answer is not';

export class Reads {
  readonly #parts: ReadParts;
  readonly #work: LongWork;

  constructor(parts: ReadParts) {
    this.#parts = parts;
    this.#work = longWorkOf(parts);
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
}

type Named = Pick<ResourceRequestInfo, 'namespace' | 'name'>;

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
