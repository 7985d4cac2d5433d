// A store on the memory engine, a hub, auth and admission, made by the server's own roster, in one thread under virtual time.
// Writes are put as HTTP requests would be; a test can put something of its own between a write's read and its commit.

import { admissionActor } from '../../../actors/admission/admission.ts';
import type { AdmissionPluginKind, PluginConfigurations } from '../../../actors/admission/plugins/plugin.ts';
import type { AdmissionProtocol, WriteReply } from '../../../actors/admission/protocol.ts';
import type { HubProtocol } from '../../../actors/hub/protocol.ts';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import type { PublishedPlace, StoreProtocol } from '../../../actors/store/protocol.ts';
import { registryFor } from '../../../actors/thread-registry.ts';
import type { User } from '../../../api/authorization/attributes.ts';
import type { ObjectMeta } from '../../../api/metadata/object-meta.ts';
import { parseRequestInfo } from '../../../api/requests/request-info.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { Status } from '../../../api/status/status.ts';
import type { WriteVerb } from '../../../api/verbs.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { parseFeatureGates } from '../../../config/feature-gates.ts';
import { itemsOf } from '../../../rendering/value-pieces.ts';
import type { Actor, ActorDefinition, MessageOf, Protocol, Ref, Reply } from '../../../runtime/actor.ts';
import { planOfOneThread } from '../../../runtime/placement/plan.ts';
import { createSimulation, type Simulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';
import { valueView } from '../../../storage/records/slab-record.ts';
import { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { everyActor } from '../../server/every-actor.ts';
import { memorySettings } from '../../server/memory-settings.ts';
import { HeldDelivery } from '../hub/held-delivery.ts';
import type { FakeAudit } from './audit-world.ts';

/** What an answer may hold, as far as tests look into it: an object, a list, a Status. */
export interface Answer {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta & { readonly continue?: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: unknown;
  readonly data: Readonly<Record<string, string>>;
  readonly items: readonly Answer[];
  readonly message: string;
  readonly reason: string;
  readonly details: Status['details'];
  readonly [member: string]: unknown;
}

export interface Answered {
  readonly code: number;
  readonly body: Answer;
  readonly warnings: readonly string[];
}

export interface Request {
  /** An object is sent as JSON. */
  readonly body?: object | string | Uint8Array;
  readonly contentType?: string;
  /** Where it is not the user `tester`, who may do anything unless the world has authorization modes. */
  readonly user?: Partial<User>;
  /** As WriteParameters has them. */
  readonly parameters?: Readonly<Record<string, string | readonly string[]>>;
  /** As WriteTarget has it. */
  readonly asStored?: true;
  /** As WriteRequest has it. */
  readonly isInside?: true;
  readonly deadlineMs?: number;
  /** Of the request that it is; none where left out. */
  readonly requestNumber?: number;
}

const MERGE_PATCH = 'application/merge-patch+json';
const VERBS = ['create', 'update', 'patch', 'delete', 'deletecollection'];

function settings(args: readonly string[], audit: FakeAudit | undefined): ServerSettings {
  return memorySettings('apiserver', args, {
    advertiseAddress: '10.0.0.1',
    schedulerName: 'default-scheduler',
    ...(audit && { audit: { policy: { rules: audit.rules } } }),
  });
}

/** Admission as the roster makes it, but for its plugins. */
function admissionWith(
  plugins: readonly AdmissionPluginKind[],
  configurations: PluginConfigurations,
): ActorDefinition<ServerSettings> {
  return {
    ...admissionActor,
    create: (context, given) => {
      const gates = parseFeatureGates(given.options.featureGates, DIALECTS[given.dialect]);
      const gate = gates.enabled.bind(gates);
      return admissionActor.create(context, {
        registry: registryFor(given),
        requestTimeoutMs: given.options.requestTimeoutMs,
        serverSideApply: true,
        deletion: { collectsGarbage: true, collectionWorkers: 1 },
        // Each large write is at work alone.
        heapRoomBytes: HEAP_ROOM_BYTES,
        network: {
          clusterIpRanges: given.options.serviceClusterIpRange,
          nodePorts: given.options.serviceNodePortRange,
        },
        featureGates: '',
        checks: undefined,
        validation: { allowPrivileged: given.options.allowPrivileged, gate },
        plugins,
        pluginConfigurations: configurations,
        pluginOptions: {
          gate,
          notReadySeconds: 300,
          unreachableSeconds: 200,
          callsEndpoints: false,
          shownToServices: NOTHING_SHOWN,
          webhookClient: (parts) => new ServiceClient(parts),
        },
      });
    },
  };
}

/** For one at a time of what is large, and of what is small some in a row. */
const HEAP_ROOM_BYTES = 1024 * 1024;

/** Lets a test act between what a write has read and its commit. */
class Gate {
  beforeCommit: (() => Promise<unknown>) | undefined;
  commits = 0;

  wrap(store: Actor<Protocol>): Actor<Protocol> {
    const original = store as unknown as Actor<StoreProtocol>;
    const onMessage = (message: MessageOf<StoreProtocol>, reply: Reply): void => {
      const hook = this.beforeCommit;
      if (message.type === 'commit') this.commits++;
      if (message.type !== 'commit' || hook === undefined) {
        original.onMessage(message, reply);
        return;
      }
      this.beforeCommit = undefined;
      hook().then(
        () => original.onMessage(message, reply),
        (error: unknown) => reply.fail(error),
      );
    };
    return {
      onMessage,
      stop: () => original.stop!(),
      peerRestarted: (name: string) => original.peerRestarted?.(name),
    } as unknown as Actor<Protocol>;
  }
}

/** Keeps what the store publishes from admission for as long as a test wants. */
class HeldBatches {
  #held: (() => void)[] | undefined;
  #admission: Actor<AdmissionProtocol> | undefined;

  hold(): void {
    this.#held ??= [];
  }

  letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) deliver();
  }

  /** Admission has fallen behind: it reads everything anew. */
  lose(): void {
    this.#admission!.onMessage({ type: 'storeLost' } as MessageOf<AdmissionProtocol>, {
      isAwaited: false,
      send() {},
      fail() {},
    });
  }

  wrap(admission: Actor<Protocol>): Actor<Protocol> {
    const original = admission as unknown as Actor<AdmissionProtocol>;
    this.#admission = original;
    const onMessage = (message: MessageOf<AdmissionProtocol>, reply: Reply): void => {
      const deliver = (): void => original.onMessage(message, reply);
      if (message.type === 'storeBatch' && this.#held !== undefined) this.#held.push(deliver);
      else deliver();
    };
    return {
      onMessage,
      start: () => original.start!(),
      stop: () => original.stop!(),
      peerRestarted: (name: string) => original.peerRestarted?.(name),
    } as unknown as Actor<Protocol>;
  }
}

export class AdmissionWorld {
  readonly simulation: Simulation;
  readonly delivery: HeldDelivery;
  readonly run: InProcess;
  readonly admission: Ref<AdmissionProtocol>;
  readonly hub: Ref<HubProtocol>;
  readonly store: Ref<StoreProtocol>;
  readonly registry: Registry;
  readonly slabs: ThreadSlabs;
  readonly gate: Gate;
  readonly batches: HeldBatches;

  private constructor(parts: {
    simulation: Simulation;
    delivery: HeldDelivery;
    run: InProcess;
    slabs: ThreadSlabs;
    gate: Gate;
    batches: HeldBatches;
    registry: Registry;
  }) {
    this.simulation = parts.simulation;
    this.delivery = parts.delivery;
    this.run = parts.run;
    this.slabs = parts.slabs;
    this.gate = parts.gate;
    this.batches = parts.batches;
    this.registry = parts.registry;
    this.admission = parts.run.ref<AdmissionProtocol>('admission');
    this.hub = parts.run.ref<HubProtocol>('hub');
    this.store = parts.run.ref<StoreProtocol>('store');
  }

  /** With a live namespace `default`, unless told otherwise. */
  static async start(
    options: {
      seed?: number;
      namespaces?: readonly string[];
      featureGates?: string;
      /** Other options of the server, as its command line has them. */
      args?: readonly string[];
      authorizationModes?: string;
      /** Instead of those that run by default. */
      plugins?: readonly AdmissionPluginKind[];
      /** Of those plugins, by name. */
      configurations?: PluginConfigurations;
      /** Absent: nothing is recorded. */
      audit?: FakeAudit;
    } = {},
  ): Promise<AdmissionWorld> {
    const {
      seed = 1,
      namespaces = ['default'],
      featureGates = '',
      args = [],
      authorizationModes = 'AlwaysAllow',
      plugins,
      configurations = {},
      audit,
    } = options;
    const simulation = createSimulation(seed);
    const delivery = new HeldDelivery();
    const gate = new Gate();
    const batches = new HeldBatches();
    let slabs: ThreadSlabs | undefined;
    const actors = everyActor
      .filter(({ actor }) => ['store', 'hub', 'auth', 'admission'].includes(actor))
      .map((definition): ActorDefinition<ServerSettings> => {
        if (definition.actor === 'admission') {
          const admission = plugins === undefined ? definition : admissionWith(plugins, configurations);
          return {
            ...admission,
            create: async (context, given) => batches.wrap(await admission.create(context, given)),
          };
        }
        if (definition.actor !== 'store') return definition;
        return {
          ...definition,
          create: async (context, given) => {
            slabs = ThreadSlabs.of(context);
            return gate.wrap(await definition.create(context, given));
          },
        };
      });
    if (audit !== undefined) actors.push(audit.definition);
    const given = settings(
      [
        '--authorization-mode',
        authorizationModes,
        ...(featureGates === '' ? [] : ['--feature-gates', featureGates]),
        ...(audit?.args ?? []),
        ...args,
      ],
      audit,
    );
    const { environment, time } = simulation;
    const plan = planOfOneThread(actors);
    const starting = startInProcess({
      actors,
      plan,
      options: given,
      environment,
      freezeMessages: true,
      delivery,
    });
    const run = await whileTimePasses(time, starting);
    const world = new AdmissionWorld({
      simulation,
      delivery,
      run,
      slabs: slabs!,
      gate,
      batches,
      registry: registryFor(given),
    });
    for (const name of namespaces) await world.withNamespace(name);
    return world;
  }

  /** A namespace with its default account, which the controllers would give it. */
  async withNamespace(name: string): Promise<void> {
    await this.created('/api/v1/namespaces', { metadata: { name } });
    await this.created(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  }

  /** Starts a write; time has to pass for it to be answered. */
  soon(verb: WriteVerb, path: string, request: Request = {}): Promise<Answered> {
    const info = parseRequestInfo(verb === 'create' ? 'POST' : verb === 'patch' ? 'PATCH' : 'PUT', path, '');
    if (!info.isResource || !VERBS.includes(verb)) throw new Error(`${path} is no resource`);
    const { group, version, resource, subresource, namespace, name } = info;
    const {
      body = new Uint8Array(),
      parameters = {},
      asStored,
      isInside,
      deadlineMs = 60_000,
      requestNumber = 0,
    } = request;
    const payload =
      body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    return this.admission
      .ask<'write'>(
        {
          type: 'write',
          verb,
          target: { group, version, resource, subresource, namespace, name, ...(asStored && { asStored }) },
          user: {
            name: 'tester',
            uid: '',
            groups: group.startsWith('rbac.') ? ['system:masters'] : [],
            extra: {},
            ...request.user,
          },
          userAgent: 'test',
          parameters,
          contentType: request.contentType ?? (verb === 'patch' ? MERGE_PATCH : 'application/json'),
          payload,
          ...(isInside ? { isInside } : { leftMs: deadlineMs }),
        },
        { deadlineMs, requestNumber },
      )
      .then((reply) => this.#answered(reply));
  }

  write(verb: WriteVerb, path: string, request: Request = {}): Promise<Answered> {
    return this.during(this.soon(verb, path, request));
  }

  /** Creates an object, which must succeed, and answers it. */
  async created(
    path: string,
    body: object,
    parameters: Request['parameters'] = {},
    user: Request['user'] = {},
  ): Promise<Answer> {
    const answer = await this.write('create', path, { body, parameters, user });
    if (answer.code !== 201) throw new Error(`${path} was not created: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** The object at a path as it is stored; undefined when there is none. */
  async stored(path: string): Promise<Answer | undefined> {
    const info = parseRequestInfo('GET', path, '');
    if (!info.isResource) throw new Error(`${path} is no resource`);
    // What is not built in is of a definition.
    const type = this.registry.byPath(info.group, info.version, info.resource);
    const namespace = type?.namespaced === false ? '' : info.namespace;
    const answer = await this.during(
      this.hub
        .ask(
          {
            type: 'get',
            storageKey: type?.storageKey ?? `${info.group}/${info.resource}`,
            namespace,
            name: info.name,
            freshness: { kind: 'mostRecent' },
          },
          { deadlineMs: 60_000 },
        )
        .then((reply) => {
          if (reply.refused !== undefined) throw new Error(reply.refused);
          return reply.place === null ? undefined : this.#read(reply.place);
        }),
    );
    return answer;
  }

  async revision(): Promise<number> {
    const { revision } = await this.during(this.store.ask({ type: 'health' }, { deadlineMs: 1000 }));
    return revision;
  }

  during<T>(work: Promise<T>): Promise<T> {
    return whileTimePasses(this.simulation.time, work);
  }

  async stop(): Promise<void> {
    await this.during(this.run.stop());
  }

  #answered(reply: WriteReply): Answered {
    const { code, warnings = [] } = reply;
    return { code, body: this.#bodyOf(reply), warnings };
  }

  #bodyOf(reply: WriteReply): Answer {
    if ('place' in reply) return this.#read(reply.place);
    if ('list' in reply) return { ...reply.list, items: itemsOf(reply.list) } as unknown as Answer;
    return structuredClone(reply.body) as Answer;
  }

  #read(place: PublishedPlace): Answer {
    return JSON.parse(valueView(this.slabs.slab(place), place.offset).toString('utf8')) as Answer;
  }
}

/** What of a refusal does not depend on its words. */
export function refusal({ code, body }: Answered): Pick<Status, 'code' | 'reason' | 'details'> & { kind: string } {
  const { kind, reason, details } = body as unknown as Status;
  return { kind, code, ...(reason === undefined ? {} : { reason }), ...(details === undefined ? {} : { details }) };
}
