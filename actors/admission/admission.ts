// The write path: turns requests into transactions of the store. Between its steps it asks the hub of its thread
// for the present and the store for the commit. Owns the subscription by which plugins know the cluster, and nothing
// that a restart would lose.

import { StoredForm } from '../../api/catalog/stored-form.ts';
import { DecodeError } from '../../api/codec/decode-error.ts';
import { loadPatterns } from '../../api/custom/checks/patterns.ts';
import type { CustomType } from '../../api/custom/definitions/custom-type.ts';
import { DefinitionChanged } from '../../api/custom/definitions/definition-changed.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { badRequest, conflict, failure, methodNotAllowed, resourceNotFound } from '../../api/status/failures.ts';
import { httpCode, isStatusError, StatusError } from '../../api/status/status.ts';
import { objectValidation } from '../../api/validation/object-validation.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import type { JobPool } from '../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../runtime/memory/heap-room.ts';
import { HeapShare } from '../../runtime/memory/heap-share.ts';
import { turn } from '../../runtime/turn.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { BodyError } from '../../transport/body.ts';
import { heapBytesOfBody } from '../../transport/heap-of-body.ts';
import type { ComponentRecording } from '../auditing/component-audit.ts';
import { definitionOf, servedType, storedType } from '../served-type.ts';
import { annotated } from './audit-annotations.ts';
import { withWarnings } from './bodies/field-validation.ts';
import { ClusterView } from './cluster.ts';
import { tooLateToCommit } from './commits/commit.ts';
import { CommitTimes } from './commits/commit-times.ts';
import { Completion } from './completion.ts';
import { WebhookConversion } from './conversion/webhook-conversion.ts';
import { convertFor } from './convert-for.ts';
import { ADMISSION_FACTS } from './facts.ts';
import { isBegunUncounted } from './heap-of-writes.ts';
import { InsideAudit } from './inside-audit.ts';
import { KindVersions } from './kind-version.ts';
import { KnownApplies } from './known-applies.ts';
import { KnownSpecs } from './known-specs.ts';
import { afterOthers } from './large-writes.ts';
import { LongChecks } from './long-checks.ts';
import { Patience, WritesUnderWay } from './patience.ts';
import { PluginChain } from './plugins/chain.ts';
import type { AdmissionPluginKind, PluginConfigurations, PluginOptions } from './plugins/plugin.ts';
import type {
  AdmissionProtocol,
  AdmissionStatus,
  BindingOutcome,
  BindRequest,
  ConnectRequest,
  WriteReply,
  WriteRequest,
} from './protocol.ts';
import { requireServed } from './served-verbs.ts';
import { ServiceAllocation, type ServiceNetwork } from './service-allocation.ts';
import { mayAccess } from './steps/permission.ts';
import { readerOf } from './stored/store-reader.ts';
import { Turns } from './turns.ts';
import { WarnedRefusal } from './warned-refusal.ts';
import type { DeletionSettings, WriteContext } from './write-context.ts';
import { apply, isApply } from './writes/apply.ts';
import { bind, createBinding } from './writes/bind.ts';
import { admitConnection } from './writes/connect.ts';
import { create } from './writes/create.ts';
import { deleteOne } from './writes/delete.ts';
import { deleteCollection } from './writes/delete-collection.ts';
import { evict } from './writes/evict.ts';
import { bindRecorded } from './writes/recorded-bindings.ts';
import { reviewer } from './writes/reviews.ts';
import { requestToken } from './writes/token-request.ts';
import { patch, update } from './writes/update.ts';

export interface AdmissionOptions {
  readonly registry: Registry;
  readonly requestTimeoutMs: number;
  /** Feature gate ServerSideApply. */
  readonly serverSideApply: boolean;
  readonly validation: ValidationSettings;
  /** `--feature-gates`. */
  readonly featureGates: string;
  /** For checks that take long; undefined: they are made where they come up. */
  readonly checks: JobPool | undefined;
  readonly deletion: DeletionSettings;
  /** What the large writes that are at work together may take of the heap. */
  readonly heapRoomBytes: number;
  readonly network: ServiceNetwork;
  /** The admission plugins that run, in their order. */
  readonly plugins: readonly AdmissionPluginKind[];
  readonly pluginConfigurations: PluginConfigurations;
  readonly pluginOptions: PluginOptions;
  /** Absent: nothing is recorded of what is written inside. */
  readonly recording?: ComponentRecording | undefined;
}

/** A write is looked at by a newer definition this often before its client hears of it. */
const DEFINITION_TRIES_MAX = 8;

/** What plugins add by themselves follows from their names and options. */
function completing(plugins: readonly AdmissionPluginKind[], options: AdmissionOptions['pluginOptions']): string {
  const { notReadySeconds, unreachableSeconds } = options;
  return [...plugins.map(({ name }) => name), notReadySeconds, unreachableSeconds].join(' ');
}

class Admission implements Actor<AdmissionProtocol> {
  readonly #write: WriteContext;
  readonly #cluster: ClusterView;
  readonly #heapRoom: HeapRoom;
  readonly #underWay = new WritesUnderWay();
  /** Undefined: nothing is recorded. */
  readonly #audit: InsideAudit | undefined;

  constructor(context: ActorContext, options: AdmissionOptions) {
    const { registry, requestTimeoutMs, serverSideApply, validation, deletion, network, plugins } = options;
    this.#heapRoom = new HeapRoom(options.heapRoomBytes);
    const { dialect } = registry;
    const schema = schemaOf(dialect);
    const forms = new StoredForm(registry, schema);
    this.#cluster = new ClusterView(context, { registry, forms });
    const auth = () => context.ref('auth');
    const reader = readerOf(context, requestTimeoutMs);
    const validate = objectValidation(schema, validation);
    const conversion = new WebhookConversion(reader, { registry, ...options.pluginOptions });
    this.#write = {
      ...reader,
      registry,
      auditAnnotations: [],
      heapShare: new HeapShare(this.#heapRoom),
      dialect,
      definitionsKey: dialect.spell('apiextensions.@group/customresourcedefinitions'),
      schema,
      forms,
      conversion,
      store: context.ref('store'),
      commitTimes: new CommitTimes(context.clock, context.metrics, dialect.storeCheck),
      turns: new Turns(context.timers),
      auth,
      kinds: new KindVersions(schema, { 'core/services': new ServiceAllocation(reader, network, validation.gate) }),
      plugins: new PluginChain(
        plugins,
        {
          reader,
          cluster: this.#cluster,
          registry,
          dialect,
          schema,
          forms,
          conversion,
          options: options.pluginOptions,
          authorize: (attributes, access) => mayAccess(auth, attributes, access),
        },
        options.pluginConfigurations,
      ),
      completion: new Completion(validation.gate, completing(plugins, options.pluginOptions)),
      serverSideApply,
      knownApplies: new KnownApplies(),
      knownSpecs: new KnownSpecs(),
      validation: validate,
      longChecks: new LongChecks({
        context,
        validation: validate,
        dialect: dialect.name,
        settings: { allowPrivileged: validation.allowPrivileged, featureGates: options.featureGates },
        pool: options.checks,
      }),
      deletion,
    };
    this.#audit = options.recording && new InsideAudit(this.#write, options.recording);
  }

  async start(): Promise<void> {
    this.#cluster.start();
  }

  async stop(): Promise<void> {
    this.#cluster.stop();
    this.#audit?.flush();
    await this.#write.longChecks.close();
  }

  /** A restarted store knows none of its subscribers. */
  peerRestarted(name: string): void {
    if (name === 'store') this.#cluster.onLost();
  }

  onMessage(message: MessageOf<AdmissionProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'write':
        if (this.#audit === undefined || message.isInside !== true) this.#answer(message, reply);
        else this.#record(message, reply, this.#audit);
        return;
      case 'status':
        this.#write.hub.ask({ type: 'status' }, { deadlineMs: this.#write.requestTimeoutMs }).then(
          ({ ready }) => reply.send({ ready: ready && this.#cluster.isWhole } satisfies AdmissionStatus),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'connect':
        this.#admitConnection(message, reply);
        return;
      case 'convert':
        convertFor(this.#writeOfTurn(), message).then(
          (answer) => reply.send(answer),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'bind':
        this.#bind(message).then(
          (outcomes) => reply.send({ outcomes }),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'askPlugin':
        reply.send({ answer: this.#write.plugins.answer(message.plugin, message.question) });
        return;
      case 'abandoned':
        this.#underWay.abandoned(message.requestNumber);
        return;
      case 'storeBatch':
        this.#cluster.onBatch(message);
        return;
      case 'storeLost':
        this.#cluster.onLost();
        return;
      default:
        unreachable(message);
    }
  }

  /** For the request whose message is being handled. */
  #writeOfTurn(leftMs = this.#write.requestTimeoutMs): WriteContext {
    const patience = new Patience(this.#write.context.clock, leftMs);
    const heapShare = new HeapShare(this.#heapRoom);
    return { ...this.#write, requestNumber: turn.requestNumber, patience, auditAnnotations: [], heapShare };
  }

  #admitConnection(request: ConnectRequest, reply: Reply): void {
    const write = this.#writeOfTurn();
    admitConnection(write, request).then(
      (answer) => reply.send(annotated(answer, write)),
      (error: unknown) => reply.fail(error),
    );
  }

  #bind(asked: BindRequest): Promise<BindingOutcome[]> {
    const write = this.#writeOfTurn();
    return this.#audit === undefined
      ? bind(write, asked.bindings, asked.user)
      : bindRecorded(write, asked, this.#audit);
  }

  /** The turn in which it is performed may be another. */
  #record(request: WriteRequest, reply: Reply, audit: InsideAudit): void {
    const write = this.#writeOfTurn(request.leftMs);
    audit.write(request, reply, (recorded) => this.#answer(request, recorded, write));
  }

  #answer(
    request: WriteRequest,
    reply: Reply,
    write = this.#underWay.begun(this.#writeOfTurn(request.leftMs), request),
  ): void {
    const { payload, contentType } = request;
    if (isBegunUncounted(write.heapShare, payload.length)) this.#answerNow(request, reply, write);
    else
      void write.heapShare.keep(heapBytesOfBody(payload, contentType)).then(() => {
        // What nobody waits for any more is not begun.
        if (reply.isAwaited && !write.patience.isOver) return this.#answerNow(request, reply, write);
        this.#ended(write);
        reply.fail(tooLateToCommit());
      });
  }

  #answerNow(request: WriteRequest, reply: Reply, write: WriteContext): void {
    const answer = (reached: WriteReply): void => {
      this.#ended(write);
      reply.send(annotated(reached, write));
    };
    const refuse = (error: unknown): void => {
      this.#ended(write);
      this.#refuse(reply, error, write);
    };
    try {
      this.#performed(write, request).then(answer, refuse);
    } catch (error) {
      refuse(error);
    }
  }

  #ended(write: WriteContext): void {
    write.heapShare.giveBack();
    this.#underWay.ended(write);
  }

  /** Expected refusals are answers; anything else is an error. */
  #refuse(reply: Reply, error: unknown, write: WriteContext): void {
    if (isStatusError(error)) {
      const answer: WriteReply = { code: httpCode(error.status), body: error.status };
      const warned = error instanceof WarnedRefusal ? withWarnings(answer, error.warnings) : answer;
      reply.send(annotated(warned, write));
    } else if (error instanceof BodyError) reply.send(bodyRefusal(error));
    else if (error instanceof DecodeError)
      reply.send({ code: 400, body: badRequest(`the body cannot be read: ${error.message}`) } satisfies WriteReply);
    else reply.fail(error);
  }

  /** Throws, or rejects with, what refuses the write. */
  #performed(write: WriteContext, request: WriteRequest): Promise<WriteReply> {
    const { group, version, resource } = request.target;
    const type = this.#write.registry.byPath(group, version, resource);
    if (type === undefined || type.custom !== undefined) return this.#performCustom(write, request);
    // Definitions say patterns, which have to be some.
    const loading = type.storageKey === this.#write.definitionsKey ? loadPatterns() : undefined;
    return loading === undefined
      ? this.#perform(write, request, type)
      : loading.then(() => this.#perform(write, request, type));
  }

  /** Of a type that may have come, or changed, since this thread has heard of it. */
  async #performCustom(write: WriteContext, request: WriteRequest): Promise<WriteReply> {
    await loadPatterns();
    for (let tries = 1; ; tries++) {
      const type = await (request.target.asStored ? storedType : servedType)(write, request.target);
      if (type === undefined) throw new StatusError(resourceNotFound());
      if (type.custom?.isLargeAndUnread === true) await readSchema(write, type.custom);
      try {
        return await this.#perform(write, request, type);
      } catch (error) {
        if (!(error instanceof DefinitionChanged)) throw error;
        if (tries === DEFINITION_TRIES_MAX) {
          throw new StatusError(conflict(type, request.target.name, 'its definition kept changing, try again'));
        }
        write.auditAnnotations.length = 0;
        await definitionOf(write, request.target);
      }
    }
  }

  #perform(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
    requireServed(type, request);
    switch (request.verb) {
      case 'create':
        return this.#create(write, request, type);
      case 'update':
        return update(write, request, type);
      case 'patch':
        return isApply(write, request, type) ? apply(write, request, type) : patch(write, request, type);
      case 'delete':
        return deleteOne(write, request, type);
      case 'deletecollection':
        return deleteCollection(write, request, type);
      default:
        return unreachable(request.verb);
    }
  }

  #create(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
    if (type.persisted && request.target.subresource === '') return create(write, request, type);
    const special = SPECIAL_CREATES[`${type.plural}/${request.target.subresource}`] ?? reviewer(type);
    if (special === undefined) throw new StatusError(methodNotAllowed());
    return special(write, request, type);
  }
}

/** Makes a large schema ready, with turns of others in between. */
async function readSchema(write: WriteContext, custom: CustomType): Promise<void> {
  await afterOthers(write);
  for (const _ of custom.schema.preparing()) await afterOthers(write);
}

function bodyRefusal(error: BodyError): WriteReply {
  const status = error.code === 415 ? failure(415, 'UnsupportedMediaType', error.message) : badRequest(error.message);
  return { code: error.code, body: status };
}

/** What a POST does that stores no new object, by the type's plural and the subresource. */
const SPECIAL_CREATES: Readonly<
  Record<string, (write: WriteContext, request: WriteRequest, type: KnownType) => Promise<WriteReply>>
> = {
  'bindings/': createBinding,
  'pods/binding': createBinding,
  'pods/eviction': evict,
  'serviceaccounts/token': requestToken,
};

/** Admission as a placeable actor. */
export const admissionActor: ActorDefinition<AdmissionOptions> = {
  ...ADMISSION_FACTS,
  create: (context, options) => new Admission(context, options),
};
