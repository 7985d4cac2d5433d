// The feed of the store that actors are given to follow it: one that reads the slabs of their thread. Tests give another.
import type { ActorContext } from '../../runtime/actor.ts';
import { createStoreFeed, type FeedEvent, type StoreFeed } from '../../storage/following/store-feed.ts';
import { ParsedRecords } from '../../storage/records/parsed-records.ts';
import { ThreadSlabs } from '../../storage/records/thread-slabs.ts';

/** Makes the feed that turns the store's batches into events of these types. */
export type FeedFactory = (
  context: ActorContext,
  storageKeys: readonly string[] | undefined,
  onEvent: (event: FeedEvent) => void,
  onMoved?: (event: FeedEvent) => void,
) => StoreFeed;

/** The feed that reads the thread's slabs. */
export const feedOfThread: FeedFactory = (context, storageKeys, onEvent, onMoved) =>
  createStoreFeed({
    slabs: ThreadSlabs.of(context).viewOf(context.name),
    parsed: context.threadLocal('parsed records', () => new ParsedRecords()),
    ...(storageKeys === undefined ? undefined : { storageKeys }),
    onEvent,
    ...(onMoved && { onMoved }),
  });
