// Follows a shared engine: brings what it tells into the log, gives it its versions, and shows it. Knows up to which engine
// revision everything has been shown, and lets others wait for one.
import type { ActorContext } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { isSealedValue, noProvider, readOpenedValue, unreadable } from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { EngineView } from '../../../storage/engines/local-engine.ts';
import type { Follower, SharedContents, SharedEngine, SharedEvent } from '../../../storage/engines/shared-engine.ts';
import { type StoredValue, storedRevision } from '../../../storage/forms/stored-value.ts';
import { AdmittedEvents } from '../log/admitted-events.ts';
import { DYING_PLACE, VersionNumbers } from '../log/version-numbers.ts';
import type { Place } from '../protocol.ts';
import type { Projection } from '../readers/projection.ts';
import type { StoreOptions } from '../settings.ts';
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
  /** Of a removal: what the object was when it went, where its writer said so. */
  readonly last?: StoredValue | undefined;
}

interface Waiting {
  readonly revision: number;
  readonly resolve: (version: number) => void;
}

export class SharedFollower implements Follower {
  readonly #parts: FollowerParts;
  readonly #admitted: AdmittedEvents;
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
    const opened = this.#open(key, bytes);
    const { value, isStale } = this.#read(key, bytes, opened instanceof Promise ? await opened : opened);
    if (value.revision >= DYING_PLACE) this.remains.set(key, revision);
    else this.#admitted.load(key, this.numbers.version(revision, value.revision), value, isStale || isOld);
  }

  again(): void {
    this.#admitted.unload();
    this.remains.clear();
  }

  revision(revision: number, events: readonly SharedEvent[]): void | Promise<void> {
    const { encryption } = this.#parts;
    const arrived: (Arrived | Promise<Arrived>)[] = events.map((event) => {
      const { key, value, place, last } = event;
      if (value === undefined) {
        return { key, value, isStale: false, place, last: last && this.#read(key, last, last).value };
      }
      const read = (plain: Uint8Array): Arrived => {
        const { value: plainValue, isStale } = this.#read(key, value, plain);
        return { key, value: plainValue, isStale: isStale || event.isStale === true, place };
      };
      const opened = this.#open(key, value);
      return opened instanceof Promise ? opened.then(read) : read(opened);
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

  #admit({ key, value, isStale, last }: Arrived, revision: number, place: number): void {
    const version = this.numbers.version(revision, place);
    if (value === undefined) {
      this.remains.delete(key);
      const removed = this.#admitted.remove(key, version, last);
      if (removed !== undefined) this.#places.get(key)?.set(version, removed);
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

  /** `stored`: as it lies in the engine. */
  #read(
    key: string,
    stored: Uint8Array,
    plain: Uint8Array,
  ): { readonly value: StoredValue; readonly isStale: boolean } {
    const { encryption, options } = this.#parts;
    const read = readOpenedValue(key, stored, plain);
    if (read === undefined) throw unreadable(key, 'it is none of ours, or damaged');
    const value = options.currentVersion?.(key, read) ?? read;
    return { value, isStale: value !== read || encryption?.isStale(key, stored) === true };
  }
}
