// What is asked of the hub: an object, a list, a watch. Each waits until the hub stands where the question wants it to, is refused where
// that is not to be had, and is answered from what the caches hold in that turn. Changes nothing that is stored.
import type { AskMessage, Reply } from '../../runtime/actor.ts';
import type { SlabView } from '../../storage/records/thread-slabs.ts';
import type { PublishedPlace } from '../store/protocol.ts';
import type { Entry, ResourceCache } from './caches/resource-cache.ts';
import type { ResourceCaches } from './caches/resource-caches.ts';
import type { UnreadableObjects } from './caches/unreadable-objects.ts';
import { encodeContinueToken, PRESENT_REVISION } from './lists/continue-token.ts';
import type { Gatherings } from './lists/gatherings.ts';
import type { ListAnswers } from './lists/list-answers.ts';
import { type ListStart, startOf } from './lists/list-start.ts';
import type { Freshness, HubProtocol, ListQuery, ReadRefusal, Selection, WatchQuery } from './protocol.ts';
import type { ReadGate } from './read-gate.ts';
import { type CompiledSelection, compileSelection } from './selection.ts';
import type { InitialState } from './watches/watcher.ts';
import type { Watchers } from './watches/watchers.ts';

export interface HubQuestionsParts {
  readonly gate: ReadGate;
  readonly slabs: SlabView;
  readonly caches: ResourceCaches;
  readonly unreadable: UnreadableObjects;
  readonly gatherings: Gatherings;
  readonly lists: ListAnswers;
  readonly watchers: Watchers;
  /** KnownType.storedFields by storageKey. */
  readonly selectableFields: (storageKey: string) => readonly string[];
  /** Whether watches of that type are sent bookmarks. */
  readonly sendsBookmarks: (storageKey: string) => boolean;
}

type Expired = Extract<ReadRefusal, { readonly refused: 'expired' }>;

export class HubQuestions {
  readonly #parts: HubQuestionsParts;
  /** Undefined: not read yet. */
  #tokenKey: Uint8Array | undefined;

  constructor(parts: HubQuestionsParts) {
    this.#parts = parts;
  }

  /** What is known of revisions may be of another history now. `tokenKey`: what continue tokens are sealed with. */
  begin(tokenKey: Uint8Array): void {
    this.#tokenKey = tokenKey;
    this.#parts.lists.reset();
  }

  /** Answers where an object lies. */
  get(query: AskMessage<HubProtocol, 'get'>, reply: Reply): void {
    const { gate, unreadable, caches, slabs } = this.#parts;
    gate.pass(query.freshness, (refusal) => {
      if (refusal !== undefined) {
        reply.send(refusal);
        return;
      }
      const unread = unreadable.at(query.storageKey, query.namespace, query.name);
      if (unread !== undefined) {
        reply.send(unread);
        return;
      }
      const entry = caches.of(query.storageKey).entryOf(query.namespace, query.name);
      reply.send({
        place: entry === undefined ? null : placeOf(entry, slabs.incarnation),
        revision: gate.applied,
      });
    });
  }

  /** Answers which records a list consists of, and how the next page is asked for. */
  list(query: ListQuery, reply: Reply): void {
    const start = startOf(query, this.#tokenKey);
    if (start === undefined) {
      reply.send({ refused: 'badToken' });
      return;
    }
    this.#parts.gate.pass(start.freshness, (ofAll) => {
      const refusal = ofAll ?? givenUp(reply) ?? this.#tooOld(query.storageKey, start.freshness);
      if (refusal === undefined) this.#answer(query, start, reply);
      else if (refusal.refused === 'expired' && query.continueToken !== '') {
        const freshToken = encodeContinueToken(
          { revision: PRESENT_REVISION, after: start.after },
          query,
          this.#tokenKey!,
        );
        reply.send({ ...refusal, freshToken });
      } else reply.send(refusal);
    });
  }

  /** Where more than the type's own window has changed since. */
  #tooOld(storageKey: string, freshness: Freshness): Expired | undefined {
    if (freshness.kind !== 'exact') return undefined;
    const { oldest } = this.#parts.caches.of(storageKey);
    return freshness.revision < oldest ? { refused: 'expired', oldestRevision: oldest } : undefined;
  }

  #answer(query: ListQuery, { after, freshness }: ListStart, reply: Reply): void {
    const { caches, gate, lists } = this.#parts;
    const cache = caches.of(query.storageKey);
    const exact = freshness.kind === 'exact' ? freshness.revision : undefined;
    const revision = exact ?? gate.applied;
    const tree = exact === undefined ? cache.tree : cache.treeAt(exact);
    const tokenKey = this.#tokenKey!;
    lists.answer({ query, selection: this.#compiled(query), after, revision, cache, tree, tokenKey }, reply);
  }

  #compiled(query: Selection): CompiledSelection {
    return compileSelection(query, this.#parts.selectableFields(query.storageKey));
  }

  /** Opens a watch, and answers where it begins. */
  watch(query: WatchQuery, reply: Reply): void {
    const { gate, slabs, unreadable, caches } = this.#parts;
    const { afterRevision } = query;
    // Another server may have told of what comes here in a moment; what nobody has acknowledged is of a store before a restore.
    const isAhead = afterRevision !== undefined && gate.isAhead(afterRevision);
    const { incarnation } = slabs;
    const freshness =
      afterRevision === undefined ? query.freshness : ({ kind: isAhead ? 'mostRecent' : 'local' } as const);
    gate.pass(freshness, (ofAll) => {
      const refusal = ofAll ?? givenUp(reply);
      if (refusal !== undefined) {
        reply.send(refusal);
        return;
      }
      // A store that began anew meanwhile may have been restored, and have given the version again.
      const isOfAnother = isAhead && incarnation !== slabs.incarnation;
      if (isOfAnother || (isAhead && afterRevision > gate.applied)) {
        reply.send({ refused: 'expired', oldestRevision: gate.applied });
        return;
      }
      const unread = unreadable.among(query);
      if (unread !== undefined) {
        reply.send(unread);
        return;
      }
      const cache = caches.of(query.storageKey);
      const oldestRevision = Math.max(gate.compacted, cache.oldest);
      if (afterRevision !== undefined && afterRevision < oldestRevision) {
        reply.send({ refused: 'expired', oldestRevision });
        return;
      }
      if (afterRevision === undefined) this.#beginWithState(query, cache, reply);
      else this.#open(query, cache, reply);
    });
  }

  #open(query: WatchQuery, cache: ResourceCache, reply: Reply, initial?: InitialState): void {
    const { gate, sendsBookmarks, watchers } = this.#parts;
    // Answered first, so that the ingress has opened the response when the first chunk comes.
    reply.send({ revision: gate.applied });
    const bookmarks = query.bookmarks && sendsBookmarks(query.storageKey);
    watchers.open({ ...query, bookmarks }, cache, initial);
  }

  /** What comes while the state is found out follows it. */
  #beginWithState(query: WatchQuery, cache: ResourceCache, reply: Reply): void {
    const { gate, slabs, gatherings } = this.#parts;
    const revision = gate.applied;
    const parts = { tree: cache.tree, selection: this.#compiled(query), slabs, limit: 0, after: '' };
    gatherings.begin(parts, query.storageKey, reply, ({ places, pin }) =>
      this.#open(query, cache, reply, { revision, places, next: 0, pin }),
    );
  }
}

/** A refusal where nobody waits any more: what would be kept for the answer would never be given back. */
function givenUp({ isAwaited }: Reply): ReadRefusal | undefined {
  return isAwaited ? undefined : { refused: 'notReady' };
}

function placeOf({ revision, slab, offset }: Entry, incarnation: number): PublishedPlace {
  return { revision, slab, offset, incarnation };
}
