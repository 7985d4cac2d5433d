// A shared engine on etcd in the original's layout: its keys, its values, a transaction a write, so that its servers and this one
// serve the same objects side by side. Beside them only what lies under `orch/` is this server's own. What others wrote and no type
// here knows is left as it is. Which writes are whose: original-reading.ts.
import type { Timer, Timers } from '../../../runtime/environment.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type {
  Follower,
  MemberBytes,
  SharedCommit,
  SharedContents,
  SharedEngine,
  SharedTransaction,
  SharedValue,
  SharedView,
} from '../../engines/shared-engine.ts';
import { SharedCompaction } from '../compaction.ts';
import { CountedWriter, refusedBatch } from '../counted-writer.ts';
import { type EtcdCluster, EtcdError } from '../etcd-cluster.ts';
import { BARRIER_MS_MAX, OPEN_MS_MAX } from '../etcd-engine.ts';
import { EtcdFeed } from '../etcd-feed.ts';
import { requireBehind } from '../etcd-history.ts';
import { openIdentity } from '../etcd-identity.ts';
import { EtcdPages } from '../etcd-pages.ts';
import { Patience } from '../patience.ts';
import type { ServedKeyspace } from '../served-keyspace.ts';
import type { LeaseGrants } from './lease-grants.ts';
import type { OriginalForms } from './original-forms.ts';
import type { OriginalKeys } from './original-keys.ts';
import { OriginalReading } from './original-reading.ts';
import { type LeaseSeconds, OriginalWrites, type PlannedWrite } from './original-writes.ts';
import type { RangeAllocations } from './range-allocation.ts';
import { RangeKeeping } from './range-keeping.ts';
import { ServiceRanges } from './service-ranges.ts';

/** Raised by whoever compacts, the original's servers among them; under no prefix. */
const COMPACTION_KEY = 'compact_rev_key';
/** How long what others write elsewhere is waited for before a key of our own says that there is nothing more. */
const NUDGE_MS = 20;
/** As the original does. */
const REPAIR_EVERY_MS = 180_000;

export interface OriginalEngineParts {
  readonly cluster: EtcdCluster;
  readonly timers: Timers;
  readonly dialect: string;
  /** Tells this process from all others there will ever be. */
  readonly processId: string;
  /** For a keyspace that is made. */
  readonly tokenKey: Uint8Array;
  readonly served?: ServedKeyspace | undefined;
  readonly warn: (text: string) => void;
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
  readonly leases: LeaseGrants;
  readonly leaseSeconds: LeaseSeconds;
}

/** Of tokens that the original makes and takes as well. */
const NO_KEY = new Uint8Array();

export class OriginalEngine implements SharedEngine {
  readonly keepsForm = true;
  readonly #parts: OriginalEngineParts;
  readonly #cluster: EtcdCluster;
  readonly #patience: Patience;
  readonly #compaction: SharedCompaction;
  readonly #writes: OriginalWrites;
  readonly #reading: OriginalReading;
  readonly #keeping: RangeKeeping;
  readonly #feed: EtcdFeed;
  #lanes: CountedWriter[] = [];
  #free: CountedWriter[] = [];
  #repairs: Timer | undefined;
  #isClosed = false;

  constructor(parts: OriginalEngineParts) {
    const { cluster, timers, keys, warn } = parts;
    this.#parts = parts;
    this.#cluster = cluster;
    this.#patience = new Patience(timers, parts.warn);
    this.#compaction = new SharedCompaction(cluster, COMPACTION_KEY);
    this.#writes = new OriginalWrites(parts);
    this.#reading = new OriginalReading(parts);
    this.#keeping = new RangeKeeping({ ...parts, patience: this.#patience });
    this.#feed = new EtcdFeed({
      cluster,
      warn,
      pause: (tries) => this.#patience.pause(tries),
      view: {
        from: keys.root,
        end: keys.rootEnd,
        arrived: (events, revision) => this.#reading.arrived(events, revision),
      },
    });
  }

  /** Of one range there is one value. */
  contendedAs(key: string): string {
    return ServiceRanges.isRecord(key) ? 'ranges' : key;
  }

  pathOf(key: string): string {
    return this.#parts.keys.pathOf(key);
  }

  async open(): Promise<SharedContents> {
    const { processId, keys } = this.#parts;
    const identity = `${keys.own}identity`;
    const { writtenAt, contents } = await this.#patience.atStart(OPEN_MS_MAX, () =>
      openIdentity(this.#cluster, identity, { ...this.#parts, layout: 'original' }),
    );
    const { lanes } = contents;
    this.#lanes = Array.from({ length: lanes }, (_, lane) => {
      const key = `${keys.own}writers/${processId}.${lane}`;
      return new CountedWriter({
        cluster: this.#cluster,
        patience: this.#patience,
        key,
        identity,
        identityAt: writtenAt,
      });
    });
    this.#free = [...this.#lanes];
    return { ...contents, tokenKey: NO_KEY };
  }

  async follow(follower: Follower): Promise<number> {
    await this.#keeping.prepare(OPEN_MS_MAX);
    let pages = this.#pages();
    await this.#patience.atStart(OPEN_MS_MAX, () =>
      this.#load(pages, follower).catch((error: unknown) => {
        if (!(error instanceof EtcdError) || error.kind !== 'compacted') throw error;
        follower.again();
        this.#reading.clear();
        pages = this.#pages();
        throw new EtcdError('unknown', error.message);
      }),
    );
    const { revision } = pages;
    this.#feed.start(follower, revision);
    this.#repairs = this.#parts.timers.every(REPAIR_EVERY_MS, () => void this.#keeping.repair());
    void this.#keeping.repair();
    return revision;
  }

  async commit(batch: readonly SharedTransaction[]): Promise<SharedCommit> {
    const [transaction] = batch;
    if (transaction === undefined || batch.length > 1) throw new Error('a revision is of one transaction here');
    const planned = this.#writes.plan(transaction);
    if ('takenAt' in planned) return { revision: planned.takenAt, held: [false] };
    const lane = this.#free.pop();
    if (lane === undefined) throw new Error('more is committed at a time than there are lanes');
    try {
      return await this.#write(lane, transaction, planned);
    } catch (error) {
      throw refusedBatch(error);
    } finally {
      this.#free.push(lane);
    }
  }

  async readBarrier(): Promise<number> {
    const { position } = this.#feed;
    const missing = `${this.#parts.keys.own}nothing`;
    const { revision } = await this.#patience.asked(BARRIER_MS_MAX, () => this.#cluster.range({ key: missing }));
    this.#feed.requireAfter(position, revision);
    if (revision > this.#feed.position.reached) this.#parts.timers.after(NUDGE_MS, () => void this.#nudge(revision));
    return revision;
  }

  compact(): Promise<void> {
    return this.#compaction.turn();
  }

  view(revision: number): SharedView {
    const pages = this.#pages(revision);
    // As of now: under which revision a record was told lies nowhere in etcd.
    const records = this.#reading.recordsAt(revision);
    return {
      next: async () => {
        for (;;) {
          const page = await this.#patience.asked(BARRIER_MS_MAX, () => pages.next());
          const values: SharedValue[] = [];
          for (const pair of page) values.push(...(await this.#reading.valuesAt(pair)));
          values.push(...(page.length === 0 ? records.takeRest() : records.takeOf(values)));
          if (values.length > 0 || page.length === 0) return Promise.all(values.map((value) => this.#sealed(value)));
        }
      },
    };
  }

  memberBytes(): Promise<MemberBytes> {
    return this.#cluster.memberBytes();
  }

  async probe(): Promise<void> {
    await this.#cluster.range({ key: `${this.#parts.keys.own}identity` });
  }

  /** Counters are not needed any more; where they cannot be removed now, they stay. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#repairs?.cancel();
    this.#feed.stop();
    this.#patience.end();
    const used = this.#lanes.filter(({ batches }) => batches > 0);
    if (used.length > 0) {
      const removal = { compare: [], success: used.flatMap((lane) => lane.removal()), failure: [] };
      await this.#cluster.transact(removal).catch(() => {});
    }
    this.#cluster.close();
  }

  async #sealed({ key, modRevision, value }: SharedValue): Promise<SharedValue> {
    return { key, modRevision, value: await this.#parts.forms.sealStored(key, value) };
  }

  #pages(revision = 0): EtcdPages {
    const { root, rootEnd } = this.#parts.keys;
    return new EtcdPages(this.#cluster, root, rootEnd, revision);
  }

  /** Goes on where it was when it is asked again. */
  async #load(pages: EtcdPages, follower: Follower): Promise<void> {
    for (let page = await pages.next(); page.length > 0; page = await pages.next()) {
      for (const pair of page) await this.#reading.load(pair, follower);
    }
    for (const { key, revision, value } of this.#parts.ranges.records()) await follower.value(key, revision, value);
  }

  async #write(lane: CountedWriter, transaction: SharedTransaction, planned: PlannedWrite): Promise<SharedCommit> {
    const flight = { counter: lane.key, transaction, planned };
    this.#reading.begin(flight);
    try {
      for (;;) {
        const leased = await this.#writes.leased(planned, this.#patience);
        try {
          const { position } = this.#feed;
          const { revision, held } = await lane.write([leased]);
          requireBehind(position, revision);
          const isHeld = held[0] === true;
          this.#feed.committed({ revision, mark: undefined }, () =>
            isHeld ? this.#reading.own(flight, revision) : [],
          );
          return { revision, held: [isHeld] };
        } catch (error) {
          if (!(error instanceof EtcdError) || error.kind !== 'leaseOver') throw error;
          this.#writes.forgetLease(planned);
        }
      }
    } finally {
      this.#reading.end(flight);
    }
  }

  /**
   * A revision that nothing of ours is in is not told: one that is, says that all before it was. It is tried until it is there, for
   * there may be nobody else who writes: those who wait for the revision waited for ever after etcd had been full for a moment.
   */
  async #nudge(revision: number): Promise<void> {
    const tick = { put: { key: `${this.#parts.keys.own}tick`, value: Buffer.from(String(revision)) } };
    for (let tries = 0; !this.#isClosed && this.#feed.position.reached < revision; tries++) {
      if (tries > 0) await this.#patience.pause(tries);
      try {
        await this.#patience.asked(BARRIER_MS_MAX, () =>
          this.#cluster.transact({ compare: [], success: [tick], failure: [] }),
        );
        return;
      } catch (error) {
        if (!(error instanceof OrchError) && !(error instanceof EtcdError)) throw error;
        if (tries === 0) this.#parts.warn(`a consistent read waits: ${error.message}`);
      }
    }
  }
}
