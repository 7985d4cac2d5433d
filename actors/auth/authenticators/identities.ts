// Whether the objects that tokens speak for are still there: uid and deletion of a service account, a pod, a secret. The hub
// of this thread is asked once, and its answer holds until the store's stream tells of a change to the object.
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { isOrchError, OrchError } from '../../../runtime/errors.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { Kept } from '../../../values/kept.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import type { ClusterReader } from '../cluster-feed.ts';
import { tokenDigest } from './token-file.ts';

export interface Identity {
  readonly uid: string;
  /** When its deletion is due; infinite while it is not being deleted. */
  readonly deletedMs: number;
  /** SHA-256 of the token that is kept in it, lower-case hexadecimal; empty where none is. */
  readonly tokenDigest: string;
}

/** What tokens are for and bound to, by ResourceType.storageKey. */
const STORAGE_KEYS = { account: 'core/serviceaccounts', pod: 'core/pods', secret: 'core/secrets' } as const;

/** An object that a token speaks for, whether or not it is there. Made once a token: `key` is looked up at each request. */
export interface Spoken {
  readonly key: string;
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
}

export function spokenFor(kind: keyof typeof STORAGE_KEYS, namespace: string, name: string): Spoken {
  const storageKey = STORAGE_KEYS[kind];
  return { key: keyOf(storageKey, namespace, name), storageKey, namespace, name };
}

function keyOf(storageKey: string, namespace: string, name: string): string {
  return `${storageKey}/${namespace}/${name}`;
}

/** Undefined when there is no such object now. Rejects with ActorDown while the store has not been read. */
export type ReadIdentity = (object: Spoken) => Promise<Identity | undefined>;

const KEPT_MAX = 10_000;
const HUB_DEADLINE_MS = 10_000;
const PRESENT = { kind: 'mostRecent' } as const;
/** What this server knows, asked where others that share its store are not heard of for so long. */
const KNOWN = { kind: 'any' } as const;
const PRESENT_MS_MAX = 2000;

interface Question {
  readonly answer: Promise<Identity | undefined>;
  /** The object may have changed since the hub looked: the answer is for those who asked before. */
  isOutdated: boolean;
}

/** What the identities need of the stream of the store. */
export interface Following {
  /** Begins with it, if that has not been done. */
  follow(): void;
  /** Every change from now on is told. */
  readonly isWhole: boolean;
}

/** Reads identities once, and again when they change. */
export class Identities implements ClusterReader {
  readonly storageKeys = Object.values(STORAGE_KEYS);
  /** Who uses no such tokens pays nothing for them. */
  readonly isLazy = true;
  readonly #read: ReadIdentity;
  readonly #following: Following;
  readonly #kept = new Kept<string, Identity>(KEPT_MAX);
  readonly #asking = new Map<string, Question>();

  constructor(read: ReadIdentity, following: Following) {
    this.#read = read;
    this.#following = following;
  }

  /** At once where it is known. Undefined and rejections as `ReadIdentity`. */
  find(object: Spoken): Identity | undefined | Promise<Identity | undefined> {
    const { key } = object;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const asking = this.#asking.get(key);
    if (asking !== undefined && !asking.isOutdated) return asking.answer;
    this.#following.follow();
    const question: Question = {
      isOutdated: !this.#following.isWhole,
      answer: this.#read(object).then(
        (identity) => {
          if (identity !== undefined && !question.isOutdated) this.#kept.set(key, identity);
          this.#close(key, question);
          return identity;
        },
        (error: unknown) => {
          this.#close(key, question);
          throw error;
        },
      ),
    };
    this.#asking.set(key, question);
    return question.answer;
  }

  reset(): void {
    this.#kept.clear();
    for (const question of this.#asking.values()) question.isOutdated = true;
  }

  onEvent({ type, storageKey, namespace, name }: FeedEvent): void {
    if (type === 'present' || (this.#kept.size === 0 && this.#asking.size === 0)) return;
    const key = keyOf(storageKey, namespace, name);
    this.#kept.delete(key);
    const question = this.#asking.get(key);
    if (question !== undefined) question.isOutdated = true;
  }

  #close(key: string, question: Question): void {
    if (this.#asking.get(key) === question) this.#asking.delete(key);
  }
}

/** Reads through the hub of the actor's thread. */
export function identityReader(context: ActorContext): ReadIdentity {
  const slabs = ThreadSlabs.of(context);
  let hub: Ref<HubProtocol> | undefined;
  return async ({ storageKey, namespace, name }) => {
    hub ??= context.ref('hub');
    const question = { type: 'get', storageKey, namespace, name } as const;
    const present = await hub
      .ask({ ...question, freshness: PRESENT }, { deadlineMs: PRESENT_MS_MAX })
      .catch((error: unknown) => {
        if (!isOrchError(error, 'DeadlineExceeded')) throw error;
      });
    const isPresent = present !== undefined && present.refused === undefined;
    const answer = isPresent
      ? present
      : await hub.ask({ ...question, freshness: KNOWN }, { deadlineMs: HUB_DEADLINE_MS });
    // What is not known here may have been made elsewhere.
    if (answer.refused !== undefined || (answer.place === null && !isPresent))
      throw new OrchError('ActorDown', 'the store has not been read yet');
    if (answer.place === null) return undefined;
    const object = slabs.decode(answer.place);
    const { uid = '', deletionTimestamp } = metadataOf(object);
    const token = storageKey === STORAGE_KEYS.secret ? asText(asObject(object.data).token) : '';
    return {
      uid,
      deletedMs: deletionTimestamp ? Date.parse(deletionTimestamp) : Number.POSITIVE_INFINITY,
      tokenDigest: token === '' ? '' : tokenDigest(Buffer.from(token, 'base64').toString('latin1')),
    };
  };
}
