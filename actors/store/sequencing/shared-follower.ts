// Follows a shared engine: brings what it tells into the log, gives it its versions, and shows it. Knows up to which engine
// revision everything has been shown, and lets others wait for one.
import type { ActorContext } from '../../../runtime/actor.ts';
import { messageOf, OrchError } from '../../../runtime/errors.ts';
import {
  isSealedValue,
  noProvider,
  readOpenedValue,
  unreadable,
  unreadableIn,
} from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineView } from '../../../storage/engines/local-engine.ts';
import type {
  Follower,
  SharedContents,
  SharedEngine,
  SharedEvent,
  UnreadValue,
} from '../../../storage/engines/shared-engine.ts';
import { type StoredValue, storedRevision } from '../../../storage/forms/stored-value.ts';
import { AdmittedEvents } from '../log/admitted-events.ts';
import { DYING_PLACE, VersionNumbers } from '../log/version-numbers.ts';
import type { Place } from '../protocol.ts';
import type { Projection } from '../readers/projection.ts';
import type { StoreOptions } from '../settings.ts';
import { PassingFailures } from './passing-failures.ts';
import { sharedView } from './shared-view.ts';

export interface FollowerParts {
  readonly context: ActorContext;
  readonly engine: SharedEngine;
  readonly options: StoreOptions;
  readonly encryption: StoredEncryption | undefined;
  readonly projection: Projection;
  readonly onLost: (error: Error) => void;
}

/** A stored value as it is in the engine: what stands where its version will. */
interface Arrived {
  readonly key: string;
  readonly value: StoredValue | undefined;
  readonly isStale: boolean;
  readonly place: number | undefined;
  /** It cannot be read. */
  readonly unread?: UnreadValue;
  /** It cannot be read, and says that its object is gone. */
  readonly isGone?: boolean;
  /** Of a removal: what the object was when it went, where its writer said so. */
  readonly last?: StoredValue | undefined;
}

/** What a stored value says. */
interface Read {
  readonly value: StoredValue;
  /** It would not be stored so now. */
  readonly isStale: boolean;
}

interface Waiting {
  readonly revision: number;
  readonly resolve: (version: number) => void;
}

export class SharedFollower implements Follower {
  readonly #parts: FollowerParts;
  readonly #admitted: AdmittedEvents;
  readonly #passing: PassingFailures;
  /** Keys that lie in the engine although their objects are gone: their last value said so. */
  readonly remains = new Map<string, number>();
  numbers = new VersionNumbers(0);
  #applied = 0;
  #waiting: Waiting[] = [];
  /** Of keys that are being written: where which version was shown. Others may have replaced one before its writer's answer comes. */
  readonly #places = new Map<string, Map<number, Place>>();

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    const { log, pool } = parts.projection;
    this.#passing = new PassingFailures(parts.context, () => parts.onLost(passed()));
    this.#admitted = new AdmittedEvents(log, pool);
  }

  /** Loads the present state, and follows from there. */
  async open({ base, stride }: Pick<SharedContents, 'base' | 'stride'>): Promise<void> {
    this.numbers = new VersionNumbers(base, stride);
    const { log, commitTimes } = this.#parts.projection;
    this.#applied = await this.#parts.engine.follow(this);
    log.revision = this.numbers.endOf(this.#applied);
    log.compactedRevision = log.revision;
    commitTimes.add({ revision: log.revision, wallMs: this.#parts.context.clock.nowMs() });
  }

  /** Waits until an engine revision has been shown; resolves with the version that has. */
  reach(revision: number): Promise<number> {
    if (this.#applied >= revision) return Promise.resolve(this.numbers.endOf(this.#applied));
    return new Promise((resolve) => {
      this.#waiting.push({ revision, resolve });
    });
  }

  /** A commit of these keys begins: what is shown of them from here on may be its. */
  notePlaces(keys: readonly string[]): void {
    for (const key of keys) this.#places.set(key, new Map());
  }

  /** It is over. */
  forgetPlaces(keys: readonly string[]): void {
    for (const key of keys) this.#places.delete(key);
  }

  /** Where a version lies that was shown since its commit began. */
  placeOf(key: string, version: number): Place {
    const place = this.#places.get(key)?.get(version);
    if (place === undefined)
      throw new OrchError('StoreUnusable', `the engine did not tell version ${version} of ${key}`);
    return place;
  }

  view(): EngineView {
    return sharedView(this.#parts.engine, this.#applied, this.numbers);
  }

  async value(key: string, revision: number, bytes: Uint8Array, isOld = false): Promise<void> {
    // What is gone needs no key: its provider may have been taken away since.
    if (isSealedValue(bytes) && (storedRevision(key, bytes) ?? 0) >= DYING_PLACE) {
      this.remains.set(key, revision);
      return;
    }
    let read: Read;
    try {
      const opened = this.#open(key, bytes);
      read = this.#read(key, bytes, opened instanceof Promise ? await opened : opened);
    } catch (error) {
      if (unreadableIn(error) === undefined) throw error;
      this.unreadable(key, error, () => this.#open(key, bytes));
      return;
    }
    const { value, isStale } = read;
    if (value.revision >= DYING_PLACE) this.remains.set(key, revision);
    else this.#admitted.load(key, this.numbers.version(revision, value.revision), value, isStale || isOld);
  }

  unreadable(key: string, error: unknown, lookAgain: () => unknown): void {
    this.#unread(key, error, 0, lookAgain);
  }

  again(): void {
    this.#parts.projection.unreadable.clear();
    this.#admitted.unload();
    this.remains.clear();
  }

  revision(revision: number, events: readonly SharedEvent[]): void | Promise<void> {
    const { encryption } = this.#parts;
    const arrived: (Arrived | Promise<Arrived>)[] = events.map((event) => {
      const { key, value, place, last } = event;
      if (event.unread !== undefined) return { key, value: undefined, isStale: false, place, unread: event.unread };
      if (value === undefined) {
        return { key, value, isStale: false, place, last: last && this.#read(key, last, last).value };
      }
      const read = (plain: Uint8Array): Arrived => {
        const { value: plainValue, isStale } = this.#read(key, value, plain);
        return { key, value: plainValue, isStale: isStale || event.isStale === true, place };
      };
      const failed = (error: unknown): Arrived => {
        if (unreadableIn(error) === undefined) throw error;
        const clear = isSealedValue(value) ? storedRevision(key, value) : undefined;
        const isGone = clear !== undefined && clear >= DYING_PLACE;
        const unread = { error, lookAgain: () => this.#open(key, value) };
        return { key, value: undefined, isStale: false, place: clear && clear % DYING_PLACE, unread, isGone };
      };
      try {
        const opened = this.#open(key, value);
        return opened instanceof Promise ? opened.then(read).catch(failed) : read(opened);
      } catch (error) {
        return failed(error);
      }
    });
    if (encryption === undefined) {
      this.#show(revision, arrived as readonly Arrived[]);
      return;
    }
    return Promise.all(arrived).then((all) => this.#show(revision, all));
  }

  lost(error: Error): void {
    this.#parts.onLost(error);
  }

  #show(revision: number, events: readonly Arrived[]): void {
    const { projection } = this.#parts;
    let place = 0;
    for (const event of events) {
      const said = event.value === undefined ? event.place : event.value.revision % DYING_PLACE;
      place = said ?? place + 1;
      this.#admit(event, revision, place);
    }
    this.#applied = revision;
    projection.log.revision = this.numbers.endOf(revision);
    projection.show(this.#admitted.takeRuns());
    projection.settle();
    this.#letGo();
  }

  #admit({ key, value, isStale, last, unread, isGone }: Arrived, revision: number, place: number): void {
    const version = this.numbers.version(revision, place);
    if (unread !== undefined && isGone !== true) {
      this.remains.delete(key);
      const isOurs = unread.mayBeNone !== true || this.#parts.projection.log.current.has(key);
      if (isOurs) this.#unread(key, unread.error, version, unread.lookAgain);
      return;
    }
    this.#readAgain(key);
    if (value === undefined) {
      this.remains.delete(key);
      const removed = this.#admitted.remove(key, version, last);
      if (removed !== undefined) this.#places.get(key)?.set(version, removed);
      if (isGone === true) this.remains.set(key, revision);
      return;
    }
    const written = this.#admitted.put(key, version, value, isStale);
    this.#places.get(key)?.set(version, written);
    if (value.revision < DYING_PLACE) {
      this.remains.delete(key);
      return;
    }
    this.#admitted.remove(key, this.numbers.version(revision, place + 1));
    this.remains.set(key, revision);
  }

  /** The object is for readers as it was; a value that nobody told them of, they do not know. */
  #unread(key: string, error: unknown, since: number, lookAgain?: () => unknown): void {
    const { engine, projection } = this.#parts;
    const { told: why, mayPass } = unreadableIn(error)!;
    const isKnown = projection.log.current.has(key);
    projection.unreadable.add({ key, path: engine.pathOf(key), why, since, isKnown }, (error as Error).message);
    if (mayPass && lookAgain !== undefined) this.#passing.add(key, lookAgain);
    else this.#passing.remove(key);
  }

  #readAgain(key: string): void {
    this.#parts.projection.unreadable.remove(key);
    this.#passing.remove(key);
  }

  #letGo(): void {
    const version = this.numbers.endOf(this.#applied);
    const due = this.#waiting.filter((one) => one.revision <= this.#applied);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => one.revision > this.#applied);
    for (const { resolve } of due) resolve(version);
  }

  /** Throws, or rejects with, OrchError StoreUnusable. */
  #open(key: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    if (this.#parts.encryption !== undefined) return this.#parts.encryption.open(key, bytes);
    if (isSealedValue(bytes)) throw noProvider(key, bytes);
    return bytes;
  }

  /** `stored`: as it lies in the engine. Throws OrchError StoreUnusable. */
  #read(key: string, stored: Uint8Array, plain: Uint8Array): Read {
    const { encryption } = this.#parts;
    const read = readOpenedValue(key, stored, plain);
    if (read === undefined) throw unreadable(key, 'it is none of ours, or damaged');
    const value = this.#inCurrentVersion(key, read);
    return { value, isStale: value !== read || encryption?.isStale(key, stored) === true };
  }

  #inCurrentVersion(key: string, value: StoredValue): StoredValue {
    try {
      return this.#parts.options.currentVersion?.(key, value) ?? value;
    } catch (error) {
      throw unreadable(key, `it does not decode (${messageOf(error)})`);
    }
  }
}

function passed(): OrchError {
  return new OrchError('StoreUnusable', 'values can be read that could not be: the store begins anew');
}
