// Bugs that a control plane like this could have, planted from outside by replacing one method or one message of the
// real modules. The simulation must find each of them; what it cannot find it does not check.

import { type CommitContext, commitOne } from '../../actors/admission/commits/commit.ts';
import type { Draft } from '../../actors/admission/commits/draft.ts';
import { Desks } from '../../actors/admission/plugins/resource-quota/desks.ts';
import type { WriteRequest } from '../../actors/admission/protocol.ts';
import { OwnershipGraph } from '../../actors/controllers/garbage/ownership-graph.ts';
import { NamespaceContents } from '../../actors/controllers/namespaces/namespace-contents.ts';
import { ResourceCache } from '../../actors/hub/caches/resource-cache.ts';
import type { Freshness } from '../../actors/hub/protocol.ts';
import { ReadGate } from '../../actors/hub/read-gate.ts';
import { Watchers } from '../../actors/hub/watches/watchers.ts';
import { CommitTimes } from '../../actors/store/commit-times.ts';
import { HistoryWindow } from '../../actors/store/log/history-window.ts';
import { RevisionLog } from '../../actors/store/log/revision-log.ts';
import { EXPECT_ANY } from '../../actors/store/protocol.ts';
import type { EngineBatch, LocalEngine } from '../../storage/engines/local-engine.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { DEFINED_TYPES } from './defined-types.ts';
import { DEFINITION_BUGS } from './definition-bugs.ts';
import type { SimulatedDisk } from './disk.ts';
import { NO_FAULTS } from './faults.ts';
import { isPutOf, type PlantedBug, withAsks, withEngine, withMethod, withTransactions } from './planting.ts';
import { SPEC_BUGS } from './spec-bugs.ts';
import { WAITING_BUGS } from './waiting-bugs.ts';
import { mixNamed } from './workload.ts';
import { SERVER, type Server, type World } from './world.ts';

/** A server whose ingress asks other writes of admission than clients do. */
function withWrites(change: (request: WriteRequest) => Partial<WriteRequest>): ReturnType<PlantedBug['plant']> {
  return withAsks<'admission', 'write'>('ingress', 'admission', 'write', (message) => ({
    ...message,
    ...change(message),
  }));
}

/** Every so many events one is skipped or sent twice. */
const ONE_IN = 7;

/** An engine that says that a batch is durable as soon as it has been handed to the disk. */
function hastyEngine(disk: SimulatedDisk, world: World): LocalEngine {
  const engine = disk.engine();
  const commit = (batch: EngineBatch): Promise<void> => {
    engine.commit(batch).catch(() => world.crash(world.threadOf('store')));
    return Promise.resolve();
  };
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'commit') return commit;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Longer than most answers take, so that somebody asks in between. */
const RAISED_LATE_MS = 60;

function publishBeforeAtomic(): ReturnType<PlantedBug['plant']> {
  const before = Object.getOwnPropertyDescriptor(SharedState.prototype, 'committedRevision')!;
  let world: World | undefined;
  Object.defineProperty(SharedState.prototype, 'committedRevision', {
    ...before,
    set(this: SharedState, revision: number) {
      world?.time.after(RAISED_LATE_MS, () => before.set!.call(this, revision));
    },
  });
  const engine: Server['engine'] = (disk, itsWorld, context) => {
    world = itsWorld;
    return SERVER.engine(disk, itsWorld, context);
  };
  return {
    server: { ...SERVER, engine },
    remove: () => void Object.defineProperty(SharedState.prototype, 'committedRevision', before),
  };
}

/** Commits of before seem as much older as the clock has been set forward since. */
function historyByWall(): ReturnType<PlantedBug['plant']> {
  let aheadMs = (): number => 0;
  const planted = withMethod(
    CommitTimes.prototype,
    'revisionAt',
    (original) =>
      function (this: CommitTimes, wallMs) {
        return original.call(this, wallMs + aheadMs());
      },
  );
  const engine: Server['engine'] = (disk, { time }) => {
    const atStartMs = time.nowMs() - time.monotonicMs();
    aheadMs = () => time.nowMs() - time.monotonicMs() - atStartMs;
    return disk.engine();
  };
  return { ...planted, server: { ...SERVER, engine } };
}

const PLAIN = ['core/configmaps', 'core/secrets'];
const DEFINED_KEYS = DEFINED_TYPES.map(({ storageKey }) => storageKey);

/** Reads of that freshness are answered by what the hub has, whatever others have told. */
function withReadsOfItsOwn(kind: Freshness['kind']): ReturnType<PlantedBug['plant']> {
  return withMethod(
    ReadGate.prototype,
    'pass',
    (original) =>
      function (this: ReadGate, freshness, go) {
        original.call(this, freshness.kind === kind ? { kind: 'local' } : freshness, go);
      },
  );
}

const READS: PlantedBug['mix'] = {
  name: 'reads',
  needsControllers: false,
  shares: { create: 4, update: 8, get: 4, list: 10 },
};

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a write is acknowledged before it is synced',
    sign: /is in no durable revision|before it was durable/,
    plant: () => withEngine(hastyEngine),
  },
  {
    name: 'a batch is published before the committed revision is raised',
    shownBy: 11,
    sign: /was known|which was over/,
    plant: publishBeforeAtomic,
  },
  {
    name: 'a watch skips an event',
    sign: /came where .* was due|never came/,
    plant: () => {
      let count = 0;
      return withMethod(
        Watchers.prototype,
        'collect',
        (original) =>
          function (this: Watchers, ...event) {
            if (++count % ONE_IN !== 0) original.apply(this, event);
          },
      );
    },
  },
  {
    name: 'a watch is sent an event twice',
    sign: /came where .* was due|nothing more was due|came, and/,
    plant: () => {
      let count = 0;
      return withMethod(
        Watchers.prototype,
        'collect',
        (original) =>
          function (this: Watchers, ...event) {
            original.apply(this, event);
            if (++count % ONE_IN === 0) original.apply(this, event);
          },
      );
    },
  },
  {
    name: 'a slab is reused while a reader still needs it',
    shownBy: 41,
    faults: { ...NO_FAULTS, delayMsMax: 20, lagShare: 0.06 },
    // Overwritten bytes can look like anything; the record of another object where one was to be shows first.
    sign: /did not hold the store's/,
    plant: () => withMethod(SharedState.prototype, 'lowestEpoch', () => () => Number.POSITIVE_INFINITY),
  },
  {
    name: 'compaction forgets one revision too many',
    shownBy: 12,
    sign: /came where .* was due|never came|it shows/,
    plant: () =>
      withMethod(
        ResourceCache.prototype,
        'compact',
        (original) =>
          function (this: ResourceCache, revision) {
            original.call(this, revision + 1);
          },
      ),
  },
  {
    name: 'history holds half of what it is to hold',
    sign: /is past, there were/,
    plant: () =>
      withMethod(
        HistoryWindow.prototype,
        'revisionForBounds',
        (original) =>
          function (this: HistoryWindow, bytesMax, eventsMax) {
            return original.call(this, bytesMax / 2, eventsMax / 2);
          },
      ),
  },
  {
    name: 'history goes by the clock on the wall, which is set',
    shownBy: 12,
    faults: { ...NO_FAULTS, clockJumps: 3 },
    sign: /is past, there were/,
    plant: historyByWall,
  },
  {
    name: 'a continued list goes on in the present',
    sign: /it shows/,
    plant: () =>
      withMethod(
        ResourceCache.prototype,
        'treeAt',
        () =>
          function (this: ResourceCache) {
            return this.tree;
          },
      ),
  },
  {
    name: 'a read of any version is of what its hub has, which is behind the others',
    shownBy: 241,
    faults: { ...NO_FAULTS, laggardMsMax: 300 },
    mix: READS,
    sign: /went back|which was over|said to be absent/,
    plant: () => withReadsOfItsOwn('any'),
  },
  {
    name: 'a read that names a revision is of what its hub has, which is behind the others',
    faults: { ...NO_FAULTS, laggardMsMax: 300 },
    mix: READS,
    sign: /which was over|said to be absent|it is of \d+, \d+ was known/,
    plant: () => withReadsOfItsOwn('notOlderThan'),
  },
  {
    name: 'a deletion does not wait for finalizers',
    sign: /no order of its operations/,
    plant: () =>
      withTransactions((operation, value) =>
        isPutOf(operation, PLAIN) && value(operation).includes('"deletionTimestamp":')
          ? { key: operation.key, expect: operation.expect, delete: true }
          : operation,
      ),
  },
  {
    name: 'who holds an instance of a custom type back is passed over',
    mix: mixNamed('definitions'),
    sign: /went at \d+ and \[.+\] held it/,
    plant: () =>
      withTransactions((operation, value) =>
        isPutOf(operation, DEFINED_KEYS) && value(operation).includes('"deletionTimestamp":')
          ? { key: operation.key, expect: operation.expect, delete: true }
          : operation,
      ),
  },
  {
    name: 'a pod is bound although it is bound already',
    shownBy: 24,
    mix: { name: 'pods', needsControllers: false, shares: { pod: 16, get: 1, list: 1 } },
    sign: /moved from/,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, ['core/pods']) && operation.expect > 0 ? { ...operation, expect: EXPECT_ANY } : operation,
      ),
  },
  {
    name: 'an update brings a deleted object back',
    shownBy: 31,
    sign: /is back/,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, PLAIN) && operation.expect > 0 ? { ...operation, expect: EXPECT_ANY } : operation,
      ),
  },
  {
    name: 'a patch is stored although the object has changed since it was read',
    shownBy: 11,
    mix: mixNamed('patches'),
    sign: /no order of its operations/,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, PLAIN) && operation.expect > 0 ? { ...operation, expect: EXPECT_ANY } : operation,
      ),
  },
  {
    name: 'a dry run is carried out',
    mix: mixNamed('patches'),
    sign: /the dry run .* was stored/,
    plant: () => withWrites(({ parameters: { dryRun: _dryRun, ...parameters } }) => ({ parameters })),
  },
  {
    name: 'an apply takes fields from other managers without being told to',
    mix: mixNamed('applies'),
    sign: /it conflicts with/,
    plant: () =>
      withWrites(({ contentType, parameters }) =>
        contentType.startsWith('application/apply-patch') ? { parameters: { ...parameters, force: 'true' } } : {},
      ),
  },
  {
    name: 'the dependents of an owner are not seen',
    mix: mixNamed('ownership'),
    sign: /was to be let go|which blocks its deletion|is left without owners/,
    plant: () => withMethod(OwnershipGraph.prototype, 'dependentsOf', () => () => new Set()),
  },
  {
    name: 'a namespace is finalized while there is something in it',
    mix: mixNamed('namespaces'),
    sign: /was removed at \d+ with \d+ objects in it/,
    plant: () => withMethod(NamespaceContents.prototype, 'isEmpty', () => () => true),
  },
  {
    name: 'what a pod uses of a quota is not charged',
    mix: mixNamed('quotas'),
    sign: /the quota allows|are said to be used/,
    plant: () =>
      withMethod(
        Desks.prototype,
        'commit',
        () => async (_namespace: string, _of: unknown, write: CommitContext, draft: Draft) => commitOne(write, draft),
      ),
  },
  {
    name: 'what is behind a refused transaction is applied',
    // Many come while a batch is written, and who counts comes in between.
    faults: { ...NO_FAULTS, delayMsMax: 20, slowCommitShare: 0.5 },
    mix: mixNamed('quotas'),
    sign: /are said to be used/,
    plant: () =>
      withMethod(
        RevisionLog.prototype,
        'applyEach',
        (original) =>
          function (this: RevisionLog, transactions, payload) {
            return original.call(
              this,
              transactions.map(({ isBehindFirst: _isBehindFirst, ...transaction }) => transaction),
              payload,
            );
          },
      ),
  },
  ...DEFINITION_BUGS,
  ...WAITING_BUGS,
  ...SPEC_BUGS,
  {
    name: 'a hub forgets a change',
    sign: /did not hold the store's/,
    plant: () => {
      let count = 0;
      return withMethod(
        ResourceCache.prototype,
        'apply',
        (original) =>
          function (this: ResourceCache, entry, deleted) {
            if (++count % ONE_IN !== 0) return original.call(this, entry, deleted);
            return { revision: entry.revision, deleted, entry, previous: this.tree.get(entry.key) };
          },
      );
    },
  },
  {
    name: 'a hub applies a change twice',
    sign: /did not hold the store's/,
    plant: () => {
      let count = 0;
      return withMethod(
        ResourceCache.prototype,
        'apply',
        (original) =>
          function (this: ResourceCache, entry, deleted) {
            if (++count % ONE_IN === 0) original.call(this, entry, deleted);
            return original.call(this, entry, deleted);
          },
      );
    },
  },
];
