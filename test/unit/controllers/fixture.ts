// Starts the controllers' actor over a fake cluster and virtual time, and makes objects for tests.
import { pino } from 'pino';
import { createControllers } from '../../../actors/controllers/controllers.ts';
import type { ControllersOptions, PersistedType } from '../../../actors/controllers/options.ts';
import type { ControllersProtocol, HookState } from '../../../actors/controllers/protocol.ts';
import type { FeedFactory } from '../../../actors/feed-of-thread.ts';
import type { StoreBatch } from '../../../actors/store/protocol.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Actor, ActorContext, Protocol, Ref } from '../../../runtime/actor.ts';
import type { Metrics, Series } from '../../../runtime/metrics.ts';
import { FakeCluster, type RecordedWrite, type Stored } from './fake-cluster.ts';
import { VirtualTime } from './virtual-time.ts';

export const DIALECT = DIALECTS.orch;

const SERIES: Series = { add: () => {}, set: () => {} };

export const NO_METRICS: Metrics = {
  counter: () => SERIES,
  gauge: () => SERIES,
  histogram: () => ({ observe: () => {} }),
  beforeReading: () => {},
  reading: () => [],
};

const AUTHENTICATION = {
  clientCaPem: '',
  requestHeaderCaPem: '',
  requestHeaderAllowedNames: [],
  requestHeaderUsernameHeaders: [],
  requestHeaderGroupHeaders: [],
  requestHeaderExtraHeaderPrefixes: [],
};

const NAMESPACED = ['configmaps', 'endpoints', 'events', 'pods', 'secrets', 'serviceaccounts', 'services'];

const type = (group: string, plural: string, kind: string, namespaced = true): PersistedType => ({
  group,
  version: 'v1',
  apiVersion: group === '' ? 'v1' : `${group}/v1`,
  kind,
  plural,
  namespaced,
  storageKey: `${group || 'core'}/${plural}`,
});

const PERSISTED: readonly PersistedType[] = [
  type('', 'configmaps', 'ConfigMap'),
  type('', 'events', 'Event'),
  type('', 'namespaces', 'Namespace', false),
  type('', 'nodes', 'Node', false),
  type('', 'pods', 'Pod'),
  type('', 'secrets', 'Secret'),
  type('apps', 'deployments', 'Deployment'),
  type('apps', 'replicasets', 'ReplicaSet'),
  { ...type('apps', 'deployments', 'Deployment'), version: 'v1beta1', apiVersion: 'apps/v1beta1' },
];

/** Options as a server without flags has them. */
export function defaultOptions(): ControllersOptions {
  return {
    dialect: DIALECT.name,
    isServed: () => true,
    namespacedTypes: [
      ...NAMESPACED.map((plural) => ({ group: '', version: 'v1', plural, storageKey: `core/${plural}` })),
      { group: 'apps', version: 'v1', plural: 'deployments', storageKey: 'apps/deployments' },
    ],
    persistedTypes: PERSISTED,
    collectsGarbage: true,
    caPem: 'the authority',
    eventTtlMs: 3_600_000,
    serviceRange: { family: 4, address: '10.0.0.0', prefixLength: 24 },
    serviceNodePort: 0,
    advertiseAddress: '192.0.2.7',
    securePort: 6443,
    endpointReconcilerType: 'lease',
    apiserverCount: 1,
    authentication: AUTHENTICATION,
  };
}

/** A context whose asks are answered by `asks`, by actor and message type. */
export function fakeContext(
  time: VirtualTime,
  ask: (actor: string, message: { readonly type: string }) => Promise<unknown>,
): ActorContext {
  const refOf = (kind: string) =>
    ({ name: kind, ask: (message: { type: string }) => ask(kind, message), tell: () => 'queued' }) as unknown;
  return {
    name: 'controllers',
    index: 0,
    log: pino({ level: 'silent' }),
    metrics: NO_METRICS,
    settings: {},
    clock: time.clock,
    timers: time.timers,
    random: { next: () => 0.5, uuid: () => '', bytes: (count) => new Uint8Array(count) },
    disk: {
      readFile: () => Promise.reject(new Error('no disk')),
      writeFileAtomic: () => Promise.reject(new Error('no disk')),
      exists: () => Promise.resolve(false),
      makeDirectory: () => Promise.reject(new Error('no disk')),
    },
    ref: <P extends Protocol>(kind: string) => refOf(kind) as Ref<P>,
    refs: <P extends Protocol>(kind: string) => [refOf(kind) as Ref<P>],
    refNamed: <P extends Protocol>(name: string) => refOf(name) as Ref<P>,
    nextRequestNumber: () => 1,
    threadLocal: (_key, create) => create(),
    metricsOfAllThreads: () => Promise.resolve([]),
    crash: (error) => {
      throw error;
    },
  };
}

export interface Fixture {
  readonly time: VirtualTime;
  readonly cluster: FakeCluster;
  readonly actor: Actor<ControllersProtocol>;
  /** Subscriptions asked of the store so far. */
  subscriptions(): number;
  /** Replaces what the store answers to `subscribe`. */
  onSubscribe(answer: () => unknown): void;
  /** False holds batches back, as a slow thread would. */
  deliver(on: boolean): void;
  batch(batch: StoreBatch): void;
  lost(): void;
  hooks(): readonly HookState[];
  /** Writes so far of one resource, `delete pods` or `update namespaces/status`. */
  writesOf(verbAndResource: string): readonly RecordedWrite[];
}

/** An actor over a cluster, not started yet. */
export async function fixture(
  overrides: Partial<ControllersOptions> = {},
  cluster?: { readonly cluster: FakeCluster; readonly time: VirtualTime; readonly feedFactory?: FeedFactory },
): Promise<Fixture> {
  const time = cluster?.time ?? new VirtualTime();
  const world = cluster?.cluster ?? new FakeCluster(DIALECT, time.clock);
  let subscriptions = 0;
  let isDelivering = true;
  let subscribe: () => unknown = () => world.subscribe();
  const context = fakeContext(time, async (actor, message) => {
    if (actor === 'admission') return world.write(message as never);
    subscriptions += 1;
    return subscribe();
  });
  const options = { ...defaultOptions(), ...overrides };
  const actor = createControllers(context, options, cluster?.feedFactory ?? world.feedFactory);
  const reply = { send: () => {}, fail: () => {} };
  const batch = (message: StoreBatch) => actor.onMessage({ type: 'storeBatch', ...message }, reply);
  time.pump = () => {
    if (!isDelivering || world.outbox.length === 0) return false;
    for (const message of world.outbox.splice(0)) batch(message);
    return true;
  };
  return {
    time,
    cluster: world,
    actor,
    batch,
    subscriptions: () => subscriptions,
    onSubscribe: (answer) => {
      subscribe = answer;
    },
    deliver: (on) => {
      isDelivering = on;
    },
    lost: () => actor.onMessage({ type: 'storeLost' }, reply),
    hooks: () => {
      let hooks: readonly HookState[] = [];
      actor.onMessage(
        { type: 'hooks' },
        { send: (value) => (hooks = (value as { hooks: readonly HookState[] }).hooks), fail: () => {} },
      );
      return hooks;
    },
    writesOf: (verbAndResource) =>
      world.writes.filter(({ request: { verb, target } }) => {
        const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
        return `${verb} ${resource}` === verbAndResource;
      }),
  };
}

/** An actor that has taken up the stream and finished what it found to do. */
export async function started(
  overrides: Partial<ControllersOptions> = {},
  prepare: (cluster: FakeCluster) => void = () => {},
): Promise<Fixture> {
  const made = await fixture(overrides);
  prepare(made.cluster);
  made.cluster.outbox.length = 0;
  await made.actor.start?.();
  await made.time.settle();
  return made;
}

/** A second actor over the same cluster, as after the first one's thread died. */
export async function restarted(before: Fixture, overrides: Partial<ControllersOptions> = {}): Promise<Fixture> {
  before.cluster.outbox.length = 0;
  before.time.forget();
  const made = await fixture(overrides, before);
  await made.actor.start?.();
  await made.time.settle();
  return made;
}

export function objectOf(kind: string, namespace: string, name: string, rest: Partial<Stored> = {}): Stored {
  const { metadata, ...others } = rest;
  return { apiVersion: 'v1', kind, metadata: { ...metadata, name, namespace }, ...others };
}
