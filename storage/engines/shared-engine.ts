// What the store needs of an engine that others write to as well: the engine numbers what is committed, and tells every
// commit, own and foreign, through one road. Nothing above this interface may assume that this process made a commit, or
// that its revisions follow each other without a gap. Engine: storage/etcd/etcd-engine.ts.
import type { LocalEngine } from './local-engine.ts';

/** Versions that a revision of the own layout has room for: a batch is one revision, its transactions differ in their place. */
export const REVISION_STRIDE = 128;

/** In the details of StorageTooLarge: for the number of its operations, not for its bytes. */
export const TOO_MANY = 'operations';

/** What a keyspace was made with. */
export interface SharedContents {
  /** Fixed at creation: continue tokens are authenticated with it. Empty: they are those of the original, which serves the same lists. */
  readonly tokenKey: Uint8Array;
  /** What every version is above its engine revision times the stride. */
  readonly base: number;
  /** Versions that an engine revision has room for; at 1 a batch is one transaction. */
  readonly stride: number;
  /** Batches that may be under way at once. */
  readonly lanes: number;
}

/** A key that must still be as it was at an engine revision; 0: absent. */
export interface SharedGuard {
  readonly key: string;
  readonly revision: number;
}

/** One write, if the key is still as it was at engine revision `expect`; `value` undefined removes it. */
export interface SharedWrite {
  readonly key: string;
  readonly expect: number;
  readonly value: Uint8Array | undefined;
  /** Of a removal: what the object was when it went, where that is not what lay there. Only this process is told. */
  readonly last?: Uint8Array;
}

/** Writes that are made together or not at all. No key is written twice in a batch, nor guarded behind its write. */
export interface SharedTransaction {
  readonly guards: readonly SharedGuard[];
  readonly writes: readonly SharedWrite[];
  /** Told with its removals; its values carry it themselves. Ascends within the batch. */
  readonly place: number;
}

export interface SharedCommit {
  /** The engine revision of the batch. */
  readonly revision: number;
  /** Which transactions held, in their order. */
  readonly held: readonly boolean[];
}

/** A change as everyone is told it. */
export interface SharedEvent {
  readonly key: string;
  /** undefined: a removal. */
  readonly value: Uint8Array | undefined;
  /** Of a removal, if its writer said one. */
  readonly place: number | undefined;
  /** Of a removal, if its writer said it: what the object was when it went. */
  readonly last?: Uint8Array;
  /** The value lies there in a form that would not be written now. */
  readonly isStale?: boolean;
  /** There is a value, and the engine, whose form it is, cannot read it. */
  readonly unread?: UnreadValue;
}

/** Why a value could not be read (`unreadableIn`), and another look at it, which throws or rejects where it still cannot be. */
export interface UnreadValue {
  readonly error: unknown;
  readonly lookAgain: () => unknown;
  /** It may be none of ours: unless there was an object, there is none. */
  readonly mayBeNone?: boolean;
}

/** Hears the state at one revision, then every revision after it that changed something of ours, whole and in order. */
export interface Follower {
  value(key: string, revision: number, value: Uint8Array, isStale?: boolean): void | Promise<void>;
  /** There is a value that the engine, whose form it is, cannot read. Absent: then nothing can be followed. */
  unreadable?(key: string, error: unknown, lookAgain: () => unknown): void;
  /** The values so far are void: others forgot their revision while it was read, and all are told of a later one. */
  again(): void;
  /** The next is told when this one is done. */
  revision(revision: number, events: readonly SharedEvent[]): void | Promise<void>;
  /** What came in between cannot be had any more: the state has to be read anew. */
  lost(error: Error): void;
}

/** A value, and the engine revision that it was written at. */
export interface SharedValue {
  readonly key: string;
  readonly modRevision: number;
  readonly value: Uint8Array;
}

export interface SharedView {
  /** The next values in the order of their keys, empty at the end. */
  next(): Promise<readonly SharedValue[]>;
}

/** Bytes, by the address of a member. */
export type MemberBytes = readonly (readonly [member: string, bytes: number])[];

export interface SharedEngine {
  /** What values look like there, and their encryption, is the engine's: it takes and tells stored forms as they are. */
  readonly keepsForm?: boolean;
  /** Under what an object lies there. */
  pathOf(key: string): string;
  /** Keys of which no two may be written by batches that are under way at once say the same; absent: each is its own. */
  readonly contendedAs?: (key: string) => string;
  /** Opens the keyspace, or makes it. Throws OrchError StoreUnusable with one clear line when it is not one of ours. */
  open(): Promise<SharedContents>;
  /** Resolves with the revision of the state when all its values were told. Once. */
  follow(follower: Follower): Promise<number>;
  /**
   * As many at a time as there are lanes, none naming a key that another writes. Resolves when every outcome is known, however often it must ask. Rejects with OrchError StorageFull,
   * StorageFailed or StorageTooLarge when nothing of the batch has happened or will; any other rejection leaves open what has.
   */
  commit(batch: readonly SharedTransaction[]): Promise<SharedCommit>;
  /** A revision of ours at least as new as every commit that was acknowledged anywhere before the call. */
  readBarrier(): Promise<number>;
  /** Forgets what was replaced longer ago than about the interval at which this is called, whoever else calls it. */
  compact(): Promise<void>;
  /** The values as of a revision. Holds nothing: fails when the revision is compacted meanwhile. */
  view(revision: number): SharedView;
  /** What it takes on the disks of its members. Rejects where that cannot be told of any. */
  memberBytes(): Promise<MemberBytes>;
  /** Resolves when the engine could take a commit. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** What a store may stand on. */
export type StoreEngine = LocalEngine | SharedEngine;
