// What a list is answered with, once it is known of which revision it is: the records that it consists of, and the token by which the
// next page is asked for.
import type { Reply } from '../../../runtime/actor.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import { Kept } from '../../../values/kept.ts';
import type { ResourceCache } from '../caches/resource-cache.ts';
import type { UnreadableObjects } from '../caches/unreadable-objects.ts';
import type { ListAnswer, ListQuery, Selection } from '../protocol.ts';
import type { CompiledSelection } from '../selection.ts';
import { encodeContinueToken } from './continue-token.ts';
import type { Found, Gatherings } from './gatherings.ts';

/** Pages of which it is known how many objects follow. */
const BEHIND_MAX = 256;

export interface ListAnswersParts {
  readonly slabs: SlabView;
  readonly gatherings: Gatherings;
  readonly unreadable: UnreadableObjects;
  readonly release: (pin: number) => void;
}

/** A list, and the state that it is of. */
export interface ListedState {
  readonly query: ListQuery;
  readonly selection: CompiledSelection;
  /** Key that it begins behind. */
  readonly after: string;
  readonly revision: number;
  readonly cache: ResourceCache;
  readonly tree: ResourceCache['tree'];
  readonly tokenKey: Uint8Array;
}

export class ListAnswers {
  readonly #parts: ListAnswersParts;
  /** How many objects follow the pages given last, which the next page would have to count. */
  readonly #behind = new Kept<string, number>(BEHIND_MAX);

  constructor(parts: ListAnswersParts) {
    this.#parts = parts;
  }

  /** Revisions may be given again for other states. */
  reset(): void {
    this.#behind.clear();
  }

  /** Within the call, unless there is much to look at. */
  answer(state: ListedState, reply: Reply): void {
    const { after, query, revision, selection, tree } = state;
    const { slabs, gatherings, unreadable, release } = this.#parts;
    const behind = this.#behind.get(pageKey(query, revision, after));
    const parts = { tree, selection, slabs, limit: query.limit, after, behind };
    gatherings.begin(parts, query.storageKey, reply, (found) => {
      const unread = unreadable.among(query, { revision, after, upTo: found.continueAfter });
      if (unread !== undefined) {
        release(found.pin);
        reply.send(unread);
        return;
      }
      const { places, remaining, pin } = found;
      const continueToken = this.#tokenOf(state, found);
      reply.send({
        places,
        incarnation: slabs.incarnation,
        revision,
        continueToken,
        remaining,
        pin,
      } satisfies ListAnswer);
    });
  }

  #tokenOf({ cache, query, revision, tokenKey }: ListedState, { continueAfter, remaining, tree }: Found): string {
    if (continueAfter === '') return '';
    cache.remember(revision, tree);
    if (remaining !== undefined) this.#behind.set(pageKey(query, revision, continueAfter), remaining);
    return encodeContinueToken({ revision, after: continueAfter }, query, tokenKey);
  }
}

function pageKey({ storageKey, namespace }: Selection, revision: number, after: string): string {
  return `${revision} ${storageKey} ${namespace} ${after}`;
}
