// get and list: ask the hub where the bytes lie, and send them.

import type { JsonObject } from '../../../api/json-value.ts';
import type { ResourceRequestInfo } from '../../../api/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { notFound, timeout } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { viewOf } from '../../../api/subresource-views.ts';
import type { ListEnvelope } from '../../../rendering/list.ts';
import type { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { JobPool } from '../../../runtime/job-pool.ts';
import { decodeRecord } from '../../../storage/record-reading.ts';
import type { Slab } from '../../../storage/slab-record.ts';
import type { ThreadSlabs } from '../../../storage/thread-slabs.ts';
import type { HubProtocol, ListAnswer } from '../../hub/protocol.ts';
import { PatientTells } from '../../patient-tells.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { PublishedPlace } from '../../store/protocol.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { headersFor, sendMessage } from './answers.ts';
import { streamList, wholeList } from './list-body.ts';
import { sendProtobufList } from './protobuf-list.ts';
import { getFreshness, listQuery } from './read-parameters.ts';
import { sendRenderedList } from './rendered-list.ts';
import { sendRenderedObject, sendStored } from './rendered-object.ts';
import type { Representation } from './representation.ts';

export interface ReadParts {
  readonly hub: Ref<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly records: ProtobufRecords;
  readonly requestTimeoutMs: number;
  readonly metaGroup: string;
  readonly timers: Timers;
  /** Lets the thread serve others in the middle of long work. */
  readonly pause: () => Promise<void>;
  readonly jobs: JobPool;
}

const ANSWER_LOST = 'the write is done, its answer is not';

export class Reads {
  readonly #parts: ReadParts;
  readonly #releases: PatientTells<HubProtocol>;

  constructor(parts: ReadParts) {
    this.#parts = parts;
    this.#releases = new PatientTells(parts.hub, parts.timers);
  }

  async get(
    exchange: Exchange,
    info: ResourceRequestInfo,
    type: KnownType,
    representation: Representation,
  ): Promise<void> {
    const { hub, requestTimeoutMs, slabs } = this.#parts;
    const { namespace, name, subresource } = info;
    const answer = await hub.ask(
      { type: 'get', storageKey: type.storageKey, namespace, name, freshness: getFreshness(exchange.query) },
      { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    if (answer.refused !== undefined)
      throw new StatusError(refusalStatus(answer, exchange.query.get('resourceVersion')));
    if (answer.place === null) throw new StatusError(notFound(type, name));
    const slab = slabs.slab(answer.place);
    const { offset } = answer.place;
    const view = viewOf(subresource, type);
    await (view === undefined
      ? this.#sendRecord(exchange, 200, slab, offset, representation)
      : this.sendObject(exchange, 200, view.of(shownOf(type, decodeRecord(slab, offset))), representation));
  }

  /** Answers with an object that was just written. */
  async sendWritten(
    exchange: Exchange,
    code: number,
    place: PublishedPlace,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> {
    const { hub, requestTimeoutMs, slabs } = this.#parts;
    if (!slabs.holds(place)) {
      // The store's answer came before its publication, which brings the slab.
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
    await this.#sendRecord(exchange, code, slabs.slab(place), place.offset, representation, warnings);
  }

  /** Answers with an object of the version asked for that is not stored, or not like this. */
  sendObject(
    exchange: Exchange,
    code: number,
    object: object,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> | undefined {
    return sendRenderedObject(exchange, code, object, representation, this.#parts, warnings);
  }

  /** A stored object as it is asked for. */
  #sendRecord(
    exchange: Exchange,
    code: number,
    slab: Slab,
    offset: number,
    representation: Representation,
    warnings?: readonly string[],
  ): Promise<void> | undefined {
    const { rendering } = representation;
    if (rendering.encoding !== 'protobuf') {
      return sendStored(exchange, code, slab, offset, representation, this.#parts, warnings);
    }
    const messages = this.#parts.records.of(rendering);
    sendMessage(exchange, code, messages.envelope, messages.bytes(slab, offset), representation, warnings);
    return undefined;
  }

  async list(
    exchange: Exchange,
    info: ResourceRequestInfo,
    type: KnownType,
    representation: Representation,
  ): Promise<void> {
    const { hub, requestTimeoutMs, metaGroup, slabs, timers } = this.#parts;
    const query = listQuery(info, type, exchange.query, metaGroup);
    const answer = await hub.ask(
      { type: 'list', ...query },
      { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    if (answer.refused !== undefined)
      throw new StatusError(refusalStatus(answer, exchange.query.get('resourceVersion')));
    // Until the list is out, the store gives back nothing of what has died since: a client that stops reading is cut off.
    const patience = timers.after(requestTimeoutMs, () => exchange.response.abort());
    try {
      await this.#send(exchange, type, representation, answer, slabs.ofStore(answer.incarnation).byNumber);
    } finally {
      patience.cancel();
      if (answer.pin !== 0) this.#releases.tell<'release'>({ type: 'release', pin: answer.pin });
    }
  }

  async #send(
    exchange: Exchange,
    type: KnownType,
    representation: Representation,
    answer: ListAnswer,
    slabs: readonly (Slab | undefined)[],
  ): Promise<void> {
    const { revision, continueToken, remaining, places } = answer;
    const envelope: ListEnvelope = {
      apiVersion: type.apiVersion,
      listKind: type.listKind,
      revision,
      continueToken,
      remaining,
    };
    const items = { places, slabs, areWhole: type.custom !== undefined };
    const { rendering, renderer } = representation;
    if (rendering.encoding === 'protobuf') {
      await sendProtobufList(exchange, envelope, items, representation, this.#parts.records, this.#parts.pause);
      return;
    }
    if (rendering.pretty || !renderer.keepsStoredItems) {
      await sendRenderedList(exchange, envelope, items, representation, this.#parts);
      return;
    }
    const whole = wholeList(envelope, items);
    const headers = headersFor(representation.contentType);
    if (whole !== undefined) {
      exchange.answer(200, headers, whole);
      return;
    }
    exchange.start(200, headers);
    await streamList(envelope, items, exchange.response);
  }
}

/** A stored object of a type as its subresources look at it. */
function shownOf({ custom }: KnownType, object: JsonObject): JsonObject {
  return custom?.needsForm === true ? custom.inVersion(object) : object;
}
