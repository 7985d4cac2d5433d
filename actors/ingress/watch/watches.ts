// Open watches on this thread's sockets: starts their responses, writes the hub's chunks to them, and tells the hub which
// sockets are full. Knows nothing of selections; a chunk comes ready to send.
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import { expired, internalError } from '../../../api/status/failures.ts';
import { isStatusError, type Status, StatusError } from '../../../api/status/status.ts';
import { watchEventFrame } from '../../../rendering/watch-event.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { nextTurn } from '../../../runtime/next-turn.ts';
import type { HttpResponse } from '../../../transport/http.ts';
import type { HubProtocol, WatchDeliveryTells, WatchQuery } from '../../hub/protocol.ts';
import { PatientTells } from '../../patient-tells.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { Exchange, OngoingAnswer } from '../exchange/exchange.ts';
import type { OutsideConversion } from '../outside-conversion.ts';
import type { AnswerForm, AnswerForms } from '../reads/answer-forms.ts';
import { headersFor } from '../reads/answers.ts';
import { watchStart } from '../reads/read-parameters.ts';
import type { Representation } from '../reads/representation.ts';
import { ChunkConversion, OutsideEvents, storedRendering } from './outside-events.ts';
import { RecentConversions } from './recent-conversions.ts';
import { webSocketOffer } from './web-socket-offer.ts';

const NOTHING = (): void => {};
/** How long the hub may take to say that it has sent everything. */
const FLUSH_MS = 1000;

/** What is kept of an open watch: there may be tens of thousands, so that all else of its request is let go. */
interface OpenWatch extends OngoingAnswer {
  readonly id: number;
  readonly response: HttpResponse;
  /** Until the answer begins. */
  opening: Opening | undefined;
  /** Chunks are dropped until the socket drains, and the hub replays them from where it stopped. */
  full: boolean;
  /** How often the hub was told that the socket is full. */
  parks: number;
  /** How many of those the hub had heard when it sent what was written last; until it has heard all, nothing else is. */
  parksHeard: number;
  isEnded: boolean;
  /** Where a webhook converts the objects; a chunk that is being converted holds the watch back like a full socket. */
  readonly outside: OutsideEvents | undefined;
}

/** What it takes to begin the answer. */
interface Opening {
  readonly exchange: Exchange;
  readonly representation: Representation;
  /** To be called when there is news of the socket: it is gone, or takes more. */
  readonly heard: () => void;
}

/** What is done with a chunk that comes: written, or dropped because it will be replayed. */
export type SocketState = 'taking' | 'full' | 'deaf' | 'gone';

export interface WatchParts {
  readonly context: ActorContext;
  readonly hub: Ref<HubProtocol>;
  readonly conversion: OutsideConversion;
  readonly forms: AnswerForms;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  readonly metaGroup: string;
  readonly schema: () => Schema;
  /** What a WebSocket's bearer token is offered behind, as one of its protocols. */
  readonly bearerPrefix: string;
}

export class Watches {
  readonly #parts: WatchParts;
  /** What the hub does not hear of a socket, its watcher would wait for without end. */
  readonly #news: PatientTells<HubProtocol>;
  readonly #open = new Map<number, OpenWatch>();
  readonly #recent: RecentConversions;
  #nextId = 1;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#news = new PatientTells(parts.hub, parts.context.timers);
    this.#recent = new RecentConversions(parts.conversion, parts.context.clock);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Where an open watch stands, as docs/WATCHES.md has it. */
  stateOf(id: number): SocketState {
    const watch = this.#open.get(id);
    if (watch === undefined) return 'gone';
    if (watch.full) return 'full';
    return watch.parksHeard === watch.parks ? 'taking' : 'deaf';
  }

  /** Opens a watch, which then goes on by itself. Throws what it is refused with. */
  async serve(exchange: Exchange, info: ResourceRequestInfo, { type, representation }: AnswerForm): Promise<void> {
    const query = this.#query(exchange, info, type, representation);
    const watch = this.#opened(query.watcher, exchange, type, representation);
    try {
      const answer = await this.#parts.hub.ask(
        { type: 'watch', ...query },
        { deadlineMs: this.#parts.requestTimeoutMs, requestNumber: exchange.requestNumber },
      );
      // Clients of watches look for this one among the events.
      if (answer.refused === 'expired')
        this.#endWith(query, expired(exchange.query.get('resourceVersion') ?? '', answer.oldestRevision));
      else if (answer.refused !== undefined)
        throw new StatusError(refusalStatus(answer, exchange.query.get('resourceVersion')));
      // Its client went while the hub waited to open it: what the hub heard of that came too early.
      else if (!this.#open.has(watch.id)) this.#tellClosed(watch);
    } catch (error) {
      this.#open.delete(watch.id);
      throw error;
    }
    if (this.#open.has(watch.id)) {
      this.#start(watch);
      // Opened behind a change of the definition, by what was known before: the client opens the next one.
      if (this.#parts.forms.isOutdated(type)) this.#cut(watch);
    }
    exchange.ongoing = watch;
  }

  #outside({ requestNumber }: Exchange, type: KnownType, { rendering }: Representation): OutsideEvents | undefined {
    const isOutside = type.custom?.mayBeOutside === true;
    return isOutside ? new OutsideEvents(type, rendering, this.#parts.schema, requestNumber) : undefined;
  }

  #opened(id: number, exchange: Exchange, type: KnownType, representation: Representation): OpenWatch {
    const { response } = exchange;
    const watch: OpenWatch = {
      id,
      response,
      opening: undefined,
      full: false,
      parks: 0,
      parksHeard: 0,
      isEnded: false,
      outside: this.#outside(exchange, type, representation),
      onEnded: NOTHING,
    };
    // One for both, and half the bytes of a closure.
    const heard = this.#heard.bind(this, watch);
    watch.opening = { exchange, representation, heard };
    this.#open.set(id, watch);
    response.onAborted(heard);
    return watch;
  }

  #heard(watch: OpenWatch): void {
    if (watch.response.aborted) this.#close(watch);
    else this.#drained(watch);
  }

  /** One chunk for many watchers. */
  frames({ watchers, chunk, throughRevision, catchUp, parks }: WatchDeliveryTells['watchFrames']): void {
    let conversion: ChunkConversion | undefined;
    for (const id of watchers) {
      const watch = this.#open.get(id);
      if (watch === undefined || watch.full) continue;
      if (catchUp) watch.parksHeard = parks;
      // Sent before the hub heard of the full socket: it will be replayed.
      if (watch.parksHeard !== watch.parks || chunk.byteLength === 0) continue;
      if (watch.outside !== undefined) {
        conversion ??= new ChunkConversion(this.#recent, chunk);
        this.#convert(watch, watch.outside, conversion);
        if (!catchUp) this.#park(watch, throughRevision);
        continue;
      }
      this.#start(watch);
      if (watch.response.write(chunk, watchers.length > 1)) {
        if (catchUp) this.#news.tell<'watchReady'>({ type: 'watchReady', watcher: id });
        continue;
      }
      watch.full = true;
      // After a catch-up chunk the hub waits for `watchReady` anyway.
      if (catchUp) continue;
      this.#park(watch, throughRevision);
    }
  }

  #park(watch: OpenWatch, deliveredRevision: number): void {
    watch.parks++;
    this.#news.tell<'watchParked'>({ type: 'watchParked', watcher: watch.id, deliveredRevision });
  }

  /** Writes a chunk when its objects are converted. Until then the watch takes nothing else: the hub replays it. */
  #convert(watch: OpenWatch, outside: OutsideEvents, conversion: ChunkConversion): void {
    watch.full = true;
    outside.isConverting = true;
    const { clock } = this.#parts.context;
    conversion
      .into(outside)
      .then((events) => this.#converted(watch, outside, outside.written(events, clock.nowMs())))
      .catch((error: unknown) => this.#unconverted(watch, outside, error));
  }

  #converted(watch: OpenWatch, outside: OutsideEvents, chunk: Uint8Array): void {
    outside.isConverting = false;
    if (!this.#open.has(watch.id)) return;
    this.#start(watch);
    const isTaken = watch.response.write(chunk);
    const { ending } = outside;
    if (ending !== undefined) this.#finish(watch, ending.byteLength > 0 ? ending : undefined);
    else if (isTaken) this.#drained(watch);
  }

  /** The watch ends with the reason: what could not be shown must not be left out. */
  #unconverted(watch: OpenWatch, outside: OutsideEvents, error: unknown): void {
    outside.isConverting = false;
    if (!this.#open.has(watch.id)) return;
    const status = isStatusError(error) ? error.status : internalError('the objects could not be converted');
    this.#tellClosed(watch);
    this.#start(watch);
    this.#finish(watch, watchEventFrame('ERROR', status, outside.rendering.encoding, this.#parts.schema));
  }

  /** The hub ends watches, with a last chunk. */
  end({ watchers, chunk }: WatchDeliveryTells['watchEnded']): void {
    for (const id of watchers) {
      const watch = this.#open.get(id);
      if (watch === undefined) continue;
      const { outside } = watch;
      const last = outside?.withoutObjects(chunk, this.#parts.context.clock.nowMs()) ?? chunk;
      if (outside?.isConverting === true) {
        outside.ending = last;
        continue;
      }
      this.#start(watch);
      this.#finish(watch, last.byteLength > 0 ? last : undefined);
    }
  }

  /** Resolves when the watches have been written the events of all that is committed; also where the hub does not answer. */
  async catchUp(): Promise<void> {
    if (this.#open.size === 0) return;
    const { hub, context } = this.#parts;
    await hub.ask({ type: 'flush' }, { deadlineMs: FLUSH_MS }).catch(NOTHING);
    // The chunks wait in this actor's mailbox already, to be handled in the turn of the event loop that comes.
    await nextTurn(context.timers);
  }

  /** Ends every watch between two events, as at shutdown: clients resume elsewhere from what they saw. */
  endAll(): void {
    for (const watch of this.#open.values()) {
      this.#start(watch);
      this.#cut(watch);
    }
  }

  #cut(watch: OpenWatch): void {
    this.#tellClosed(watch);
    this.#finish(watch);
  }

  #query(exchange: Exchange, info: ResourceRequestInfo, type: KnownType, { rendering }: Representation): WatchQuery {
    const start = watchStart(info, type, exchange.query, this.#parts.metaGroup);
    const { storageKey, namespace, labelSelector, fieldSelector } = start;
    const { timeoutSeconds, afterRevision, freshness, bookmarks, sendInitialEventsEnd } = start;
    return {
      storageKey,
      namespace,
      labelSelector,
      fieldSelector,
      afterRevision,
      freshness,
      bookmarks,
      sendInitialEventsEnd,
      watcher: this.#nextId++,
      rendering: type.custom?.mayBeOutside === true ? storedRendering(rendering) : rendering,
      timeoutMs: timeoutSeconds === undefined ? this.#chosenTimeoutMs() : timeoutSeconds * 1000,
    };
  }

  /** Between once and twice the least, so that watches opened together do not end together; whole seconds. 0 ends none. */
  #chosenTimeoutMs(): number {
    const { context, minRequestTimeoutMs } = this.#parts;
    if (minRequestTimeoutMs === 0) return Number.POSITIVE_INFINITY;
    return Math.ceil((minRequestTimeoutMs * (1 + context.random.next())) / 1000) * 1000;
  }

  #start(watch: OpenWatch): void {
    const { opening, response } = watch;
    if (opening === undefined) return;
    watch.opening = undefined;
    const { exchange, representation, heard } = opening;
    if (exchange.request.isWebSocket) {
      const { protocols } = webSocketOffer(exchange.request, this.#parts.bearerPrefix);
      exchange.startWebSocket(protocols[0] ?? '', representation.encoding === 'protobuf' ? 'lengths' : 'lines');
    } else {
      exchange.start(200, headersFor(representation.contentType));
    }
    response.onDrained(heard);
  }

  /** A watch that is over before its first event. */
  #endWith({ watcher, rendering }: WatchQuery, status: Status): void {
    const chunk = watchEventFrame('ERROR', status, rendering.encoding, this.#parts.schema);
    this.end({ watchers: [watcher], chunk });
  }

  #drained(watch: OpenWatch): void {
    if (!watch.full || watch.outside?.isConverting === true) return;
    watch.full = false;
    this.#news.tell<'watchReady'>({ type: 'watchReady', watcher: watch.id });
  }

  #finish(watch: OpenWatch, last?: Uint8Array): void {
    this.#open.delete(watch.id);
    watch.response.end(last);
    this.#ended(watch);
  }

  #close(watch: OpenWatch): void {
    if (!this.#open.delete(watch.id)) return;
    this.#tellClosed(watch);
    this.#ended(watch);
  }

  /** The hub is to forget it. */
  #tellClosed({ id }: OpenWatch): void {
    this.#news.tell<'watchClosed'>({ type: 'watchClosed', watcher: id });
  }

  #ended(watch: OpenWatch): void {
    watch.isEnded = true;
    watch.onEnded();
  }
}
