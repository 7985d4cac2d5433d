// A model of an etcd cluster: revisions, transactions within transactions under one revision, compaction, watches that lag and
// break off, calls whose outcome nobody learns, applied or not. Each store talks to it through a client of its own. What it
// does was seen on etcd 3.4: the contract of shared engines runs on this and on the real one.
import type { MemberBytes } from '../../storage/engines/shared-engine.ts';
import {
  type EtcdCluster,
  EtcdError,
  type EtcdEvent,
  type EtcdOperation,
  type EtcdPair,
  type EtcdResult,
  type EtcdStatus,
  type EtcdTransaction,
  type RangeAnswer,
  type RangeRequest,
  type TransactionAnswer,
  type WatchListener,
} from '../../storage/etcd/etcd-cluster.ts';

/** What happens to one call. */
export interface CallFate {
  /** Before it reaches the cluster, and before its answer comes back. */
  readonly delayMs: number;
  /** The answer is lost, or already the call. */
  readonly loses: 'call' | 'answer' | undefined;
}

export interface EtcdModelParts {
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly nextFate: () => CallFate;
  /** How late a watch hears of an event. */
  readonly watchDelayMs: () => number;
  /** Hears each revision before anybody is answered. */
  readonly onStored?: (revision: number, events: readonly EtcdEvent[]) => void;
}

interface Watch {
  readonly key: string;
  readonly end: string;
  from: number;
  readonly listener: WatchListener;
}

const OPERATIONS_MAX = 128;

/** What the members agree on. */
export class EtcdModel {
  readonly #parts: EtcdModelParts;
  readonly #watches = new Set<Watch>();
  /** Every version of every key, in order; a removal has no value. */
  readonly #history = new Map<string, EtcdPair[]>();
  readonly #events: EtcdEvent[] = [];
  /** The keys of each lease that has not ended. */
  readonly #leases = new Map<number, Set<string>>();
  revision = 1;
  compacted = 0;
  isFull = false;
  /** The next change fills it: etcd makes that one, and answers as if it had not. */
  isNearlyFull = false;

  constructor(parts: EtcdModelParts) {
    this.#parts = parts;
  }

  /** A client of one process. `hears`: brings an answer or an event to the process, at once when absent. */
  client(hears: (what: () => void) => void = (what) => what()): ModelClient {
    return new ModelClient(this, this.#parts, hears);
  }

  range({ key, end, revision = this.revision, limit = 0 }: RangeRequest): RangeAnswer {
    if (revision < this.compacted) throw new EtcdError('compacted', 'required revision has been compacted');
    if (revision > this.revision) throw new EtcdError('unknown', 'required revision is a future revision');
    const keys = end === undefined ? [key] : [...this.#history.keys()].filter((one) => one >= key && one < end);
    const pairs = keys.sort().flatMap((one) => this.#pairAt(one, revision) ?? []);
    const shown = limit === 0 ? pairs : pairs.slice(0, limit);
    return { revision, pairs: shown, more: shown.length < pairs.length };
  }

  transact(transaction: EtcdTransaction): TransactionAnswer {
    checkSize(transaction);
    if (this.isFull && mayPut(transaction)) throw noSpace();
    const revision = this.revision + 1;
    const events: EtcdEvent[] = [];
    const answer = this.#apply(transaction, revision, events);
    if (events.length > 0) {
      if (this.isFull) throw noSpace();
      this.#store(events, revision);
      if (this.isNearlyFull) {
        this.isNearlyFull = false;
        this.isFull = true;
        throw noSpace();
      }
    }
    return { ...answer, revision: this.revision };
  }

  grantLease(lease: number, seconds: number): void {
    if (this.isFull) throw noSpace();
    if (this.#leases.has(lease)) throw new EtcdError('refused', 'etcdserver: lease already exists');
    this.#leases.set(lease, new Set());
    this.#parts.after(seconds * 1000, () => this.endLease(lease));
  }

  /** All its keys go under one revision. */
  endLease(lease: number): void {
    const keys = [...(this.#leases.get(lease) ?? [])].sort();
    this.#leases.delete(lease);
    const revision = this.revision + 1;
    if (keys.length === 0) return;
    this.#store(
      keys.map((key) => ({ key, createRevision: 0, modRevision: revision, value: undefined })),
      revision,
    );
  }

  /** Leases that have not ended. */
  get leases(): readonly number[] {
    return [...this.#leases.keys()];
  }

  compact(revision: number): void {
    if (revision <= this.compacted) throw new EtcdError('compacted', 'required revision has been compacted');
    this.compacted = revision;
  }

  add(watch: Watch): void {
    this.#watches.add(watch);
    this.pump(watch);
  }

  remove(watch: Watch): void {
    this.#watches.delete(watch);
  }

  /** All watches break off, as when their member goes. */
  breakWatches(): void {
    for (const watch of [...this.#watches]) {
      this.#watches.delete(watch);
      watch.listener.onEnd(new EtcdError('unknown', 'the member is gone'));
    }
  }

  /** Sends a watch what it has not had, whole revisions in order. */
  pump(watch: Watch): void {
    if (!this.#watches.has(watch)) return;
    if (watch.from <= this.compacted) {
      this.#watches.delete(watch);
      watch.listener.onEnd(new EtcdError('compacted', 'required revision has been compacted', this.compacted));
      return;
    }
    const due = this.#events.filter(({ modRevision }) => modRevision >= watch.from);
    watch.from = this.revision + 1;
    const wanted = due.filter(({ key }) => key >= watch.key && key < watch.end);
    if (wanted.length > 0) watch.listener.onEvents(wanted);
  }

  #apply(transaction: EtcdTransaction, revision: number, events: EtcdEvent[]): TransactionAnswer {
    const { compare, success, failure } = transaction;
    const succeeded = compare.every(({ key, target, value }) => {
      return (this.#pairAt(key, this.revision)?.[target] ?? 0) === value;
    });
    const results = (succeeded ? success : failure).map((one) => this.#perform(one, revision, events));
    return { revision, succeeded, results };
  }

  #perform(operation: EtcdOperation, revision: number, events: EtcdEvent[]): EtcdResult {
    if ('range' in operation) return { kind: 'range', pairs: this.range(operation.range).pairs };
    if ('txn' in operation) {
      return { kind: 'txn', succeeded: this.#apply(operation.txn, revision, events).succeeded };
    }
    if ('put' in operation) {
      const { key, value, lease } = operation.put;
      const createRevision = this.#pairAt(key, this.revision)?.createRevision ?? revision;
      this.#attach(key, lease);
      events.push({ key, createRevision, modRevision: revision, value: Uint8Array.from(value) });
      return { kind: 'other' };
    }
    for (const { key } of this.range(operation.delete).pairs) {
      this.#attach(key, undefined);
      events.push({ key, createRevision: 0, modRevision: revision, value: undefined });
    }
    return { kind: 'other' };
  }

  /** A key goes with the lease of its last write alone. */
  #attach(key: string, lease: number | undefined): void {
    const keys = lease === undefined ? undefined : this.#leases.get(lease);
    if (lease !== undefined && keys === undefined) {
      throw new EtcdError('leaseOver', 'etcdserver: requested lease not found');
    }
    for (const others of this.#leases.values()) others.delete(key);
    keys?.add(key);
  }

  #store(events: readonly EtcdEvent[], revision: number): void {
    for (const { key, value } of events) {
      const versions = this.#history.get(key) ?? [];
      const before = this.#pairAt(key, this.revision);
      const version = value === undefined ? 0 : (before?.version ?? 0) + 1;
      const createRevision = before?.createRevision ?? revision;
      versions.push({ key, createRevision, modRevision: revision, version, value: value ?? new Uint8Array() });
      this.#history.set(key, versions);
    }
    this.#events.push(...events);
    this.revision = revision;
    this.#parts.onStored?.(revision, events);
    for (const watch of this.#watches) this.#parts.after(this.#parts.watchDelayMs(), () => this.pump(watch));
  }

  #pairAt(key: string, revision: number): EtcdPair | undefined {
    const pair = this.#history.get(key)?.findLast(({ modRevision }) => modRevision <= revision);
    return pair === undefined || pair.version === 0 ? undefined : pair;
  }
}

/** One process's way to the model. */
class ModelClient implements EtcdCluster {
  readonly #model: EtcdModel;
  readonly #parts: EtcdModelParts;
  readonly #watches = new Set<Watch>();
  readonly #hears: (what: () => void) => void;
  #isClosed = false;
  #isCut = false;

  constructor(model: EtcdModel, parts: EtcdModelParts, hears: (what: () => void) => void) {
    this.#model = model;
    this.#parts = parts;
    this.#hears = hears;
  }

  range(request: RangeRequest): Promise<RangeAnswer> {
    return this.#call(() => this.#model.range(request));
  }

  transact(transaction: EtcdTransaction): Promise<TransactionAnswer> {
    return this.#call(() => this.#model.transact(transaction));
  }

  compact(revision: number): Promise<void> {
    return this.#call(() => this.#model.compact(revision));
  }

  grantLease(lease: number, seconds: number): Promise<void> {
    return this.#call(() => this.#model.grantLease(lease, seconds));
  }

  status(): Promise<EtcdStatus> {
    return this.#call(() => ({ version: 'model', databaseBytes: 0 }));
  }

  memberBytes(): Promise<MemberBytes> {
    return this.#call(() => [['model', 0]]);
  }

  watch(key: string, end: string, fromRevision: number, listener: WatchListener): () => void {
    const heard = (what: () => void): void => this.#hears(() => this.#watches.has(watch) && what());
    const watch: Watch = {
      key,
      end,
      from: fromRevision,
      listener: {
        onEvents: (events) => heard(() => listener.onEvents(events)),
        onEnd: (error) => heard(() => listener.onEnd(error)),
      },
    };
    this.#watches.add(watch);
    this.#parts.after(this.#parts.watchDelayMs(), () => {
      if (this.#watches.has(watch)) this.#model.add(watch);
    });
    return () => {
      this.#watches.delete(watch);
      this.#model.remove(watch);
    };
  }

  /** The process is gone: calls that are on their way may still arrive. */
  close(): void {
    this.#isClosed = true;
    for (const watch of this.#watches) this.#model.remove(watch);
    this.#watches.clear();
  }

  /** The process is gone, and hears of nothing any more. */
  cut(): void {
    this.#isCut = true;
    this.close();
  }

  #call<T>(work: () => T): Promise<T> {
    const { delayMs, loses } = this.#parts.nextFate();
    const { after } = this.#parts;
    return new Promise((resolve, reject) => {
      const answered = (answer: () => void): void => after(delayMs, () => this.#hears(() => this.#isCut || answer()));
      const lost = (): void => reject(new EtcdError('unknown', 'there was no answer'));
      after(delayMs, () => {
        if (loses === 'call') {
          answered(lost);
          return;
        }
        try {
          const answer = work();
          answered(() => (this.#isClosed || loses === 'answer' ? lost() : resolve(answer)));
        } catch (error) {
          answered(() => reject(error));
        }
      });
    });
  }
}

/** What a batch may hold, as etcd counts. Throws EtcdError. */
function checkSize({ compare, success, failure }: EtcdTransaction, max = OPERATIONS_MAX): void {
  const count = Math.max(compare.length, success.length, failure.length);
  if (count > max) throw new EtcdError('tooMany', 'etcdserver: too many operations in txn request');
  for (const one of [...success, ...failure]) if ('txn' in one) checkSize(one.txn, max - count);
}

function noSpace(): EtcdError {
  return new EtcdError('full', 'etcdserver: mvcc: database space exceeded');
}

/** What etcd asks of a transaction when it is full, whatever would come of it. */
function mayPut({ success, failure }: EtcdTransaction): boolean {
  return [...success, ...failure].some((one) => 'put' in one || ('txn' in one && mayPut(one.txn)));
}
