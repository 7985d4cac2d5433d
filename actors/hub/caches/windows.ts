// What `--watch-cache` and its sizes come to (SPEC.md, "API server options (remaining)"): how many changes of each type can be asked
// for, and whether its watches are sent bookmarks. Reads come from memory all the same.
import type { ServerOptions } from '../../../config/options.ts';
import type { WindowOf } from './resource-caches.ts';

export interface WatchWindows {
  readonly sizeOf: WindowOf;
  /** The original's cache makes them, and a type without one has none. */
  readonly sendsBookmarks: (storageKey: string) => boolean;
}

type WindowOptions = Pick<ServerOptions, 'watchCache' | 'watchCacheSizes' | 'defaultWatchCacheSize'>;

/** At this size the store's own window is the only one, as the original lets its caches grow. */
const AS_THE_STORE = 100;

/** Throws nothing: the option's form has been checked. A size of 0 is a type without a cache. */
export function watchWindows({ watchCache, watchCacheSizes, defaultWatchCacheSize }: WindowOptions): WatchWindows {
  const sizes = new Map(watchCacheSizes.map(resourceSize));
  const standard = defaultWatchCacheSize === AS_THE_STORE ? undefined : defaultWatchCacheSize;
  const own = (storageKey: string): number | undefined => sizes.get(storageKey) ?? standard;
  return {
    sizeOf: (storageKey) => (watchCache ? own(storageKey) || undefined : undefined),
    sendsBookmarks: (storageKey) => watchCache && own(storageKey) !== 0,
  };
}

/** `resource[.group]#size`, by storage key. */
function resourceSize(text: string): readonly [storageKey: string, size: number] {
  const [name = '', size = ''] = text.split('#');
  const dot = name.indexOf('.');
  const key = dot < 0 ? `core/${name}` : `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
  return [key, Number(size)];
}
