// Ten bugs that a control plane like this could have, planted from outside by replacing one method or one message of the
// real modules. The simulation must find each of them; what it cannot find it does not check.
import { ResourceCache } from '../../actors/hub/resource-cache.ts';
import { Watchers } from '../../actors/hub/watchers.ts';
import { rosterFor } from '../../actors/roster.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { Operation, PutOperation, StoreProtocol, Transaction } from '../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../actors/store/protocol.ts';
import type { ActorContext, ActorKind, AskMessage, AskOptions, Protocol, Ref } from '../../runtime/actor.ts';
import type { EngineBatch, StorageEngine } from '../../storage/engine.ts';
import { SharedState } from '../../storage/shared-state.ts';
import type { SimulatedDisk } from './disk.ts';
import { type FaultPlan, NO_FAULTS } from './faults.ts';
import { SERVER, type Server, type World } from './world.ts';

export interface PlantedBug {
  readonly name: string;
  /** What some problem that the checkers report must look like. */
  readonly sign: RegExp;
  /** Where it shows soonest; the seed's own faults when absent. */
  readonly faults?: FaultPlan;
  /** Puts the bug in; the server has it until `remove` is called. */
  readonly plant: () => { readonly server: Server; readonly remove: () => void };
}

const NOTHING = (): void => {};
/** Every so many events one is skipped or sent twice. */
const ONE_IN = 7;

/** A server that differs in its engine. */
function withEngine(engine: Server['engine']): ReturnType<PlantedBug['plant']> {
  return { server: { ...SERVER, engine }, remove: NOTHING };
}

/** A method of a class, replaced until it is put back. */
function withMethod<C extends object, K extends keyof C & string>(
  prototype: C,
  method: K,
  replacement: (original: C[K]) => C[K],
): ReturnType<PlantedBug['plant']> {
  const before = Object.getOwnPropertyDescriptor(prototype, method)!;
  Object.defineProperty(prototype, method, { ...before, value: replacement(before.value as C[K]) });
  return { server: SERVER, remove: () => void Object.defineProperty(prototype, method, before) };
}

/** A server whose admission sends other transactions to the store than it means to. */
function withTransactions(
  change: (operation: Operation, value: (put: PutOperation) => string) => Operation,
): ReturnType<PlantedBug['plant']> {
  const kinds: Server['kinds'] = (outside) =>
    rosterFor(outside).map((kind) => (kind.kind === 'admission' ? throughStore(kind, change) : kind));
  return { server: { ...SERVER, kinds }, remove: NOTHING };
}

function throughStore(
  kind: ActorKind<ServerSettings>,
  change: (operation: Operation, value: (put: PutOperation) => string) => Operation,
): ActorKind<ServerSettings> {
  const changed = (message: AskMessage<StoreProtocol, 'commit'>): AskMessage<StoreProtocol, 'commit'> => {
    const payload = Buffer.from(message.payload);
    const value = ({ valueOffset, valueLength }: PutOperation): string =>
      payload.toString('utf8', valueOffset, valueOffset + valueLength);
    const transactions = message.transactions.map(
      (transaction): Transaction => ({
        ...transaction,
        operations: transaction.operations.map((operation) => change(operation, value)),
      }),
    );
    return { ...message, transactions };
  };
  const wrapped = (store: Ref<StoreProtocol>): Ref<StoreProtocol> => {
    const ask = (message: AskMessage<StoreProtocol, 'commit'>, options: AskOptions): Promise<unknown> =>
      store.ask(message.type === 'commit' ? changed(message) : message, options);
    return { name: store.name, ask: ask as Ref<StoreProtocol>['ask'], tell: (message) => store.tell(message) };
  };
  const inContext = (context: ActorContext): ActorContext => ({
    ...context,
    ref: <P extends Protocol>(name: string): Ref<P> =>
      name === 'store' ? (wrapped(context.ref<StoreProtocol>(name)) as unknown as Ref<P>) : context.ref<P>(name),
  });
  return { ...kind, create: (context, settings) => kind.create(inContext(context), settings) };
}

/** An engine that says that a batch is durable as soon as it has been handed to the disk. */
function hastyEngine(disk: SimulatedDisk, world: World): StorageEngine {
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

function publishBeforeAtomic(): ReturnType<PlantedBug['plant']> {
  const before = Object.getOwnPropertyDescriptor(SharedState.prototype, 'committedRevision')!;
  let world: World | undefined;
  Object.defineProperty(SharedState.prototype, 'committedRevision', {
    ...before,
    set(this: SharedState, revision: number) {
      world?.time.after(5, () => before.set!.call(this, revision));
    },
  });
  const engine: Server['engine'] = (disk, itsWorld) => {
    world = itsWorld;
    return SERVER.engine(disk, itsWorld);
  };
  return {
    server: { ...SERVER, engine },
    remove: () => void Object.defineProperty(SharedState.prototype, 'committedRevision', before),
  };
}

function isPutOf(operation: Operation, storageKeys: readonly string[]): operation is PutOperation {
  return !('delete' in operation) && storageKeys.some((storageKey) => operation.key.startsWith(`${storageKey}/`));
}

const PLAIN = ['core/configmaps', 'core/secrets'];

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a write is acknowledged before it is synced',
    sign: /is in no durable revision|before it was durable/,
    plant: () => withEngine(hastyEngine),
  },
  {
    name: 'a batch is published before the committed revision is raised',
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
    faults: { ...NO_FAULTS, delayMsMax: 20, lagShare: 0.06 },
    // Overwritten bytes can look like anything.
    sign: /./,
    plant: () => withMethod(SharedState.prototype, 'lowestEpoch', () => () => Number.POSITIVE_INFINITY),
  },
  {
    name: 'compaction forgets one revision too many',
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
    name: 'a pod is bound although it is bound already',
    sign: /moved from/,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, ['core/pods']) && operation.expect > 0 ? { ...operation, expect: EXPECT_ANY } : operation,
      ),
  },
  {
    name: 'an update brings a deleted object back',
    sign: /is back/,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, PLAIN) && operation.expect > 0 ? { ...operation, expect: EXPECT_ANY } : operation,
      ),
  },
];
