// The connections to a service and those that are kept for the next request: so many to a place, for so long. A call has a
// deadline for everything together, and is never pipelined.
import type { Answer } from './answer-parser.ts';
import { type Call, Connection, type ConnectionOwner } from './connection.ts';
import type { ConnectionOpener, Place, Standing } from './open-connection.ts';
import { anew, REDIRECTIONS_MAX, redirectedTo } from './redirection.ts';

/** Connections to one place; further calls wait. */
const CONNECTIONS_MAX = 256;
const IDLE_MAX = 64;
const IDLE_MS = 90_000;
const SWEEP_MS = 15_000;
/** A service that says how long it keeps a connection may close it as the next request is on its way. */
const MARGIN_MS = 1000;

/** There was no answer in time. */
export class TooLate extends Error {}

export interface PooledRequest {
  readonly method: string;
  readonly url: string;
  /** Head and body, in one piece. */
  readonly request: Buffer;
  readonly answerBytesMax: number;
  /** It only asks, and may be sent twice, whatever its method. */
  readonly doesNothing?: boolean;
}

/** What comes of a request. */
export interface Outcome<T> {
  /** What an answer says. What it throws, the caller is told. */
  readonly use: (answer: Answer) => T;
  /** What the caller is told of a failure: TooLate, BadAnswer, or what the system or TLS says. */
  readonly failure: (error: Error) => Error;
}

/** A call on its way: waiting, on a connection that is being opened, or sent. One object, since there may be many that wait. */
class PooledCall<T> implements Call {
  readonly method: string;
  request: Buffer;
  readonly answerBytesMax: number;
  readonly doesNothing: boolean;
  readonly #again: (call: PooledCall<T>, isElsewhere: boolean) => boolean;
  readonly #outcome: Outcome<T>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #url: string;
  #redirections = 0;
  #isRepeated = false;
  /** What it is under way on; before that, what ends the wait for one. */
  on: Connection | (() => void) | undefined;

  /** @param again sends it once more, if it may be: elsewhere, or where its connection was closed. */
  constructor(
    { method, url, request, answerBytesMax, doesNothing = false }: PooledRequest,
    deadlineMs: number,
    again: (call: PooledCall<T>, isElsewhere: boolean) => boolean,
    outcome: Outcome<T>,
    [resolve, reject]: readonly [resolve: (value: T) => void, reject: (error: Error) => void],
  ) {
    this.method = method;
    this.#url = url;
    this.request = request;
    this.answerBytesMax = answerBytesMax;
    this.doesNothing = doesNothing;
    this.#again = again;
    this.#outcome = outcome;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(expire, Math.max(1, Math.ceil(deadlineMs)), this);
  }

  answered(answer: Answer): void {
    if (this.#follow(answer)) return;
    clearTimeout(this.#timer);
    try {
      this.#resolve(this.#outcome.use(answer));
    } catch (error) {
      this.#reject(error as Error);
    }
  }

  /** Sends it where an answer says, if that is to be followed; false where the answer is the last. */
  #follow(answer: Answer): boolean {
    if (answer.location === '' || this.#redirections === REDIRECTIONS_MAX) return false;
    const target = redirectedTo(this.#url, this.method, answer);
    if (target === undefined) return false;
    this.#redirections++;
    this.#isRepeated = false;
    this.#url = new URL(target, this.#url).href;
    this.request = anew(this.request, this.method, target);
    return this.#again(this, true);
  }

  failed(error: Error, mayRepeat: boolean): void {
    if (mayRepeat && !this.#isRepeated) {
      this.#isRepeated = true;
      if (this.#again(this, false)) return;
    }
    clearTimeout(this.#timer);
    this.#reject(this.#outcome.failure(error));
  }

  expire(): void {
    const { on } = this;
    if (typeof on === 'function') on();
    else on?.abandon();
    this.#reject(this.#outcome.failure(new TooLate()));
  }
}

function expire(call: Pending): void {
  call.expire();
}

type Pending = Pick<PooledCall<unknown>, 'on' | 'failed' | 'expire'> & Call;

type Open = Pick<ConnectionOpener, 'open'>;

export class ConnectionPool {
  readonly #opener: Open;
  readonly #places = new Map<string, PlaceConnections>();
  #isRetired = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(opener: Open) {
    this.#opener = opener;
  }

  /**
   * Sends a request and gives what comes of its answer: elsewhere at the same service where that says so, and a second time where the kept
   * connection turns out to be closed and the request can be repeated. Rejects with what `outcome` makes of a failure.
   */
  exchange<T>(place: Place, request: PooledRequest, deadlineMs: number, outcome: Outcome<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const again = (call: PooledCall<T>, isElsewhere: boolean): boolean => {
        if (!isElsewhere) {
          if (this.#isRetired) return false;
          this.dropIdle();
        }
        this.#connectionsTo(place).start(call);
        return true;
      };
      this.#connectionsTo(place).start(new PooledCall(request, deadlineMs, again, outcome, [resolve, reject]));
    });
  }

  /** Closes the connections that nothing is using. */
  dropIdle(): void {
    for (const connections of this.#places.values()) connections.dropIdle(Number.POSITIVE_INFINITY);
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    this.#isRetired = true;
    clearTimeout(this.#sweep);
    this.dropIdle();
  }

  /** Ends every connection. */
  close(): void {
    this.retire();
    for (const connections of this.#places.values()) connections.close();
  }

  #connectionsTo(place: Place): PlaceConnections {
    const key = `${place.host} ${place.port} ${place.serverName}`;
    let connections = this.#places.get(key);
    if (connections === undefined) {
      connections = new PlaceConnections(this.#opener, place, {
        keeps: () => this.#keeps(),
        emptied: () => this.#places.delete(key),
      });
      this.#places.set(key, connections);
    }
    return connections;
  }

  /** Whether a connection may be kept; what is kept is looked after. */
  #keeps(): boolean {
    if (this.#isRetired) return false;
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined;
      let isAnyLeft = false;
      for (const connections of this.#places.values()) {
        connections.dropIdle(performance.now());
        isAnyLeft ||= connections.hasIdle;
      }
      if (isAnyLeft) this.#keeps();
    }, SWEEP_MS).unref();
    return true;
  }
}

interface PlaceOwner {
  keeps(): boolean;
  emptied(): void;
}

/** The connections to one place. */
class PlaceConnections implements ConnectionOwner {
  readonly #opener: Open;
  readonly #place: Place;
  readonly #owner: PlaceOwner;
  readonly #all = new Set<Connection>();
  /** The one that was used last is at the end. */
  readonly #idle: Connection[] = [];
  readonly #waiting: Pending[] = [];
  #opening = 0;

  constructor(opener: Open, place: Place, owner: PlaceOwner) {
    this.#opener = opener;
    this.#place = place;
    this.#owner = owner;
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0;
  }

  start(pending: Pending): void {
    const connection = this.#takeIdle();
    if (connection !== undefined) send(connection, pending);
    else if (this.#all.size + this.#opening < CONNECTIONS_MAX) this.#open(pending);
    else {
      this.#waiting.push(pending);
      pending.on = () => void this.#waiting.splice(this.#waiting.indexOf(pending), 1);
    }
  }

  freed(connection: Connection, keptForMs: number | undefined): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      send(connection, next);
      return;
    }
    const usableMs = Math.min(IDLE_MS, keptForMs === undefined ? IDLE_MS : keptForMs - MARGIN_MS);
    if (usableMs <= 0 || this.#idle.length >= IDLE_MAX || !this.#owner.keeps()) {
      connection.destroy();
      return;
    }
    connection.usableUntilMs = performance.now() + usableMs;
    this.#idle.push(connection);
  }

  closed(connection: Connection): void {
    this.#all.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#gaveWay();
  }

  /** Closes the idle ones whose time was up. */
  dropIdle(nowMs: number): void {
    for (const connection of this.#idle.filter((one) => one.usableUntilMs <= nowMs)) this.#drop(connection);
  }

  close(): void {
    for (const connection of this.#all) connection.destroy();
    for (const pending of this.#waiting.splice(0)) pending.failed(new Error('closed'), false);
  }

  #takeIdle(): Connection | undefined {
    const nowMs = performance.now();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usableUntilMs > nowMs) return connection;
      connection.destroy();
    }
    return undefined;
  }

  #drop(connection: Connection): void {
    this.#idle.splice(this.#idle.indexOf(connection), 1);
    connection.destroy();
  }

  #open(pending: Pending): void {
    this.#opening++;
    const opened = (error: Error | undefined, standing: Standing | undefined): void => {
      this.#opening--;
      if (standing === undefined) {
        pending.failed(error ?? new Error('no connection'), false);
        this.#gaveWay();
        return;
      }
      const connection = new Connection(standing, this);
      this.#all.add(connection);
      send(connection, pending);
    };
    try {
      const giveUp = this.#opener.open(this.#place, opened);
      pending.on = () => {
        giveUp();
        this.#opening--;
        this.#gaveWay();
      };
    } catch (error) {
      this.#opening--;
      pending.failed(error as Error, false);
      this.#gaveWay();
    }
  }

  /** A connection is there no more, so that another may be. */
  #gaveWay(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.start(next);
    else if (this.#all.size + this.#opening === 0) this.#owner.emptied();
  }
}

function send(connection: Connection, pending: Pending): void {
  pending.on = connection;
  connection.send(pending);
}
