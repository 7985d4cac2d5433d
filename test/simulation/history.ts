// What clients did and saw, as the checkers read it. `invoked` and `returned` are moments on one counter that also numbers
// the commits: of any two, one was first. Plain data.

/** The group of the custom types that come and go. */
export const DEFINED_GROUP = 'sim.example.com';

/** An object as a client saw it. */
export interface Seen {
  /** `<storageKey>/<namespace>/<name>`. */
  readonly key: string;
  readonly revision: number;
  /** What the last write put into the annotation `tag`; each write has a tag of its own. */
  readonly tag: string;
  /** The annotation `before`: the tag there was when a patch took it along. */
  readonly before: string;
  /** Has a finalizer. */
  readonly held: boolean;
  /** Its deletion has begun. */
  readonly dying: boolean;
  /** The whole object without kind and apiVersion, as JSON. Empty when only a part of it was shown. */
  readonly text: string;
  /** Of an object of a custom type that was shown whole: by which edition of its schema. It is not in `text`. */
  readonly edition?: string;
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

/** What a write makes of the object. */
export interface Effect {
  /** What it puts into the annotation `tag`; empty: it leaves it alone. */
  readonly tag: string;
  /** What becomes of the annotation `before`: taken away, left alone, or made the tag there was. */
  readonly before: 'cleared' | 'kept' | 'chained';
  /** Whether the object has a finalizer afterwards; undefined: as before. */
  readonly held: boolean | undefined;
  /** The version it insists on, as `versionOf` names it. */
  readonly expects: string | undefined;
  /** A dry run: what it answers is what would have been, and it changes nothing. */
  readonly dry: boolean;
}

/** `collect`: the object's part in the deletion of a collection, which may find it gone already. */
export interface Write extends Invocation, Effect {
  readonly kind: 'create' | 'update' | 'patch' | 'delete' | 'collect';
  readonly key: string;
  /** Of a deletion: the propagation policy that was asked for. */
  readonly policy: string | undefined;
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
  /** Only objects of this name; empty: all. */
  readonly name: string;
  /** Only pods on this node; empty: all. */
  readonly node: string;
}

/** What the objects of a watch were asked to look like. */
export type Look = 'whole' | 'table' | 'partial';

export interface List extends Invocation, Scope {
  readonly kind: 'list';
  readonly freshness: Freshness;
  readonly asked: number;
  /** `absent`: there is no such type. The revisions that the chunks said they are of: one, unless the server told the client to go on inconsistently. */
  readonly outcome: { readonly revision: number; readonly items: readonly Seen[] } | 'expired' | 'absent' | 'refused';
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
  /**
   * `open`: still open at the end, when everything had come to rest. `expired`: by a 410. `absent`, as there is
   * no such type, and `refused`: no events at all.
   */
  readonly end: 'open' | 'over' | 'expired' | 'absent' | 'refused';
  /** The moment at which it expired. */
  readonly over?: number;
  readonly writesWhileFull: number;
  readonly look: Look;
}

/** What someone said in a server-side apply, or changed in a plain patch, of the members of `data`. */
export interface Assertion extends Invocation {
  readonly kind: 'apply' | 'patch';
  readonly key: string;
  /** As entries name it: `m0/Apply`, `u/Update`. */
  readonly manager: string;
  /** The member that only this manager writes, with a value of its own each time: it tells whose work a change is. */
  readonly mark: readonly [member: string, value: string];
  /** Members of `data`, the mark among them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly force: boolean;
  readonly dry: boolean;
  readonly outcome: WriteOutcome;
}

/** Everything that one run's clients did. */
export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly Watch[];
  readonly assertions: readonly Assertion[];
}

/** One version of an object: a deletion that only begins changes the version and not the tag. */
export function versionOf({ tag, dying }: Pick<Seen, 'tag' | 'dying'>): string {
  return dying ? `${tag}, dying` : tag;
}

interface OwnerReferenceJson {
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
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
    readonly ownerReferences?: readonly OwnerReferenceJson[];
    readonly deletionTimestamp?: string;
    readonly creationTimestamp?: string;
    readonly generation?: number;
  };
  readonly spec?: { readonly nodeName?: string; readonly holderIdentity?: string };
}

/** An object as JSON.parse gave it. */
export function seenIn(storageKey: string, object: unknown): Seen {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object as ObjectJson;
  if (!storageKey.startsWith(`${DEFINED_GROUP}/`)) {
    return { ...partSeenIn(storageKey, rest), text: textOf(rest) };
  }
  const { spec, ...others } = rest;
  const edition = Object.keys(spec ?? {}).join();
  return { ...partSeenIn(storageKey, rest), text: textOf(others), edition };
}

/** An object of which only the metadata was shown. */
export function partSeenIn(storageKey: string, object: unknown): Seen {
  const { metadata } = object as ObjectJson;
  return {
    key: `${storageKey}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    revision: Number(metadata.resourceVersion),
    tag: metadata.annotations?.tag ?? '',
    before: metadata.annotations?.before ?? '',
    held: (metadata.finalizers?.length ?? 0) > 0,
    dying: metadata.deletionTimestamp !== undefined,
    text: '',
  };
}

/** What the checkers of commits look at besides. */
export interface Facts {
  readonly isFront: boolean;
  readonly uid: string;
  /** Where a pod is bound to; empty for others. */
  readonly node: string;
  readonly owners: readonly { readonly uid: string; readonly blocks: boolean }[];
  readonly finalizers: readonly string[];
  readonly created: string;
  /** 0: it has none. */
  readonly generation: number;
  /** Who holds a lease; empty: nobody, or it is none. */
  readonly holder: string;
}

const NONE: readonly never[] = [];

export function factsOf(object: unknown): Facts {
  const { metadata, spec } = object as ObjectJson;
  return {
    isFront: metadata.labels?.tier === 'front',
    uid: metadata.uid ?? '',
    node: spec?.nodeName ?? '',
    owners:
      metadata.ownerReferences?.map(({ uid, blockOwnerDeletion = false }) => ({ uid, blocks: blockOwnerDeletion })) ??
      NONE,
    finalizers: metadata.finalizers ?? NONE,
    created: metadata.creationTimestamp ?? '',
    generation: metadata.generation ?? 0,
    holder: spec?.holderIdentity ?? '',
  };
}

/** The same of objects that say the same: the order of members says nothing. */
function textOf(object: unknown): string {
  return JSON.stringify(object, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
