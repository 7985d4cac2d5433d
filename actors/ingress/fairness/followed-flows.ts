// What API priority and fairness goes by, as each ingress follows it: where the store is on its thread, whoever has written a flow
// schema finds the next request judged by it. Owns what is known of the two types; their conditions are written elsewhere
// (actors/controllers/fairness/flow-schemas.ts).
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asNumber, asText, partAt } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { FeedFollower, type FeedListener } from '../../following/feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../../following/feed-of-thread.ts';
import type { StoreBatch } from '../../store/protocol.ts';

/** The objects that requests are judged by, as far as they are read: plain flow schemas and priority levels. */
export interface FlowObjects {
  readonly schemas: readonly JsonObject[];
  readonly levels: readonly JsonObject[];
}

interface Followed {
  /** Without what changes nothing for requests. */
  readonly object: JsonObject;
  readonly generation: number;
  readonly uid: string;
}

export class FollowedFlows implements FeedListener {
  readonly #tell: (objects: FlowObjects) => void;
  readonly #schemaKey: string;
  readonly #follower: FeedFollower;
  readonly #schemas = new Map<string, Followed>();
  readonly #levels = new Map<string, Followed>();
  #isChanged = false;

  /** `tell`: they are these from now on; called once all are known, and behind each batch that changed them. */
  constructor(
    context: ActorContext,
    dialect: Dialect,
    tell: (objects: FlowObjects) => void,
    feedFactory: FeedFactory = feedOfThread,
  ) {
    const group = dialect.spell('flowcontrol.apiserver.@group');
    this.#tell = tell;
    this.#schemaKey = `${group}/flowschemas`;
    const storageKeys = [this.#schemaKey, `${group}/prioritylevelconfigurations`];
    this.#follower = new FeedFollower(context, storageKeys, feedFactory, this);
  }

  /** Does not wait for the store. */
  start(): void {
    this.#follower.start();
  }

  stop(): void {
    this.#follower.stop();
  }

  onStoreBatch(batch: StoreBatch): void {
    this.#follower.onBatch(batch);
  }

  onStoreLost(): void {
    this.#follower.onLost();
  }

  /** What was told holds until all is known again. */
  onReset(): void {
    this.#schemas.clear();
    this.#levels.clear();
  }

  onEvent(event: FeedEvent): void {
    const all = event.storageKey === this.#schemaKey ? this.#schemas : this.#levels;
    const before = all.get(event.name);
    const after = event.type === 'delete' ? undefined : followed(event);
    if (after === undefined) all.delete(event.name);
    else all.set(event.name, after);
    if (before?.generation !== after?.generation || before?.uid !== after?.uid) this.#isChanged = true;
  }

  onSynced(): void {
    this.#isChanged = true;
    this.onBatchEnd();
  }

  onBatchEnd(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#tell({ schemas: objectsOf(this.#schemas), levels: objectsOf(this.#levels) });
  }
}

function followed(event: FeedEvent): Followed {
  const object = event.object();
  const { name, uid, generation } = partAt(object, 'metadata');
  return {
    object: { metadata: { name, uid }, spec: object.spec },
    generation: asNumber(generation),
    uid: asText(uid),
  };
}

function objectsOf(all: ReadonlyMap<string, Followed>): readonly JsonObject[] {
  return [...all.values()].map(({ object }) => object);
}
