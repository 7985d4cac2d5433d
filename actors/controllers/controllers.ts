// The actor of the built-in controllers: hands the store's stream to each of them, lets a queue each perform what they
// plan, and answers which post-start hooks are through. Holds no state that the stream could not rebuild.

import { DIALECTS, type Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { FollowedFiles } from '../../runtime/files/followed-files.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { UnreadableValue } from '../../storage/following/publication.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { storageKeyOf } from '../../storage/object-key.ts';
import { FollowedAuthorities } from '../followed-authorities.ts';
import { FeedFollower, type FeedListener } from '../following/feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../following/feed-of-thread.ts';
import type { FirstObjects } from '../store/protocol.ts';
import { Bootstrap } from './bootstrap/bootstrap.ts';
import { CertificateSigning } from './certificates/certificate-signing.ts';
import { followedSigner } from './certificates/followed-signer.ts';
import type { Controller, Due } from './controller.ts';
import type { CustomTypes } from './custom-types.ts';
import { isAdvertisable } from './endpoint-addresses.ts';
import { EventExpiry } from './event-expiry.ts';
import { ApiServiceAvailability } from './extension/api-service-availability.ts';
import { ApiServiceRegistration } from './extension/api-service-registration.ts';
import { CustomDefinitions } from './extension/custom-definitions.ts';
import { apiServiceVersion, aroundStates, keepsStorageVersions } from './extension/group-hooks.ts';
import { CONTROLLERS_FACTS } from './facts.ts';
import { FlowSchemas } from './fairness/flow-schemas.ts';
import { GarbageCollector } from './garbage/garbage-collector.ts';
import { HOOK_AUTHENTICATION_INFO } from './hooks.ts';
import { Leadership } from './leadership.ts';
import { EndpointLeases } from './leases/endpoint-leases.ts';
import { IdentityLeases } from './leases/identity-leases.ts';
import type { ControllersOptions } from './options.ts';
import type { ControllersProtocol, HookState } from './protocol.ts';
import { questionsOf, trying } from './questions.ts';
import { StorageVersions } from './storage-versions.ts';
import { switchable } from './switchable.ts';
import { type QueueOf, WorkQueue } from './work-queue.ts';
import { Writer } from './writer.ts';

const WRITES_IN_FLIGHT_MAX = 128;
const WRITE_DEADLINE_MS = 10_000;
/** At shutdown: what could not be undone by then stays, and is set right by the next start. */
const LAST_WRITES_ATTEMPTS_MAX = 3;
const LAST_WRITE_DEADLINE_MS = 2_000;

/** Makes the actor. `feedFactory` stands in for the thread's slabs in tests. */
export function createControllers(
  context: ActorContext,
  options: ControllersOptions,
  feedFactory: FeedFactory = feedOfThread,
): Controllers {
  return new Controllers(context, options, feedFactory);
}

/** See ActorDefinition. Asks admission and the store; stops before admission, which it needs to the end. */
export const controllersActor: ActorDefinition<ControllersOptions> = {
  ...CONTROLLERS_FACTS,
  owns: "its subscription to the store's stream",
  create: (context, options) => createControllers(context, options),
};

const NOBODY: readonly Controller[] = [];

class Controllers implements Actor<ControllersProtocol>, FeedListener {
  readonly #context: ActorContext;
  readonly #bootstrap: Bootstrap;
  readonly #queues: readonly WorkQueue[];
  readonly #leadership: Leadership;
  /** By storage key. */
  readonly #followers = new Map<string, Controller[]>();
  readonly #ofCustom: readonly Controller[];
  /** What a controller manager does, or some of it, is done here. */
  readonly #isManaging: boolean;
  readonly #customTypes: CustomTypes;
  readonly #feed: FeedFollower;
  readonly #authorities: FollowedAuthorities;
  readonly #signer: FollowedFiles;
  readonly #dialect: Dialect;
  /** Undefined: APIServices are not served. */
  #registration: ApiServiceRegistration | undefined;
  /** Undefined: nobody is told what is stored in which version. */
  #storageVersions: StorageVersions | undefined;
  /** Those have begun that go by the objects which are told first. */
  #isUnderWay = false;

  constructor(context: ActorContext, options: ControllersOptions, feedFactory: FeedFactory) {
    this.#context = context;
    const dialect = DIALECTS[options.dialect];
    const { customTypes } = options;
    this.#dialect = dialect;
    this.#customTypes = customTypes;
    const writer = new Writer(context, { inFlightMax: WRITES_IN_FLIGHT_MAX, deadlineMs: WRITE_DEADLINE_MS });
    const queueOf: QueueOf = (make) => new WorkQueue(context, writer, make);
    const authentication = { ...options.authentication };
    const endpointLeases = this.#endpointLeases(queueOf, dialect, options);
    const leases = endpointLeases[0]?.controller;
    const bootstrap = queueOf((due) =>
      createBootstrap(context, due, {
        ...options,
        authentication,
        ...(leases && { liveAddresses: () => leases.live() }),
      }),
    );
    this.#bootstrap = bootstrap.controller;
    this.#authorities = new FollowedAuthorities(context, options.authorityFiles, ({ client, proxy }) => {
      if (client !== undefined) authentication.clientCaPem = client;
      if (proxy !== undefined) authentication.requestHeaderCaPem = proxy;
      if (this.#isUnderWay) this.#bootstrap.review(HOOK_AUTHENTICATION_INFO);
    });
    const expiry = queueOf((due) => new EventExpiry(context, due, dialect, options.eventTtlMs));
    const managing = switchable(options, { context, dialect, ...questionsOf(context) }).map(queueOf);
    this.#isManaging = managing.length > 0;
    const managers = managing.map(({ controller }) => controller);
    const signing = managers.find((one) => one instanceof CertificateSigning);
    this.#signer = followedSigner(context, options.signingAuthority, signing);
    this.#leadership = new Leadership(context, dialect, options, { expiry, managing }, queueOf);
    const collector = managers.find((one) => one instanceof GarbageCollector);
    this.#queues = [
      bootstrap,
      ...this.#leadership.leases,
      ...endpointLeases,
      ...this.#identityLeases(queueOf, dialect, options),
      queueOf((due) => new CustomDefinitions(context.clock, due, dialect, customTypes, collector)),
      ...this.#apiServices(queueOf, dialect, options),
      ...(options.isFair ? [queueOf((due) => new FlowSchemas(context.clock, due, dialect))] : []),
      expiry,
      ...managing,
    ];
    for (const { controller } of this.#queues) {
      for (const storageKey of controller.wants) {
        const followers = this.#followers.get(storageKey);
        if (followers === undefined) this.#followers.set(storageKey, [controller]);
        else followers.push(controller);
      }
    }
    this.#ofCustom = this.#queues.map(({ controller }) => controller).filter(({ wantsCustom }) => wantsCustom === true);
    const first = firstOf(
      customTypes.storageKey,
      this.#queues.map(({ controller }) => controller),
    );
    this.#feed = new FeedFollower(context, undefined, feedFactory, this, { first, isPatient: true });
  }

  /** None where they are not served. */
  #apiServices(queueOf: QueueOf, dialect: Dialect, options: ControllersOptions): readonly WorkQueue[] {
    const version = apiServiceVersion(dialect, options);
    if (version === undefined) return [];
    const { apiGroups: groups, customTypes } = options;
    const registration = queueOf((due) => new ApiServiceRegistration(due, { dialect, groups, customTypes, version }));
    this.#registration = registration.controller;
    const { clock, metrics } = this.#context;
    const tryOne = trying(this.#context);
    return [registration, queueOf((due) => new ApiServiceAvailability(clock, due, dialect, tryOne, metrics))];
  }

  /** Only where other servers may stand in the endpoints as well. */
  #endpointLeases(
    queueOf: QueueOf,
    dialect: Dialect,
    options: ControllersOptions,
  ): readonly WorkQueue<EndpointLeases>[] {
    const { sharesStore, endpointReconcilerType, advertiseAddress } = options;
    if (!sharesStore || endpointReconcilerType !== 'lease' || !isAdvertisable(advertiseAddress)) return [];
    return [queueOf((due) => new EndpointLeases(this.#context.clock, due, dialect, advertiseAddress))];
  }

  /** Only under the gate. */
  #identityLeases(queueOf: QueueOf, dialect: Dialect, options: ControllersOptions): readonly WorkQueue[] {
    const { identityLeases, persistedTypes: types, isServed } = options;
    if (identityLeases === undefined) return [];
    const { clock, random } = this.#context;
    const settings = { ...identityLeases, uid: random.uuid() };
    const identities = queueOf((due) => new IdentityLeases(clock, due, dialect, settings));
    if (!keepsStorageVersions(dialect, options)) return [identities];
    const { component: leases } = identities.controller;
    const versions = queueOf((due) => new StorageVersions(clock, due, { dialect, leases, types, isServed }));
    this.#storageVersions = versions.controller;
    return [identities, versions];
  }

  /** Does not wait for the store: until the stream has been taken up, the hooks say that they are not done. */
  async start(): Promise<void> {
    await Promise.all([this.#authorities.start(), this.#signer.start()]);
    this.#feed.start();
    this.#leadership.start();
  }

  hasSettled(): boolean {
    return this.#hooks().every(({ done }) => done);
  }

  async stop(): Promise<void> {
    this.#authorities.stop();
    this.#signer.stop();
    await Promise.all(this.#queues.map((queue) => queue.stop()));
    const writer = new Writer(this.#context, { inFlightMax: WRITES_IN_FLIGHT_MAX, deadlineMs: LAST_WRITE_DEADLINE_MS });
    await Promise.all(this.#queues.map(({ controller }) => this.#undo(controller, writer)));
    this.#feed.stop();
  }

  onMessage(message: MessageOf<ControllersProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'hooks':
        reply.send({ hooks: this.#hooks(), isManaging: this.#isManaging });
        return;
      case 'storeBatch':
        this.#feed.onBatch(message);
        return;
      case 'storeLost':
        this.#feed.onLost();
        return;
      default:
        unreachable(message);
    }
  }

  #hooks(): readonly HookState[] {
    const ofObjects = this.#bootstrap.hooks();
    return aroundStates(this.#dialect, ofObjects, {
      isUnderWay: this.#isUnderWay,
      registration: this.#registration,
      storageVersions: this.#storageVersions,
    });
  }

  /** A restarted store knows none of its subscribers. */
  peerRestarted(name: string): void {
    if (name === 'store') this.#feed.onLost();
  }

  onReset(): void {
    this.#customTypes.reset();
    this.#leadership.reset();
    for (const queue of this.#queues) {
      queue.close();
      queue.controller.reset();
    }
  }

  onEvent(event: FeedEvent): void {
    const followers = this.#followers.get(event.storageKey) ?? this.#followersOfCustom(event);
    if (followers.length === 0) return;
    if (event.storageKey === this.#customTypes.storageKey) this.#onDefinition(event);
    for (const controller of followers) {
      try {
        controller.onEvent(event);
      } catch (error) {
        // An object that one controller stumbles over must not keep the others, or the rest of the batch, from it.
        const { type, storageKey, namespace, name } = event;
        this.#context.log.error(
          { controller: controller.name, event: { type, storageKey, namespace, name }, err: error },
          'event not understood',
        );
      }
    }
  }

  onMoved(event: FeedEvent): void {
    const followers = this.#followers.get(event.storageKey) ?? this.#followersOfCustom(event);
    for (const controller of followers) controller.onMoved?.(event);
  }

  #followersOfCustom({ storageKey }: FeedEvent): readonly Controller[] {
    return this.#customTypes.isCustomKey(storageKey) ? this.#ofCustom : NOBODY;
  }

  /** Before the controllers hear of it, who ask what types there are. */
  #onDefinition(event: FeedEvent): void {
    try {
      this.#customTypes.onEvent(event);
    } catch (error) {
      this.#context.log.error({ definition: event.name, err: error }, 'definition not understood');
    }
  }

  onUnread(values: readonly UnreadableValue[]): void {
    const types = [...new Set(values.map(({ key }) => storageKeyOf(key)))];
    for (const queue of this.#queues) {
      const { wants, wantsCustom = false } = queue.controller;
      const isWanted = (type: string): boolean =>
        wants.includes(type) || (wantsCustom && this.#customTypes.isCustomKey(type));
      queue.setBlind(types.some(isWanted));
    }
  }

  // The hooks keep what they have reached: they stay done when the stream begins anew.
  onFirstTold(): void {
    this.#begin(({ controller }) => controller.goesBy !== undefined);
    this.#isUnderWay = true;
  }

  onSynced(): void {
    this.#begin(({ controller }) => controller.goesBy === undefined);
    this.#leadership.synced();
  }

  #begin(isMeant: (queue: WorkQueue) => boolean): void {
    for (const queue of this.#queues) {
      if (!isMeant(queue)) continue;
      queue.begin();
      if (this.#leadership.holdsBack(queue)) queue.rest();
    }
  }

  // The feed is still followed, so that another attempt after a conflict sees the newest object.
  async #undo(controller: Controller, writer: Writer): Promise<void> {
    for (let attempt = 1; attempt <= LAST_WRITES_ATTEMPTS_MAX; attempt += 1) {
      const writes = controller.onStop?.() ?? [];
      const outcomes = await Promise.all(writes.map((write) => writer.write(controller.identity, write)));
      const failure = outcomes.find((outcome) => !outcome.ok);
      if (failure === undefined) return;
      this.#context.log.warn(
        { controller: controller.name, attempt, message: failure.message },
        'write at shutdown failed',
      );
    }
  }
}

/** What some go by, and the definitions of custom types, behind which those types' objects can be told. */
function firstOf(definitions: string, controllers: readonly Controller[]): FirstObjects {
  const parts = controllers.flatMap(({ goesBy }) => goesBy ?? []);
  const types = new Set([definitions, ...parts.flatMap(({ types = [] }) => types)]);
  return { types: [...types], keys: parts.flatMap(({ keys = [] }) => keys) };
}

function createBootstrap(context: ActorContext, due: Due, options: ControllersOptions): Bootstrap {
  try {
    return new Bootstrap(context, due, DIALECTS[options.dialect], options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new OrchError('BadConfiguration', `service cluster IP range: ${error.message}`);
  }
}
