// Servers whose store is a cluster that others could write to as well, one or several: the model of etcd in place of the disk. What it stored is
// noted as everyone is told it, so that the checkers of histories judge it like any other.

import { DYING_PLACE, VersionNumbers } from '../../actors/store/log/version-numbers.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { EtcdCluster, EtcdEvent } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine, type EtcdEngineParts } from '../../storage/etcd/etcd-engine.ts';
import { etcdKeys } from '../../storage/etcd/etcd-keys.ts';
import { readOutline } from '../../storage/etcd/etcd-outline.ts';
import { type LayoutSettings, originalEngine, originalLayout } from '../../storage/etcd/original/assembled-engine.ts';
import type { OriginalEngine } from '../../storage/etcd/original/original-engine.ts';
import { ServedKeyspace, servedKeyspaceMemory } from '../../storage/etcd/served-keyspace.ts';
import { storedRevision } from '../../storage/forms/stored-value.ts';
import { actorsFor } from '../server/every-actor.ts';
import type { SharedChange } from './committed.ts';
import { type CallFate, EtcdModel } from './etcd-model.ts';
import { NETWORK, type Server, type World } from './world.ts';

const PREFIX = '/registry';
const KEYS = etcdKeys(PREFIX);
const NUMBERS = new VersionNumbers(0);
const ORIGINAL_NUMBERS = new VersionNumbers(0, 1);
/** Where the original would keep objects of our own dialect. */
const ORIGINAL: LayoutSettings = {
  registry: createRegistry(DIALECTS.orch),
  prefix: PREFIX,
  media: 'protobuf',
  features: (gate) => gate === 'NamespaceDefaultLabelName',
  encryption: undefined,
  network: NETWORK,
};
/** One call in so many is lost, and one in so many breaks all watches off. */
const CALLS_A_LOSS = 12;
const CALLS_A_BREAK = 40;
const CALL_MS_MAX = 6;
const WATCH_MS_MAX = 40;

/** What befalls a cluster, and the servers on it, in one run. */
const PAUSES_MAX = 2;
const PAUSE_MS_MAX = 6000;
/** Now and then longer than a lease of the controllers holds. */
const LONG_PAUSE_MS = 17_000;
const LONG_PAUSE_ONE_IN = 4;
const ELECTIONS_MAX = 2;
const ELECTION_MS_MAX = 2500;
const COMPACTIONS_MAX = 2;

export interface SharedServerOptions {
  /** How many servers; one when absent. */
  readonly servers?: number;
  /** In place of the engine: one with a bug. */
  readonly engine?: (parts: EtcdEngineParts) => EtcdEngine;
  /** Objects lie as the original keeps them. */
  readonly isOriginal?: boolean;
}

/** For one run: the cluster outlives the servers' processes. */
export function sharedServer(
  seed: number,
  { servers = 1, engine, isOriginal = false }: SharedServerOptions = {},
): Server {
  const random = new SeededRandom(seed ^ 0xe7cd);
  const makeEngine = engine ?? ((parts) => new EtcdEngine(parts));
  let cluster: SimulatedCluster | undefined;
  let processes = 0;
  const served = new WeakMap<object, ServedKeyspace>();
  const servedFrom = (disk: object): ServedKeyspace => {
    const known = served.get(disk) ?? new ServedKeyspace(servedKeyspaceMemory());
    served.set(disk, known);
    return known;
  };
  const clusterIn = (world: World): SimulatedCluster => {
    cluster ??= new SimulatedCluster(world, random, isOriginal ? originalChangesOf : changesOf);
    return cluster;
  };
  return {
    actors: actorsFor,
    isShared: true,
    count: servers,
    ...(isOriginal && { storeLayout: 'kubernetes' as const }),
    incidents: (world) => (servers === 1 ? [] : incidentsIn(world, clusterIn(world), new SeededRandom(seed ^ 0x1c1d))),
    engine: (disk, world, context) => {
      // What is for a process that stands still waits as its timers do.
      const client = clusterIn(world).model.client((what) => void context.timers.after(0, what));
      disk.onCrash = () => client.cut();
      const own = { processId: `process-${++processes}`, served: servedFrom(disk) };
      if (isOriginal) return originalIn(world, context, client, own);
      return makeEngine({
        cluster: client,
        prefix: PREFIX,
        dialect: 'orch',
        timers: context.timers,
        ...own,
        tokenKey: disk.tokenKey,
        warn: (text) => world.trace(text),
      });
    },
  };
}

/** Each is there in some runs and not in others. */
function incidentsIn(
  world: World,
  cluster: SimulatedCluster,
  random: SeededRandom,
): readonly (() => Promise<void> | void)[] {
  const pause = (): Promise<void> => {
    const isLong = random.below(LONG_PAUSE_ONE_IN) === 0;
    return world.anyProcess(random).pause(isLong ? LONG_PAUSE_MS : random.below(PAUSE_MS_MAX));
  };
  const times = <T>(most: number, what: T): readonly T[] => Array<T>(random.below(most + 1)).fill(what);
  return [
    ...times(PAUSES_MAX, pause),
    ...times(ELECTIONS_MAX, () => cluster.elect(random.below(ELECTION_MS_MAX))),
    ...times(COMPACTIONS_MAX, () => cluster.compact(random)),
  ];
}

/** The model of etcd in a world, with what goes wrong on the way to it. */
class SimulatedCluster {
  readonly model: EtcdModel;
  readonly #world: World;
  readonly #random: SeededRandom;
  #electedMs = 0;

  constructor(world: World, random: SeededRandom, changesIn: typeof changesOf) {
    const numbers = changesIn === changesOf ? NUMBERS : ORIGINAL_NUMBERS;
    this.#world = world;
    this.#random = random;
    this.model = new EtcdModel({
      after: (delayMs, callback) => void world.time.after(delayMs, callback),
      nextFate: () => this.#nextFate(),
      watchDelayMs: () => random.below(WATCH_MS_MAX),
      onStored: (revision, events) => {
        world.committed.addShared(numbers.endOf(revision), changesIn(world, revision, events), world.moment());
        world.trace(`stored revision ${revision}`);
      },
    });
  }

  /** For a while there is no leader: watches break off, and nobody learns what became of a call. */
  async elect(ms: number): Promise<void> {
    const { time } = this.#world;
    this.#world.trace('the cluster has lost its leader');
    this.#electedMs = time.monotonicMs() + ms;
    this.model.breakWatches();
    await this.#world.sleep(ms);
  }

  /** Somebody else compacts, up to any revision. */
  compact(random: SeededRandom): void {
    const { compacted, revision } = this.model;
    const upTo = compacted + 1 + random.below(Math.max(1, revision - compacted));
    this.#world.trace(`somebody compacts up to ${upTo} of ${revision}`);
    if (upTo <= revision) this.model.compact(upTo);
  }

  #nextFate(): CallFate {
    const { model } = this;
    const random = this.#random;
    const { faults, time } = this.#world;
    model.isFull = faults.isDiskFull && !faults.isOver;
    const leftMs = this.#electedMs - time.monotonicMs();
    if (leftMs > 0) return { delayMs: random.below(leftMs + 1), loses: (['call', 'answer'] as const)[random.below(2)] };
    const loses =
      faults.isOver || random.below(CALLS_A_LOSS) > 0 ? undefined : (['call', 'answer'] as const)[random.below(2)];
    if (!faults.isOver && random.below(CALLS_A_BREAK) === 0) model.breakWatches();
    return { delayMs: random.below(CALL_MS_MAX), loses };
  }
}

/** What the events of one revision of the cluster are to those who watch objects. */
function changesOf(world: World, revision: number, events: readonly EtcdEvent[]): readonly SharedChange[] {
  const outline = events.find(({ key }) => key === KEYS.outline)?.value;
  const places = readOutline(outline ?? new Uint8Array());
  return events
    .filter(({ key }) => key.startsWith(KEYS.objects))
    .flatMap(({ key: whole, value }): readonly SharedChange[] => {
      const key = whole.slice(KEYS.objects.length);
      if (value === undefined) {
        const isSeen = world.committed.present.has(key);
        return isSeen ? [{ revision: NUMBERS.version(revision, places.get(key) ?? 0), key, value }] : [];
      }
      // Its place stands where its revision would.
      const place = storedRevision(key, value) ?? 0;
      const put = { revision: NUMBERS.version(revision, place % DYING_PLACE), key, value };
      if (place < DYING_PLACE) return [put];
      return [put, { revision: put.revision + 1, key, value: undefined }];
    });
}

/** The engine of the original's layout in a process. */
function originalIn(
  world: World,
  context: ActorContext,
  cluster: EtcdCluster,
  own: { readonly processId: string; readonly served: ServedKeyspace },
): OriginalEngine {
  const { timers, clock, random } = context;
  return originalEngine(cluster, {
    ...ORIGINAL,
    ...own,
    eventTtlSeconds: 3600,
    leaseReuseSeconds: 60,
    timers,
    monotonicMs: () => clock.monotonicMs(),
    freshBytes: (count) => random.bytes(count),
    warn: (text) => world.trace(text),
  });
}

const { keys: ORIGINAL_KEYS, forms: ORIGINAL_FORMS } = originalLayout(ORIGINAL);

/** The same in the original's layout, in which a revision is a version. */
function originalChangesOf(world: World, revision: number, events: readonly EtcdEvent[]): readonly SharedChange[] {
  return events.flatMap(({ key: path, value }): readonly SharedChange[] => {
    const key = ORIGINAL_KEYS.keyOf(path);
    if (key === undefined || (value === undefined && !world.committed.present.has(key))) return [];
    const stored = value === undefined ? undefined : (ORIGINAL_FORMS.read(key, path, value, 0) as Uint8Array);
    return [{ revision, key, value: stored }];
  });
}
