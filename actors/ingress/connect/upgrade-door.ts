// The way in for clients whose streams are of another protocol than WebSocket (SPDY/3.1: kubectl's before 1.30, and what later
// ones fall back to), where the listener can hand over no connection: a listener of Node's on a port of its own, opened with
// the first such request. Whoever was admitted is redirected there with a ticket; without one it serves nobody.
import type { User } from '../../../api/authorization/attributes.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Random, Timers } from '../../../runtime/environment.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { Lazy } from '../../../runtime/lazy.ts';
import type { HttpRequest, HttpResponse, Listener, RequestHandler } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { headersFor } from '../reads/answers.ts';

/** Between a redirection and the client's coming. */
const TICKET_MS = 30_000;
/** Tickets that are out: what is more is told to come back. */
const TICKETS_MAX = 1000;
/** Nobody can guess one in the time that it holds. */
const TICKET_BYTES = 24;
const FOUND = 302;
const NOT_FOUND = 404;
/** Name or address of a Host header, with the brackets of IPv6. */
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]/?#@\s]+)(?::\d+)?$/;

/** What a request was admitted with. */
export interface Invitation {
  readonly info: ResourceRequestInfo;
  readonly verb: string;
  /** As it was sent at first, without the query. */
  readonly path: string;
  readonly query: string;
  readonly user: User;
  readonly impersonator: User | undefined;
}

export interface DoorParts {
  readonly open: (handler: RequestHandler) => Promise<Listener>;
  readonly isTls: boolean;
  readonly random: Random;
  readonly timers: Timers;
  /** Serves who has come with a ticket. */
  readonly serve: (request: HttpRequest, response: HttpResponse, invitation: Invitation) => void;
}

export class UpgradeDoor {
  readonly #parts: DoorParts;
  readonly #tickets = new Map<string, Invitation>();
  readonly #listener: Lazy<Listener>;
  #isClosed = false;

  constructor(parts: DoorParts) {
    this.#parts = parts;
    this.#listener = new Lazy(() => parts.open((request, response) => this.#receive(request, response)));
  }

  /**
   * Sends a client to the door, to ask for the same there. Throws StatusError 400 where it does not say what it calls this
   * server, OrchError Overloaded, and what keeps the listener from opening.
   */
  async redirect(exchange: Exchange, info: ResourceRequestInfo): Promise<void> {
    const { random, timers, isTls } = this.#parts;
    const { request, verb, user, impersonator } = exchange;
    const host = HOST.exec(request.header('host'))?.[1];
    if (host === undefined) throw new StatusError(badRequest('the request has no Host header to redirect by'));
    if (this.#tickets.size >= TICKETS_MAX) throw new OrchError('Overloaded', 'too many clients are being redirected');
    const { port } = await this.#opened();
    const ticket = Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url');
    const { query } = request;
    this.#tickets.set(ticket, { info, verb, path: exchange.path, query, user, impersonator });
    timers.after(TICKET_MS, () => this.#tickets.delete(ticket));
    const location = `${isTls ? 'https' : 'http'}://${host}:${port}/${ticket}${query === '' ? '' : `?${query}`}`;
    const headers = [...headersFor('text/plain'), ['Location', location] as const];
    exchange.answer(
      FOUND,
      headers,
      'this stream goes on at another port: follow the redirection, or use a WebSocket\n',
    );
  }

  /** For good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#tickets.clear();
    await (await this.#listener.present())?.close();
  }

  async #opened(): Promise<Listener> {
    const listener = await this.#listener.get();
    // The thread cannot end with it open.
    if (this.#isClosed) await listener.close();
    return listener;
  }

  #receive(request: HttpRequest, response: HttpResponse): void {
    const ticket = request.path.slice(1);
    const invitation = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (invitation === undefined) response.respond(NOT_FOUND, headersFor('text/plain'), 'this ticket does not hold\n');
    else this.#parts.serve(request, response, invitation);
  }
}
