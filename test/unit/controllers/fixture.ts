// Starts the controllers' actor over a cluster in this process and virtual time, and makes objects for tests.
import type { WriteRequest } from '../../../actors/admission/protocol.ts';
import { createControllers } from '../../../actors/controllers/controllers.ts';
import { CustomTypes } from '../../../actors/controllers/custom-types.ts';
import type { ControllersOptions, StoredType } from '../../../actors/controllers/options.ts';
import type { ControllersProtocol, HookState } from '../../../actors/controllers/protocol.ts';
import type { FeedFactory } from '../../../actors/following/feed-of-thread.ts';
import type { IngressProtocol } from '../../../actors/ingress/protocol.ts';
import type { Subscription } from '../../../actors/store/protocol.ts';
import { NOTHING_LEFT } from '../../../api/aggregation/namespace-sweep.ts';
import type { RemoteListing, RemoteWrite, RemoteWriteReply } from '../../../api/aggregation/remote-object.ts';
import { type RemoteOwner, type RemoteOwnerAsked, UNKNOWN_OWNER } from '../../../api/aggregation/remote-owner.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import type { SecretTokenSubject } from '../../../api/tokens/service-account-claims.ts';
import { runningControllers } from '../../../config/controllers.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { Actor, ActorContext, AskOptions, MessageOf } from '../../../runtime/actor.ts';
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import { whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { Cluster, type RecordedWrite } from './cluster.ts';
import { NO_METRICS } from './fake-context.ts';
import type { Stored } from './stored.ts';

export const DIALECT = DIALECTS.orch;

const AUTHENTICATION = {
  clientCaPem: '',
  requestHeaderCaPem: '',
  requestHeaderAllowedNames: [],
  requestHeaderUsernameHeaders: [],
  requestHeaderGroupHeaders: [],
  requestHeaderExtraHeaderPrefixes: [],
};

const NAMESPACED = ['configmaps', 'endpoints', 'events', 'pods', 'secrets', 'serviceaccounts', 'services'];

const type = (group: string, plural: string, kind: string, namespaced = true): StoredType => ({
  group,
  version: 'v1',
  apiVersion: group === '' ? 'v1' : `${group}/v1`,
  storageApiVersion: group === '' ? 'v1' : `${group}/v1`,
  kind,
  plural,
  namespaced,
  storageKey: `${group || 'core'}/${plural}`,
});

const PERSISTED: readonly StoredType[] = [
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

const MANY = ['rbac.authorization.@group', 'flowcontrol.apiserver.@group'].map((group) => DIALECT.spell(group));

/** Access rules and flow schemas are many objects, and of interest to few tests. */
const WITHOUT_ROLES: Pick<ControllersOptions, 'isServed'> = {
  isServed: ({ group }) => !MANY.includes(group),
};

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
    customTypes: new CustomTypes(createRegistry(DIALECT)),
    isFair: false,
    running: runningControllers(['*']),
    apiGroups: [],
    collectsGarbage: true,
    caPem: 'the authority',
    issuesTokens: false,
    eventTtlMs: 3_600_000,
    serviceRange: { family: 4, address: '10.0.0.0', prefixLength: 24 },
    serviceNodePort: 0,
    advertiseAddress: '192.0.2.7',
    securePort: 6443,
    endpointReconcilerType: 'lease',
    sharesStore: false,
    hasScheduler: false,
    keepsStorageVersions: false,
    apiserverCount: 1,
    authentication: AUTHENTICATION,
  };
}

/** The time of a cluster, as a test moves it. */
interface TestTime {
  readonly clock: Clock;
  /** By how much the actor's wall clock was set to another time. */
  wallShiftMs: number;
  /** Lets time pass that the actor, and its timers, know nothing of: its process stands still. */
  standStill(ms: number): void;
  /** Timers of the actor under test that have not fired. */
  readonly timersWaiting: number;
  settle(): Promise<void>;
  advance(ms: number): Promise<void>;
}

export interface Fixture {
  readonly time: TestTime;
  readonly cluster: Cluster;
  readonly actor: Actor<ControllersProtocol>;
  /** Subscriptions asked of the store so far. */
  subscriptions(): number;
  /** Replaces what the store answers to `subscribe`. */
  onSubscribe(answer: () => unknown): void;
  /** Replaces what the auth actor answers to who asks for a token: one that names the account and the secret. */
  onIssue(answer: (subject: SecretTokenSubject) => unknown): void;
  /** Replaces what an ingress answers that is to empty a namespace at extension servers: that nothing is left. */
  onSweep(answer: (namespace: string) => unknown): void;
  /** Replaces what an ingress answers that is to look up an owner at an extension server: that nobody can tell. */
  onLookUp(answer: (asked: RemoteOwnerAsked) => RemoteOwner): void;
  /** Replaces what an ingress answers that is to list the owned objects of extension servers: that there are none. */
  onListRemotes(answer: () => RemoteListing | Promise<RemoteListing>): void;
  /** Replaces what an ingress answers that is to write to an object of an extension server: that it is done. */
  onWriteRemote(answer: (write: RemoteWrite) => RemoteWriteReply): void;
  /** False holds back what the store sends, as a slow thread would. */
  deliver(on: boolean): void;
  /** What is held back. Emptied, it is lost. */
  readonly held: StoreMessage[];
  /** Gives the actor what the store may send. */
  give(message: StoreMessage): void;
  lost(): void;
  hooks(): readonly HookState[];
  /** Writes so far of one resource, `delete pods` or `update namespaces/status`. */
  writesOf(verbAndResource: string): readonly RecordedWrite[];
  /** Stops the actor as at shutdown, while time passes. */
  stop(): Promise<void>;
  /** Nothing reaches the actor any more, and nothing it does has an effect: its thread has died. */
  die(): void;
}

type StoreMessage = Exclude<MessageOf<ControllersProtocol>, { readonly type: 'hooks' }>;

/** Timers that end with an actor's thread. */
class MortalTimers implements Timers {
  readonly #timers: Timers;
  readonly #waiting = new Set<Timer>();
  #isDead = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = this.#timers.after(delayMs, () => {
      this.#waiting.delete(timer);
      callback();
    });
    return this.#kept(timer);
  }

  every(intervalMs: number, callback: () => void): Timer {
    return this.#kept(this.#timers.every(intervalMs, callback));
  }

  soon(callback: () => void): void {
    this.#timers.soon(() => {
      if (!this.#isDead) callback();
    });
  }

  die(): void {
    this.#isDead = true;
    for (const timer of this.#waiting) timer.cancel();
    this.#waiting.clear();
  }

  #kept(timer: Timer): Timer {
    this.#waiting.add(timer);
    const cancel = (): void => {
      this.#waiting.delete(timer);
      timer.cancel();
    };
    return { cancel };
  }
}

/** An actor over a cluster, not started yet. */
export async function fixture(
  overrides: Partial<ControllersOptions> = {},
  among?: { readonly cluster: Cluster; readonly feedFactory?: FeedFactory },
): Promise<Fixture> {
  const options = { ...defaultOptions(), ...WITHOUT_ROLES, ...overrides };
  const cluster = among?.cluster ?? (await Cluster.start(options.dialect));
  const { context: placed, slot } = cluster;
  const timers = new MortalTimers(placed.timers);
  const held: StoreMessage[] = [];
  let [subscriptions, isDelivering, isDead] = [0, true, false];
  let subscribe: (message: Subscription) => unknown = (message) => cluster.subscribe(message);
  /** Of a dead actor nothing is heard again. */
  const alive = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await work.catch((error: unknown) => (isDead ? new Promise<T>(() => {}) : Promise.reject(error)));
    return isDead ? new Promise<T>(() => {}) : answer;
  };
  let issue: (subject: SecretTokenSubject) => unknown = ({ serviceAccount, secretName }) => ({
    token: `token of ${serviceAccount.name} ${serviceAccount.uid} in ${secretName}`,
  });
  const admission = placed.ref('admission');
  const store = placed.ref('store');
  const refs: Readonly<Record<string, unknown>> = {
    admission: {
      ...admission,
      name: admission.name,
      ask: ({ type: _type, ...request }: { type: string } & WriteRequest, { deadlineMs }: AskOptions) =>
        alive(cluster.write(admission, request, deadlineMs)),
    },
    auth: {
      name: 'auth',
      ask: ({ subject }: { subject: SecretTokenSubject }) => alive(Promise.resolve().then(() => issue(subject))),
    },
    store: {
      name: store.name,
      tell: store.tell.bind(store),
      ask: (message: Subscription) => {
        subscriptions += 1;
        return alive(Promise.resolve().then(() => subscribe(message)));
      },
    },
  };
  let sweep: (namespace: string) => unknown = () => NOTHING_LEFT;
  let listRemotes: () => RemoteListing | Promise<RemoteListing> = () => ({
    ...{ objects: [], counts: [], types: [], isWhole: true },
  });
  let writeRemote: (write: RemoteWrite) => RemoteWriteReply = () => ({ code: 200, message: '' });
  let lookUp: (asked: RemoteOwnerAsked) => RemoteOwner = () => UNKNOWN_OWNER;
  const ingress = {
    name: 'ingress',
    ask: (message: MessageOf<IngressProtocol>) =>
      alive(
        Promise.resolve().then(() => {
          switch (message.type) {
            case 'lookUpOwner':
              return lookUp(message);
            case 'listOwnedRemotes':
              return listRemotes();
            case 'writeRemote':
              return writeRemote(message.write);
            case 'sweepNamespace':
              return sweep(message.namespace);
            default:
              return {};
          }
        }),
      ),
  };
  const { clock } = placed;
  let wallShiftMs = 0;
  let stoodStillMs = 0;
  const context: ActorContext = {
    ...placed,
    clock: {
      monotonicMs: () => clock.monotonicMs() + stoodStillMs,
      nowMs: () => clock.nowMs() + wallShiftMs + stoodStillMs,
    },
    timers,
    metrics: NO_METRICS,
    ref: ((name: string) => refs[name]) as ActorContext['ref'],
    refs: ((name: string) => (name === 'ingress' ? [ingress] : placed.refs(name as 'hub'))) as ActorContext['refs'],
  };
  const actor = createControllers(context, options, among?.feedFactory ?? cluster.feedFactory);
  const noReply = { isAwaited: false, send: () => {}, fail: () => {} };
  const give = (message: StoreMessage): void => actor.onMessage(message, noReply);
  slot.onMessage = (message, reply) => {
    if (message.type === 'hooks') actor.onMessage(message, reply);
    else if (isDelivering) give(message);
    else held.push(message);
  };
  return {
    time: {
      clock,
      get wallShiftMs() {
        return wallShiftMs;
      },
      set wallShiftMs(ms) {
        wallShiftMs = ms;
      },
      standStill: (ms) => {
        stoodStillMs += ms;
      },
      get timersWaiting() {
        return timers.waiting;
      },
      settle: () => cluster.settle(),
      advance: (ms) => cluster.advance(ms),
    },
    cluster,
    actor,
    held,
    give,
    subscriptions: () => subscriptions,
    onSubscribe: (answer) => {
      subscribe = answer;
    },
    onIssue: (answer) => {
      issue = answer;
    },
    onSweep: (answer) => {
      sweep = answer;
    },
    onLookUp: (answer) => {
      lookUp = answer;
    },
    onListRemotes: (answer) => {
      listRemotes = answer;
    },
    onWriteRemote: (answer) => {
      writeRemote = answer;
    },
    deliver: (on) => {
      isDelivering = on;
      if (on) for (const message of held.splice(0)) give(message);
    },
    lost: () => give({ type: 'storeLost' }),
    hooks: () => {
      let hooks: readonly HookState[] = [];
      actor.onMessage(
        { type: 'hooks' },
        {
          isAwaited: true,
          send: (value) => (hooks = (value as { hooks: readonly HookState[] }).hooks),
          fail: () => {},
        },
      );
      return hooks;
    },
    writesOf: (verbAndResource) =>
      cluster.writes.filter(({ request: { verb, target } }) => {
        const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
        return `${verb} ${resource}` === verbAndResource;
      }),
    stop: () => whileTimePasses(cluster.time, actor.stop?.() ?? Promise.resolve()),
    die: () => {
      isDead = true;
      timers.die();
    },
  };
}

/** An actor that has taken up the stream and finished what it found to do. */
export async function started(
  overrides: Partial<ControllersOptions> = {},
  prepare: (cluster: Cluster) => void | Promise<void> = () => {},
): Promise<Fixture> {
  const made = await fixture(overrides);
  await prepare(made.cluster);
  await made.cluster.settle();
  await made.actor.start?.();
  await made.time.settle();
  return made;
}

/** A second actor over the same cluster, as after the first one's thread died. */
export async function restarted(before: Fixture, overrides: Partial<ControllersOptions> = {}): Promise<Fixture> {
  before.die();
  const made = await fixture(overrides, before);
  await made.actor.start?.();
  await made.time.settle();
  return made;
}

export function objectOf(kind: string, namespace: string, name: string, rest: Partial<Stored> = {}): Stored {
  const { metadata, ...others } = rest;
  return { apiVersion: 'v1', kind, metadata: { ...metadata, name, namespace }, ...others };
}

/** Another server answers for `things.test/v1`. */
export function thingsElsewhere(cluster: Cluster): void {
  const group = DIALECT.spell('apiregistration.@group');
  cluster.put(`${group}/apiservices`, {
    apiVersion: `${group}/v1`,
    kind: 'APIService',
    metadata: { name: 'v1.things.test' },
    spec: { group: 'things.test', version: 'v1', service: { namespace: 'default', name: 'other', port: 443 } },
  });
}
