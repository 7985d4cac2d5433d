// Follows all objects of one type on the API server: lists them, then watches from there, resumes a watch that ended, and lists
// again where the server no longer knows the changes since (410). Tells what there is and what is gone; keeps only names.
import type { JsonObject } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Clock, Random, Timers } from '../../../runtime/environment.ts';
import type { ClusterNews } from '../driver/scheduler-engine.ts';
import type { ApiServer } from './api-server.ts';

const PAGE = 500;
const RETRY_FIRST_MS = 800;
const RETRY_MAX_MS = 30_000;
/** The server ends a watch after this long, up to twice. */
const WATCH_SECONDS = 300;
/**
 * A watch that says nothing for so long may be one of a server that hangs, which keeps its connections and ends none: it is asked for
 * anew. Servers send bookmarks each minute, or sooner.
 */
const SILENT_MAX_MS = 90_000;
/** A watch that ends sooner tells of a server in trouble. */
const SHORT_MS = 1_000;
const TOO_MANY = 429;
const EVENTS: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

export interface InformerParts {
  readonly server: Pick<ApiServer, 'list' | 'watch'>;
  readonly environment: { readonly clock: Clock; readonly timers: Timers; readonly random: Pick<Random, 'next'> };
  readonly storageKey: string;
  /** Of the collection, one a version; the first that the server has is followed. */
  readonly paths: readonly string[];
  readonly fieldSelector?: string;
  readonly onNews: (news: ClusterNews) => void;
  /** Called once: everything there was has been told. */
  readonly onSynced: () => void;
  /** News has been told: now is a time to act on it. */
  readonly onBatchEnd: () => void;
  readonly onTrouble: (problem: string) => void;
}

/** A watch cannot go on from where it is: everything is listed again. Its message, where it has one, tells of trouble. */
class Expired extends Error {}

export class Informer {
  readonly #parts: InformerParts;
  readonly #stop = new AbortController();
  /** `namespace/name` of every object told of. */
  #known = new Set<string>();
  #version = '';
  #path = 0;
  #isSynced = false;

  constructor(parts: InformerParts) {
    this.#parts = parts;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.#parts.environment;
    let delayMs = RETRY_FIRST_MS;
    while (!this.#stop.signal.aborted) {
      let watchedSinceMs = Number.POSITIVE_INFINITY;
      let problem: unknown;
      try {
        if (this.#version === '') await this.#list();
        watchedSinceMs = clock.monotonicMs();
        if (this.#version !== '') await this.#watch();
      } catch (error) {
        problem = error;
      }
      if (this.#stop.signal.aborted) return;
      if (problem instanceof Expired) this.#version = '';
      const trouble = problem instanceof Error ? problem.message : String(problem ?? '');
      if (trouble !== '') this.#parts.onTrouble(`${this.#parts.storageKey}: ${trouble}`);
      // A watch that lasted shows a server that was well: what troubles it had before are over, however the watch ended.
      if (clock.monotonicMs() - watchedSinceMs > SHORT_MS) {
        delayMs = RETRY_FIRST_MS;
        if (trouble === '') continue;
      }
      await this.#rest(delayMs);
      delayMs = Math.min(RETRY_MAX_MS, delayMs * 2);
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  async #list(): Promise<void> {
    const { server, paths, storageKey } = this.#parts;
    const seen = new Set<string>();
    let next = '';
    do {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (this.#parts.fieldSelector !== undefined) query.set('fieldSelector', this.#parts.fieldSelector);
      if (next !== '') query.set('continue', next);
      const { status, object } = await server.list(`${paths[this.#path]}?${query}`);
      if (status === 410) throw new Expired();
      if (status === 404) return this.#tryOther();
      if (status !== 200) throw new Error(`a list was answered ${status} ${asText(object.message)}`.trimEnd());
      // In a list the version is said once.
      const { apiVersion } = object;
      for (const item of Array.isArray(object.items) ? object.items : [])
        seen.add(this.#tell({ apiVersion, ...asObject(item) }, false));
      const metadata = asObject(object.metadata);
      next = asText(metadata.continue);
      // Some page of a proxy, say: it does not mean that everything is gone.
      if (next === '' && asText(metadata.resourceVersion) === '') throw new Error('a list was answered with no list');
      this.#version = next === '' ? asText(metadata.resourceVersion) : '';
    } while (next !== '');
    for (const key of this.#known) {
      if (seen.has(key)) continue;
      const slash = key.indexOf('/');
      const gone = { isGone: true, storageKey, namespace: key.slice(0, slash), name: key.slice(slash + 1) };
      this.#parts.onNews({ ...gone, object: () => ({}) });
    }
    this.#known = seen;
    this.#synced();
  }

  /** The server does not have the type in this version: in another perhaps, or not at all. */
  #tryOther(): void {
    this.#path = (this.#path + 1) % this.#parts.paths.length;
    if (this.#path === 0) this.#synced();
  }

  #synced(): void {
    if (!this.#isSynced) {
      this.#isSynced = true;
      this.#parts.onSynced();
    }
    this.#parts.onBatchEnd();
  }

  async #watch(): Promise<void> {
    const { server, paths, environment, fieldSelector } = this.#parts;
    const query = new URLSearchParams({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version,
      timeoutSeconds: String(Math.floor(WATCH_SECONDS * (1 + environment.random.next()))),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    });
    const ended = new AbortController();
    let problem: Error | undefined;
    const signal = AbortSignal.any([this.#stop.signal, ended.signal]);
    const { clock, timers } = environment;
    let heardMs = clock.monotonicMs();
    let isSilent = false;
    const silence = timers.every(SILENT_MAX_MS / 6, () => {
      isSilent = clock.monotonicMs() - heardMs >= SILENT_MAX_MS;
      if (isSilent) ended.abort();
    });
    const onEvent = (event: JsonObject): void => {
      heardMs = clock.monotonicMs();
      try {
        if (problem === undefined) this.#event(event);
      } catch (error) {
        problem = error as Error;
        ended.abort();
      }
    };
    try {
      const status = await server.watch(`${paths[this.#path]}?${query}`, onEvent, signal);
      if (status === 410) throw new Expired();
      const refusal = `a watch was answered ${status}`;
      if (status >= 500 || status === TOO_MANY) throw new Error(refusal);
      // The server may be another by now, that has the type in another version.
      if (status !== 200) throw new Expired(refusal);
    } catch (error) {
      // No trouble that is known of: there may have been nothing to say.
      if (isSilent) return;
      throw problem ?? (error instanceof DecodeError ? new Expired(error.message) : error);
    } finally {
      silence.cancel();
    }
  }

  #event(event: JsonObject): void {
    const object = asObject(event.object);
    if (event.type === 'ERROR') {
      if (object.code === 410) throw new Expired();
      throw new Expired(`a watch ended: ${asText(object.message)}`);
    }
    if (!EVENTS.has(event.type)) throw new Expired('a watch told of what is no event');
    this.#version = asText(asObject(object.metadata).resourceVersion) || this.#version;
    if (event.type === 'BOOKMARK') return;
    this.#tell(object, event.type === 'DELETED');
    this.#parts.onBatchEnd();
  }

  /** Answers how the object is known. What was told of is known from then on, also where the list that it is in comes to nothing. */
  #tell(object: JsonObject, isGone: boolean): string {
    const { storageKey, onNews } = this.#parts;
    const { namespace, name } = asObject(object.metadata);
    const key = `${asText(namespace)}/${asText(name)}`;
    if (isGone) this.#known.delete(key);
    else this.#known.add(key);
    onNews({ isGone, storageKey, namespace: asText(namespace), name: asText(name), object: () => object });
    return key;
  }

  #rest(delayMs: number): Promise<void> {
    const { timers, random } = this.#parts.environment;
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = timers.after(delayMs * (0.5 + random.next()), end);
      signal.addEventListener('abort', end);
    });
  }
}
