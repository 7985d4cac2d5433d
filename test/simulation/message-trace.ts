// What the actors of a simulated server say to each other, one line a message, in the order it is said. For the golden
// traces: a reviewer reads a path there as it is, and sees in a change of it what a commit does to the path.

import type { ServerSettings } from '../../actors/server-settings.ts';
import type { ActorContext, ActorDefinition, AskOptions } from '../../runtime/actor.ts';

/** Takes lines; says when it wants none. */
export interface TraceSink {
  readonly isOpen: boolean;
  line(text: string): void;
}

interface AnyMessage {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** As refs are, without their protocols. */
interface AnyRef {
  readonly name: string;
  ask(message: AnyMessage, options: AskOptions): Promise<unknown>;
  askSoon(message: AnyMessage, options: AskOptions): unknown;
  tell(message: AnyMessage, requestNumber?: number): 'queued' | 'full';
  tellSoon(message: AnyMessage, requestNumber?: number): 'queued' | 'full';
}

const NAME_WIDTH = 11;

/** The same actor, all of whose messages are told to the sink. */
export function traced(definition: ActorDefinition<ServerSettings>, sink: TraceSink): ActorDefinition<ServerSettings> {
  return {
    ...definition,
    create: (context, options) => definition.create(tracedContext(context, sink), options),
  };
}

function tracedContext(context: ActorContext, sink: TraceSink): ActorContext {
  const wrap = (ref: unknown): never => new TracedRef(context.name, ref as AnyRef, sink) as never;
  return {
    ...context,
    ref: (actor) => wrap(context.ref(actor)),
    refs: (actor) => context.refs(actor).map(wrap),
    refNamed: (name) => wrap(context.refNamed(name)),
  };
}

class TracedRef implements AnyRef {
  readonly name: string;
  readonly #from: string;
  readonly #to: AnyRef;
  readonly #sink: TraceSink;

  constructor(from: string, to: AnyRef, sink: TraceSink) {
    this.name = to.name;
    this.#from = from;
    this.#to = to;
    this.#sink = sink;
  }

  ask(message: AnyMessage, options: AskOptions): Promise<unknown> {
    this.#noteAsked(message);
    return this.#noteAnswer(message, this.#to.ask(message, options));
  }

  askSoon(message: AnyMessage, options: AskOptions): unknown {
    this.#noteAsked(message);
    const answer = this.#to.askSoon(message, options);
    if (answer instanceof Promise) return this.#noteAnswer(message, answer);
    this.#noteAnswered(message, answer as AnyMessage);
    return answer;
  }

  async #noteAnswer(message: AnyMessage, answering: Promise<unknown>): Promise<unknown> {
    try {
      const answer = await answering;
      this.#noteAnswered(message, answer as AnyMessage);
      return answer;
    } catch (error) {
      this.#note(this.#from, '←', this.name, message.type, (error as { readonly code?: string }).code);
      throw error;
    }
  }

  #noteAsked(message: AnyMessage): void {
    this.#note(this.#from, '→', this.name, `${message.type}?`, SAID[message.type]?.(message));
  }

  #noteAnswered({ type }: AnyMessage, answer: AnyMessage): void {
    this.#note(this.#from, '←', this.name, type, ANSWERED[type]?.(answer));
  }

  tell(message: AnyMessage, requestNumber?: number): 'queued' | 'full' {
    const outcome = this.#to.tell(message, requestNumber);
    const what = SAID[message.type]?.(message) ?? '';
    this.#note(this.#from, '→', this.name, message.type, outcome === 'queued' ? what : `${what} FULL`);
    return outcome;
  }

  /** Noted first: what it leads to may happen within the call. */
  tellSoon(message: AnyMessage, requestNumber?: number): 'queued' | 'full' {
    const what = SAID[message.type]?.(message) ?? '';
    this.#note(this.#from, '→', this.name, message.type, what);
    const outcome = this.#to.tellSoon(message, requestNumber);
    if (outcome === 'full') this.#note(this.#from, '→', this.name, message.type, `${what} FULL`);
    return outcome;
  }

  #note(from: string, sign: string, to: string, type: string, what = ''): void {
    if (!this.#sink.isOpen || UNSAID.has(type)) return;
    const names = `${from.padEnd(NAME_WIDTH)} ${sign} ${to.padEnd(NAME_WIDTH)}`;
    this.#sink.line(`${names} ${type.padEnd(14)} ${what}`.trimEnd());
  }
}

/** What belongs to no path: the hub's check of itself, and health. */
const UNSAID: ReadonlySet<string> = new Set(['digests?', 'digests', 'health?', 'health']);

type Say = (message: AnyMessage) => string;

const SAID: Readonly<Record<string, Say>> = {
  admit: ({ access }) => accessOf(access as AnyMessage),
  authorize: ({ access }) => accessOf(access as AnyMessage),
  write: ({ verb, target }) => `${verb} ${targetOf(target as AnyMessage)}`,
  get: ({ storageKey, namespace, name, freshness }) =>
    `${storageKey}/${namespace}/${name}, ${freshnessOf(freshness as AnyMessage)}`,
  list: ({ storageKey, namespace, freshness }) => `${storageKey}/${namespace}, ${freshnessOf(freshness as AnyMessage)}`,
  watch: ({ watcher, storageKey, namespace, afterRevision }) =>
    `watcher ${watcher}: ${storageKey}/${namespace}${afterRevision === undefined ? '' : ` after ${afterRevision}`}`,
  reach: ({ revision }) => String(revision),
  commit: ({ transactions }) => (transactions as readonly AnyMessage[]).map(transactionOf).join('; '),
  storeBatch: ({ lastRevision }) => `through ${lastRevision}`,
  watchFrames: ({ watchers, throughRevision, catchUp, parks, chunk }) =>
    `to ${String(watchers)}, through ${throughRevision}: ${eventsIn(chunk as Uint8Array)}${catchUp ? `, catch-up, parks heard: ${parks}` : ''}`,
  watchParked: ({ watcher, deliveredRevision }) => `watcher ${watcher}, delivered through ${deliveredRevision}`,
  watchReady: ({ watcher }) => `watcher ${watcher}`,
  watchClosed: ({ watcher }) => `watcher ${watcher}`,
  watchEnded: ({ watchers }) => `watchers ${String(watchers)}`,
};

const ANSWERED: Readonly<Record<string, Say>> = {
  admit: ({ user, refusal }) =>
    refusal === undefined ? `user ${(user as AnyMessage | null)?.name ?? 'nobody'}` : 'refused',
  authorize: ({ allowed }) => (allowed ? 'allowed' : 'refused'),
  write: ({ code, place, body }) =>
    place === undefined ? `${code} ${reasonOf(body as AnyMessage)}` : `${code}, record of ${revisionOf(place)}`,
  get: ({ refused, place }) => (refused as string) ?? (place === null ? 'none' : `record of ${revisionOf(place)}`),
  list: ({ refused, revision, places }) =>
    (refused as string) ?? `${(places as Uint32Array).length / 2} records at ${revision}`,
  watch: ({ refused, revision }) => (refused as string) ?? `at ${revision}`,
  reach: ({ refused, revision }) => (refused as string) ?? String(revision),
  commit: ({ results }) => (results as readonly AnyMessage[]).map(resultOf).join('; '),
  subscribe: ({ revision, sequence }) => `present state at ${revision}, publication ${sequence}`,
};

function accessOf(access: AnyMessage): string {
  const { verb, group, resource, namespace, name } = access;
  return `${verb} ${[group, resource, namespace, name].filter(Boolean).join('/')}`;
}

function targetOf({ group, resource, subresource, namespace, name }: AnyMessage): string {
  return [group || 'core', resource, namespace, name, subresource].filter(Boolean).join('/');
}

function freshnessOf({ kind, revision }: AnyMessage): string {
  return revision === undefined ? String(kind) : `${String(kind)} ${String(revision)}`;
}

function transactionOf({ operations, guards = [], thenRemoves = [], isBehindFirst }: AnyMessage): string {
  const put = (operations as readonly AnyMessage[]).map(
    ({ key, expect, delete: isDeleted }) => `${isDeleted ? 'delete' : 'put'} ${key}${expectationOf(expect as number)}`,
  );
  const guarded = (guards as readonly AnyMessage[]).map(
    ({ key, expect }) => `guard ${key}${expectationOf(expect as number)}`,
  );
  const removed = (thenRemoves as readonly string[]).map((key) => `then remove ${key}`);
  return [...put, ...guarded, ...removed, ...(isBehindFirst === true ? ['behind the first'] : [])].join(', ');
}

function expectationOf(expect: number): string {
  if (expect < 0) return '';
  return expect === 0 ? ' if absent' : ` if at ${expect}`;
}

function resultOf({ ok, revision, reason, key, currentRevision }: AnyMessage): string {
  return ok ? `committed at ${revision}` : `refused: ${key} ${reason}, at ${currentRevision}`;
}

/** The events of a chunk, by type and name. */
function eventsIn(chunk: Uint8Array): string {
  const lines = Buffer.from(chunk).toString('utf8').split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as { type: string; object: { metadata: { name?: string } } });
  return events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim()).join(', ') || 'nothing';
}

function reasonOf(body: AnyMessage | undefined): string {
  return body?.kind === 'Status' ? `${body.status} ${body.reason ?? ''}`.trim() : String(body?.kind ?? '');
}

function revisionOf(place: unknown): number {
  return (place as { readonly revision: number }).revision;
}
