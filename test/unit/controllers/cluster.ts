// The store, hub and admission of a server in this process, under virtual time, with a place for the controllers that a test
// makes itself. Objects can be stored behind admission's back; what controllers write is recorded, and can be made to fail.
import type { AdmissionProtocol, WriteReply, WriteRequest } from '../../../actors/admission/protocol.ts';
import { CONTROLLERS_FACTS } from '../../../actors/controllers/facts.ts';
import type { ControllersProtocol } from '../../../actors/controllers/protocol.ts';
import { type FeedFactory, feedOfThread } from '../../../actors/following/feed-of-thread.ts';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import type {
  Operation,
  PresentState,
  StoreProtocol,
  Subscription,
  Transaction,
} from '../../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import { registryFor } from '../../../actors/thread-registry.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { type Registry, storedFieldsIn } from '../../../api/resources/registry.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { DIALECTS, type DialectName } from '../../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Ref, Reply } from '../../../runtime/actor.ts';
import { planOfOneThread } from '../../../runtime/placement/plan.ts';
import { createSimulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import type { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';
import type { FeedEvent, KeptRecord } from '../../../storage/following/store-feed.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { objectKey } from '../../../storage/object-key.ts';
import { everyActor } from '../../server/every-actor.ts';
import { memorySettings } from '../../server/memory-settings.ts';
import { Ledger } from './ledger.ts';
import type { Stored } from './stored.ts';

export interface RecordedWrite {
  readonly request: WriteRequest;
  readonly body: Stored | undefined;
  readonly code: number;
}

const DEADLINE_MS = 60_000;
const ACTORS = ['store', 'hub', 'admission'];
const ADMIN = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };

/** Where the controllers are placed: hands what comes to whoever is there. */
class Slot implements Actor<ControllersProtocol> {
  onMessage: (message: MessageOf<ControllersProtocol>, reply: Reply) => void = () => {};
  peerRestarted = (): void => {};
}

const keyOf = (storageKey: string, namespace: string, name: string): string => objectKey(storageKey, namespace, name);

export class Cluster {
  readonly time: VirtualTime;
  /** Of the actor that a test places here. */
  readonly context: ActorContext;
  readonly slot: Slot;
  readonly writes: RecordedWrite[] = [];
  /** How often an object of this storage key was parsed by whoever follows with `feedFactory`. */
  readonly parsed = new Map<string, number>();
  /** An answer or error instead of a controller's write; undefined lets it through. */
  fault: (request: WriteRequest) => WriteReply | Error | undefined = () => undefined;
  /** Hears the names of objects as they go. */
  onRemoved: (name: string) => void = () => {};
  inFlight = 0;
  inFlightMost = 0;
  readonly #registry: Registry;
  readonly #brand: string;
  readonly #run: InProcess;
  /** The objects there are, as JSON, by their keys: what the store has acknowledged, and what was put and is under way. */
  readonly #objects: Map<string, string>;
  readonly #failures: Error[] = [];
  #uids = 0;

  private constructor(parts: {
    time: VirtualTime;
    context: ActorContext;
    slot: Slot;
    run: InProcess;
    settings: ServerSettings;
    ledger: Ledger;
  }) {
    this.time = parts.time;
    this.context = parts.context;
    this.slot = parts.slot;
    this.#run = parts.run;
    this.#registry = registryFor(parts.settings);
    this.#brand = DIALECTS[parts.settings.dialect].brand;
    this.#objects = parts.ledger.objects;
    parts.ledger.onRemoved = (name) => this.onRemoved(name);
  }

  /** With nothing in it. */
  static async start(dialect: DialectName): Promise<Cluster> {
    const { environment, time } = createSimulation(1);
    const alpha = DIALECTS[dialect].spell('internal.apiserver.@group/v1alpha1=true');
    const settings = memorySettings('apiserver', ['--api-dialect', dialect, '--runtime-config', alpha], { dialect });
    const slot = new Slot();
    const ledger = new Ledger();
    let context: ActorContext | undefined;
    const place: ActorDefinition<ServerSettings> = {
      ...CONTROLLERS_FACTS,
      create: (given) => {
        context = given;
        return slot;
      },
    };
    const actors = everyActor
      .filter(({ actor }) => ACTORS.includes(actor))
      .map((definition) => (definition.actor === 'store' ? ledger.watching(definition) : definition));
    const all = [...actors, place];
    const starting = startInProcess({ actors: all, plan: planOfOneThread(all), options: settings, environment });
    const run = await whileTimePasses(time, starting);
    return new Cluster({ time, context: context!, slot, run, settings, ledger });
  }

  get(storageKey: string, namespace: string, name: string): Stored | undefined {
    const text = this.#objects.get(keyOf(storageKey, namespace, name));
    return text === undefined ? undefined : (JSON.parse(text) as Stored);
  }

  names(storageKey: string): string[] {
    const prefix = `${storageKey}/`;
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length).replace(/^\//, ''))
      .sort();
  }

  /** Stores an object behind admission's back; the store has it once time moves, or is let settle. */
  put(storageKey: string, object: Stored): void {
    const metadata = {
      uid: `uid-${++this.#uids}`,
      creationTimestamp: new Date(this.time.nowMs()).toISOString(),
      ...object.metadata,
    };
    const { name, namespace = '' } = metadata;
    const stored = { ...object, metadata } as unknown as JsonObject & { metadata: Record<string, unknown> };
    const { text, revisionOffset, itemOffset } = encodeStored(stored, object.apiVersion, object.kind);
    const payload = Buffer.from(text);
    const operation: Operation = {
      key: keyOf(storageKey, namespace, name),
      expect: EXPECT_ANY,
      valueOffset: 0,
      valueLength: payload.length,
      revisionOffset,
      itemOffset,
      attributes: packAttributes(metadata.labels, selectableValues(stored, storedFieldsIn(this.#registry, storageKey))),
      schemaGeneration: 1,
    };
    this.#objects.set(operation.key, JSON.stringify(stored));
    this.#commit({ operations: [operation] }, payload);
  }

  /** Removes an object behind admission's back. */
  remove(storageKey: string, namespace: string, name: string): void {
    const key = keyOf(storageKey, namespace, name);
    if (!this.#objects.delete(key)) throw new Error(`no ${key}`);
    this.#commit({ operations: [{ key, expect: EXPECT_ANY, delete: true }] }, new Uint8Array());
  }

  /** Asks admission for a deletion, as a client would. */
  delete(storageKey: string, namespace: string, name: string, propagationPolicy = 'Background'): void {
    const type = this.#registry.storageType(storageKey);
    if (type === undefined) throw new Error(`no type is stored as ${storageKey}`);
    const { group, version, plural: resource } = type;
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy };
    const request: WriteRequest = {
      verb: 'delete',
      target: { group, version, resource, subresource: '', namespace, name },
      user: ADMIN,
      userAgent: 'test',
      parameters: {},
      contentType: 'application/json',
      payload: Buffer.from(JSON.stringify(options)),
    };
    const asked = this.#run
      .ref<AdmissionProtocol>('admission')
      .ask({ type: 'write', ...request }, { deadlineMs: DEADLINE_MS });
    this.#noteFailure(
      asked.then((reply) => {
        if (reply.code !== 200 && reply.code !== 202)
          throw new Error(`${name} was not deleted: ${JSON.stringify(reply)}`);
      }),
    );
  }

  /** A namespace as the API server makes it. */
  putNamespace(name: string, finalizers: string[] = [this.#brand]): void {
    this.put('core/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
      spec: { finalizers },
      status: { phase: 'Active' },
    });
  }

  subscribe(subscription: Omit<Subscription, 'subscriber'> = {}): Promise<PresentState> {
    const store = this.#run.ref<StoreProtocol>('store');
    const subscriber = this.context.name;
    return store.ask<'subscribe'>({ ...subscription, type: 'subscribe', subscriber }, { deadlineMs: DEADLINE_MS });
  }

  /** The thread's feed, which counts what is parsed. */
  readonly feedFactory: FeedFactory = (context, storageKeys, onEvent, onMoved) =>
    feedOfThread(context, storageKeys, (event) => onEvent(this.#counted(event)), onMoved);

  /** A controller's write: recorded, and failed if the test wants it so. */
  async write(admission: Ref<AdmissionProtocol>, message: WriteRequest, deadlineMs: number): Promise<WriteReply> {
    const { payload } = message;
    const body = payload.length === 0 ? undefined : (JSON.parse(new TextDecoder().decode(payload)) as Stored);
    this.inFlight += 1;
    this.inFlightMost = Math.max(this.inFlightMost, this.inFlight);
    try {
      const fault = this.fault(message);
      if (fault instanceof Error) throw fault;
      const reply = fault ?? (await admission.ask({ type: 'write', ...message }, { deadlineMs }));
      this.writes.push({ request: message, body, code: reply.code });
      return reply;
    } catch (error) {
      this.writes.push({ request: message, body, code: 0 });
      throw error;
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Lets everything happen that needs no time. Throws what went wrong with what the test itself put or deleted. */
  async settle(): Promise<void> {
    await this.time.runUntilIdle();
    this.#check();
  }

  async advance(ms: number): Promise<void> {
    await this.time.advance(ms);
    this.#check();
  }

  async stop(): Promise<void> {
    await whileTimePasses(this.time, this.#run.stop());
  }

  #check(): void {
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
    for (const crash of this.#run.crashes.values()) throw crash;
  }

  #commit(transaction: Transaction, payload: Uint8Array): void {
    const store = this.#run.ref<StoreProtocol>('store');
    const message = { type: 'commit', transactions: [transaction], payload } as const;
    this.#noteFailure(
      store.ask<'commit'>(message, { deadlineMs: DEADLINE_MS }).then(({ results: [result] }) => {
        if (result?.ok !== true) throw new Error(`not stored: ${JSON.stringify(result)}`);
      }),
    );
  }

  #noteFailure(work: Promise<void>): void {
    work.catch((error: unknown) => void this.#failures.push(error as Error));
  }

  #counted(event: FeedEvent): FeedEvent {
    const { type, storageKey, namespace, name, revision, slab, slabNumber, offset } = event;
    const parse = (of: KeptRecord): Record<string, unknown> => {
      this.parsed.set(storageKey, (this.parsed.get(storageKey) ?? 0) + 1);
      return of.object();
    };
    return {
      type,
      storageKey,
      namespace,
      name,
      revision,
      slab,
      slabNumber,
      offset,
      object: () => parse(event),
      kept: () => {
        const record = event.kept();
        return { revision, object: () => parse(record) };
      },
      parsed: (parse) => event.parsed(parse),
      uid: () => event.uid(),
      hasUid: () => event.hasUid(),
      mayBeTied: () => event.mayBeTied(),
      isCreation: () => event.isCreation(),
      isNamed: (name) => event.isNamed(name),
      fieldIs: (index, text) => event.fieldIs(index, text),
      mayHave: (name) => event.mayHave(name),
    };
  }
}
