// The watch hub alone, without sockets or disk: one thread applies the store's stream to 100,000 pods and frames it for ten
// cohorts. The hub is the server's own; the store and the ingress beside it only send and count.
import { setImmediate } from 'node:timers/promises';
import { type HubOptions, hubActor } from '../../actors/hub/hub.ts';
import type { HubProtocol, WatchDeliveryProtocol, WatchQuery } from '../../actors/hub/protocol.ts';
import type { StoreProtocol } from '../../actors/store/protocol.ts';
import { encodeStored } from '../../api/codec/stored-object.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { ProtobufRecords } from '../../rendering/protobuf-records.ts';
import type { Actor, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { planOfOneThread } from '../../runtime/placement/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { startInProcess } from '../../runtime/threads/in-process.ts';
import type { PresentState, Publication } from '../../storage/following/publication.ts';
import { packAttributes } from '../../storage/forms/attributes.ts';
import { SlabPool } from '../../storage/records/slab-pool.ts';
import { CREATED, stampRevision, UPDATED, valueStart } from '../../storage/records/slab-record.ts';
import { SharedState } from '../../storage/shared-state.ts';
import type { Bench, Workload } from '../bench.ts';
import { figuresOf } from '../figures/report.ts';
import type { LoadResult } from '../load-protocol.ts';
import { fillerText } from '../objects.ts';

const OBJECTS = 100_000;
const EVENTS = 100_000;
const COHORTS = 10;
const BYTES = 800;
/** Events of one publication: what the store gathers under load. */
const BATCH = 64;
const SLAB_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;
const WATCH_MS = 3_600_000;
const DEADLINE_MS = 60_000;
const STORAGE_KEY = 'core/pods';
/** Of the store, which never restarts here. */
const INCARNATION = 1;

export const hub: Workload = {
  name: 'hub',
  summary: 'The hub alone, in this process: the stream applied to 100,000 pods and framed for ten cohorts',
  async run(bench, report) {
    const objects = bench.options.objects ?? OBJECTS;
    const events = bench.options.count ?? EVENTS;
    const result = await measure(bench, objects, events, bench.options.bytes ?? BYTES);
    const details = { eventsPerSecond: events / result.seconds, framedBytes: result.bodyBytes };
    report(
      figuresOf({
        workload: 'hub',
        parameters: { objects, cohorts: COHORTS },
        unit: 'events framed',
        result,
        floor: undefined,
        details,
      }),
    );
  },
};

async function measure({ children }: Bench, objects: number, events: number, bytes: number): Promise<LoadResult> {
  const stream = new WrittenStream(objects, bytes);
  const batches = stream.batches(events);
  const ingress = new CountingIngress();
  const dialect = DIALECTS.orch;
  const registry = createRegistry(dialect);
  const options: HubOptions = {
    selectableFields: (storageKey) => registry.storageType(storageKey)?.selectableFields ?? [],
    initialEventsEndAnnotation: 'end',
    records: new ProtobufRecords(dialect),
  };
  const actors: readonly ActorDefinition<undefined>[] = [
    { ...standIn('store'), create: () => new StandInStore(stream.present()) },
    { ...standIn('ingress'), create: () => ingress },
    { ...hubActor, create: (context) => hubActor.create(context, options) },
  ];
  const run = await startInProcess({
    actors,
    plan: planOfOneThread(actors),
    options: undefined,
    environment: realEnvironment,
  });
  try {
    const ref = run.ref<HubProtocol>('hub');
    for (let cohort = 0; cohort < COHORTS; cohort++) {
      await ref.ask({ type: 'watch', ...watchQuery(cohort, stream.revisionAtStart) }, { deadlineMs: DEADLINE_MS });
    }
    const beforeCpu = process.cpuUsage();
    const beginMs = performance.now();
    for (const batch of batches) {
      stream.commit(batch.lastRevision);
      ref.tell<'storeBatch'>({ type: 'storeBatch', ...batch });
      // Watchers get what came in a turn as one chunk: a turn for each batch is the most they can cost.
      await setImmediate();
      children.checkOpen();
    }
    // The last chunks are on their way to the ingress, or wait for the end of the hub's rest.
    const giveUpMs = performance.now() + DEADLINE_MS;
    while (ingress.events < events * COHORTS && performance.now() < giveUpMs) await setImmediate();
    const seconds = (performance.now() - beginMs) / 1000;
    const { user, system } = process.cpuUsage(beforeCpu);
    return {
      operations: events * COHORTS,
      writes: events,
      seconds,
      latency: { p50Ms: 0, p99Ms: 0, maxMs: 0 },
      bodyBytes: ingress.bytes,
      errors: events * COHORTS - ingress.events,
      serverCpuSeconds: (user + system) / 1e6,
    };
  } finally {
    await run.stop();
  }
}

/** Ten selections that all see every event, and none of which is another's. */
function watchQuery(cohort: number, afterRevision: number): WatchQuery {
  return {
    storageKey: STORAGE_KEY,
    namespace: '',
    labelSelector: `cohort-${cohort}!=x`,
    fieldSelector: '',
    watcher: cohort + 1,
    afterRevision,
    freshness: { kind: 'any' },
    bookmarks: false,
    timeoutMs: WATCH_MS,
    sendInitialEventsEnd: false,
    rendering: {
      target: { group: '', version: 'v1', kind: 'Pod' },
      shape: undefined,
      encoding: 'json',
      pretty: false,
    },
  };
}

function standIn(actor: string) {
  return { actor, mailboxMax: 100_000, stopOrder: 1 } as const;
}

class StandInStore implements Actor<StoreProtocol> {
  readonly #present: PresentState;

  constructor(present: PresentState) {
    this.#present = present;
  }

  onMessage(message: MessageOf<StoreProtocol>, reply: Reply): void {
    if (message.type === 'subscribe') reply.send(this.#present);
  }
}

class CountingIngress implements Actor<WatchDeliveryProtocol> {
  events = 0;
  bytes = 0;
  /** All cohorts that see the same share a chunk: its lines are counted once. */
  #counted: Uint8Array | undefined;
  #lines = 0;

  onMessage(message: MessageOf<WatchDeliveryProtocol>): void {
    if (message.type !== 'watchFrames' || message.chunk.byteLength === 0) return;
    const { chunk } = message;
    if (chunk !== this.#counted) this.#lines = linesOf(chunk);
    this.#counted = chunk;
    this.events += this.#lines;
    this.bytes += chunk.byteLength;
  }
}

function linesOf(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Records as the store writes them: the objects at the start, then updates of them in turn. */
class WrittenStream {
  readonly revisionAtStart: number;
  readonly #shared = new SharedState();
  readonly #pool = new SlabPool(SLAB_BYTES, this.#shared);
  readonly #objects: number;
  readonly #filler: string;
  readonly #live: number[] = [];
  readonly #slabsAtStart: number;
  #revision = 0;

  constructor(objects: number, bytes: number) {
    this.#objects = objects;
    this.#filler = fillerText(Math.max(0, bytes - 200));
    for (let index = 0; index < objects; index++) {
      const { slab, offset } = this.#write(index, true);
      this.#live.push(slab, offset);
    }
    this.revisionAtStart = this.#revision;
    this.#slabsAtStart = this.#pool.count;
    this.commit(this.#revision);
  }

  present(): PresentState {
    return {
      incarnation: INCARNATION,
      sequence: 0,
      revision: this.revisionAtStart,
      compactedRevision: this.revisionAtStart,
      sharedState: this.#shared.memory,
      readerSlot: this.#shared.claimReader(0)!,
      slabs: this.#pool.memories().slice(0, this.#slabsAtStart),
      live: Uint32Array.from(this.#live),
      first: 0,
      history: new Uint32Array(),
      tokenKey: new Uint8Array(32),
      isShared: false,
    };
  }

  batches(events: number): readonly Publication[] {
    const batches: Publication[] = [];
    let known = this.#slabsAtStart;
    for (let done = 0; done < events; done += BATCH) {
      const runs: number[] = [];
      for (let i = done; i < Math.min(events, done + BATCH); i++) {
        const { slab, offset } = this.#write((i * 7919) % this.#objects, false);
        if (runs.at(-3) === slab) runs[runs.length - 1]! += 1;
        else runs.push(slab, offset, 1);
      }
      const newSlabs = this.#pool.memories(known);
      known = this.#pool.count;
      batches.push({
        incarnation: INCARNATION,
        sequence: batches.length + 1,
        after: batches.length,
        lastRevision: this.#revision,
        compactedRevision: this.revisionAtStart,
        runs,
        movedRuns: [],
        newSlabs,
      });
    }
    return batches;
  }

  commit(revision: number): void {
    this.#shared.committedRevision = revision;
  }

  #write(index: number, isNew: boolean): { readonly slab: number; readonly offset: number } {
    this.#revision += 1;
    const revision = this.#revision;
    const name = `pod-${String(index).padStart(6, '0')}`;
    const labels = { app: 'bench' };
    const metadata = { name, namespace: 'bench', labels };
    const encoded = encodeStored({ metadata, spec: { nodeName: 'node-1', filler: this.#filler } }, 'v1', 'Pod');
    const value = Buffer.from(encoded.text);
    const key = `${STORAGE_KEY}/bench/${name}`;
    const attributes = packAttributes(labels, [name, 'bench', 'node-1']);
    const { revisionOffset, itemOffset } = encoded;
    const type = isNew ? CREATED : UPDATED;
    const head = { revision, bornRevision: index + 1, type, schemaGeneration: 1, revisionOffset, itemOffset };
    const room = this.#pool.write(head, key, attributes, value);
    const slab = this.#pool.slab(room.slab);
    stampRevision(slab.bytes, valueStart(slab, room.offset) + revisionOffset, revision);
    return room;
  }
}
