// What clients did and saw, as the checkers read it. `invoked` and `returned` are moments on one counter that also numbers
// the commits: of any two, one was first. Plain data.

/** An object as a client saw it. */
export interface Seen {
  /** `<storageKey>/<namespace>/<name>`. */
  readonly key: string;
  readonly revision: number;
  /** What the last write put into the annotation `tag`; each write has a tag of its own. */
  readonly tag: string;
  /** Has a finalizer. */
  readonly held: boolean;
  /** Its deletion has begun. */
  readonly dying: boolean;
  /** The whole object without kind and apiVersion, as JSON. */
  readonly text: string;
}

export type Freshness = 'mostRecent' | 'any' | 'notOlderThan' | 'exact';

interface Invocation {
  readonly client: number;
  /** The ingress asked, and which of its lives: `ingress/0#1`. */
  readonly front: string;
  readonly invoked: number;
  /** Infinity when no answer came. */
  readonly returned: number;
}

/** What came of a write. `unknown`: it may have happened, or may yet. */
export type WriteOutcome =
  | { readonly is: 'ok'; readonly object: Seen | undefined }
  | { readonly is: 'refused'; readonly code: number }
  | { readonly is: 'unknown'; readonly code: number };

export interface Write extends Invocation {
  readonly kind: 'create' | 'update' | 'patch' | 'delete';
  readonly key: string;
  readonly tag: string;
  /** Of a create or update: what it writes has a finalizer. */
  readonly held: boolean;
  /** Of an update: the version it insists on, as `versionOf` names it. */
  readonly expects: string | undefined;
  readonly outcome: WriteOutcome;
}

/** `absent` is an answer; `refused` is none. */
export interface Get extends Invocation {
  readonly kind: 'get';
  readonly key: string;
  readonly freshness: Freshness;
  /** The revision asked for; 0 when none. */
  readonly asked: number;
  readonly outcome: Seen | 'absent' | 'refused';
}

/** What a list, watch or feed is about. */
export interface Scope {
  readonly storageKey: string;
  /** Empty: all. */
  readonly namespace: string;
  /** Only objects with the label tier=front. */
  readonly frontOnly: boolean;
}

export interface List extends Invocation, Scope {
  readonly kind: 'list';
  readonly freshness: Freshness;
  readonly asked: number;
  /** The revisions that the chunks said they are of: one, unless the server told the client to go on inconsistently. */
  readonly outcome: { readonly revision: number; readonly items: readonly Seen[] } | 'expired' | 'refused';
}

export type Operation = Write | Get | List;

export interface WatchEvent {
  readonly type: string;
  readonly object: Seen;
  /** The chunk it arrived in. */
  readonly chunk: number;
}

export interface Watch extends Scope {
  readonly client: number;
  readonly front: string;
  readonly opened: number;
  /** The highest revision that anyone had been told of when it was opened. */
  readonly least: number;
  /** The revision it began after; undefined: with the present state. */
  readonly after: number | undefined;
  readonly events: readonly WatchEvent[];
  /** `open`: still open at the end, when everything had come to rest. `expired`: by a 410. `refused`: no events at all. */
  readonly end: 'open' | 'over' | 'expired' | 'refused';
  readonly writesWhileFull: number;
}

/** Everything that one run's clients did. */
export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly Watch[];
}

/** One version of an object: a deletion that only begins changes the version and not the tag. */
export function versionOf({ tag, dying }: Pick<Seen, 'tag' | 'dying'>): string {
  return dying ? `${tag}, dying` : tag;
}

interface ObjectJson {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly namespace?: string;
    /** Bookmarks have none. */
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly nodeName?: string };
}

/** An object as JSON.parse gave it. */
export function seenIn(storageKey: string, object: unknown): Seen {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object as ObjectJson;
  const { metadata } = rest;
  return {
    key: `${storageKey}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    revision: Number(metadata.resourceVersion),
    tag: metadata.annotations?.tag ?? '',
    held: (metadata.finalizers?.length ?? 0) > 0,
    dying: metadata.deletionTimestamp !== undefined,
    text: JSON.stringify(rest),
  };
}

/** What the checkers of commits look at besides. */
export function factsOf(object: unknown): { readonly isFront: boolean; readonly uid: string; readonly node: string } {
  const { metadata, spec } = object as ObjectJson;
  return { isFront: metadata.labels?.tier === 'front', uid: metadata.uid ?? '', node: spec?.nodeName ?? '' };
}
