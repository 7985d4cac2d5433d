// The store. Owns the storage engine. The only writer of slabs: a sequencer puts the commits of the engine in order, a
// projection shows them to readers. A commit of which nobody knows what is stored ends the thread: what was not
// acknowledged may be lost, what was is in the engine.

import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { CrashError, OrchError } from '../../runtime/errors.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';
import { STORE_FACTS } from './facts.ts';
import { keyServiceProblem, storeProblem } from './health.ts';
import type { StoreHealth, StoreProtocol } from './protocol.ts';
import { Projection } from './readers/projection.ts';
import { LocalSequencer } from './sequencing/local-sequencer.ts';
import type { PendingCommit } from './sequencing/pending-commits.ts';
import type { Sequencer } from './sequencing/sequencer.ts';
import { SharedSequencer } from './sequencing/shared-sequencer.ts';
import { STORE_SETTINGS, type StoreOptions } from './settings.ts';
import { Snapshots } from './snapshots.ts';
import { StoreMeasures } from './store-measures.ts';
import { StoreMetrics } from './store-metrics.ts';

export type { StoreOptions };

export class Store implements Actor<StoreProtocol> {
  readonly #context: ActorContext;
  readonly #options: StoreOptions;
  readonly #engine: StoreEngine;
  readonly #encryption: StoredEncryption | undefined;
  readonly #projection: Projection;
  readonly #sequencer: Sequencer;
  readonly #snapshots: Snapshots;
  readonly #isShared: boolean;
  #tokenKey: Uint8Array = new Uint8Array();

  /** `engine`: unopened. */
  constructor(context: ActorContext, options: StoreOptions, engine: StoreEngine, encryption?: StoredEncryption) {
    this.#context = context;
    this.#options = options;
    this.#encryption = encryption;
    this.#engine = engine;
    this.#isShared = 'follow' in engine;
    const settings = { ...STORE_SETTINGS, ...(context.settings as Partial<typeof STORE_SETTINGS>) };
    const projection = new Projection({
      context,
      options,
      settings,
      encryption,
      isSettled: () => this.#sequencer.isSettled,
      onCompacted: () => this.#sequencer.compacted(),
    });
    this.#projection = projection;
    const { log, pool, subscribers } = projection;
    const metrics = new StoreMetrics(context.metrics, () => ({
      revision: projection.shared.committedRevision,
      objects: log.current.size,
      historyEvents: log.window.length,
      slabBytes: pool.reservedBytes,
      slabLiveBytes: pool.liveBytes,
      subscribers: subscribers.count,
      writable: this.#sequencer.writable,
    }));
    const fail = (error: unknown): void => this.#fail(error);
    const parts = { context, options, settings, encryption, projection, metrics, fail };
    this.#sequencer =
      'follow' in engine ? new SharedSequencer({ ...parts, engine }) : new LocalSequencer({ ...parts, engine });
    const beforeFirst = subscribers.incarnation % 2 ** 48;
    this.#snapshots = new Snapshots(() => this.#sequencer.view(), projection, context.timers, beforeFirst);
  }

  /** Opens the engine and recovers; nothing is answered before. */
  async open(): Promise<void> {
    try {
      this.#tokenKey = await this.#sequencer.open();
    } catch (error) {
      this.#encryption?.close();
      throw error;
    }
    this.#projection.open();
    const { log } = this.#projection;
    const { measures } = this.#options;
    if (measures) new StoreMeasures(this.#context, this.#engine, log.digests).start(measures);
    this.#context.log.info({ revision: log.revision, objects: log.current.size }, 'store opened');
  }

  onMessage(message: MessageOf<StoreProtocol>, reply: Reply): void {
    const { log, settled, subscribers } = this.#projection;
    switch (message.type) {
      case 'commit':
        this.#accept({ message, reply });
        return;
      case 'barrier':
        this.#barrier(reply);
        return;
      case 'subscribe':
        settled.answer(reply, () => this.#projection.subscribe(message, this.#tokenKey, this.#isShared));
        return;
      case 'unsubscribe':
        subscribers.remove(message.subscriber);
        return;
      case 'digests':
        settled.answer(reply, () => ({ revision: log.revision, resources: log.digests.all() }));
        return;
      case 'health':
        this.#health(reply);
        return;
      case 'keyServiceHealth':
        void keyServiceProblem(this.#encryption, message.number).then((problem) => reply.send({ problem }));
        return;
      case 'compact':
        settled.answer(reply, () => {
          this.#projection.compactTo(message.upToRevision);
          return { compactedRevision: log.compactedRevision };
        });
        return;
      case 'openSnapshot':
      case 'readSnapshot':
      case 'closeSnapshot':
        this.#snapshots.onMessage(message, reply, (answer) => settled.answer(reply, answer));
        return;
      default:
        unreachable(message);
    }
  }

  async stop(): Promise<void> {
    await this.#sequencer.stop();
    this.#encryption?.close();
  }

  /** The subscription may be the dead actor's or already its successor's: whoever lives subscribes again. */
  peerRestarted(name: string): void {
    this.#projection.subscribers.lose(name);
  }

  /** Values under a key that a service has yet to give wait here, and nothing waits for them. */
  #accept(commit: PendingCommit): void {
    const { message, reply } = commit;
    const readiness = this.#encryption?.readyFor(message.transactions);
    if (readiness !== undefined) {
      readiness.then(
        () => this.#accept(commit),
        (error: unknown) => reply.fail(error),
      );
      return;
    }
    this.#sequencer.accept(commit);
  }

  #barrier(reply: Reply): void {
    this.#sequencer.barrier().then(
      (revision) => reply.send({ revision }),
      (error: unknown) => reply.fail(error),
    );
  }

  #health(reply: Reply): void {
    const timeoutMs = this.#options.healthcheckTimeoutMs;
    const { timers } = this.#context;
    void storeProblem(this.#engine, timers, timeoutMs, this.#sequencer.waitedMs).then((reason) => {
      const revision = this.#projection.shared.committedRevision;
      if (reason !== '') this.#sequencer.doubted?.();
      reply.send({ healthy: reason === '', revision, reason } satisfies StoreHealth);
    });
  }

  /** What was accepted but not acknowledged is lost with the thread. */
  #fail(error: unknown): void {
    try {
      this.#context.crash(error instanceof Error ? error : new OrchError('StoreUnusable', String(error)));
    } catch (crash) {
      // The thread has been told. Nobody above this promise could do more.
      if (!(crash instanceof CrashError)) throw crash;
    }
  }
}

/** The store as a placeable actor. */
export const storeActor: ActorDefinition<StoreOptions> = {
  ...STORE_FACTS,
  owns: 'the storage engine',
  create: async (context, options) => {
    const encryption = await options.encryption?.();
    const store = new Store(context, options, await options.engine(context, encryption), encryption);
    await store.open();
    return store;
  },
};
