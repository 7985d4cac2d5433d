// Store, hub, auth and admission as a server has them, on one thread and without a listener, with objects of every kind to write
// to. Everything the write targets send goes through the server's own path.
import type { AdmissionProtocol, WriteReply, WriteRequest, WriteTarget } from '../../actors/admission/protocol.ts';
import type { HubProtocol } from '../../actors/hub/protocol.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { TypeSchema } from '../../api/schema/schema.ts';
import { valueListPieces } from '../../rendering/value-pieces.ts';
import type { Ref } from '../../runtime/actor.ts';
import { planOfOneThread } from '../../runtime/placement/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { type InProcess, startInProcess } from '../../runtime/threads/in-process.ts';
import { decodeStored } from '../../storage/forms/stored-json.ts';
import { valueView } from '../../storage/records/slab-record.ts';
import { ThreadSlabs } from '../../storage/records/thread-slabs.ts';
import { everyActor } from '../server/every-actor.ts';
import { memorySettings } from '../server/memory-settings.ts';
import { diceOf } from './generate/dice.ts';
import { DOCUMENTS, SCHEMA } from './generate/documents.ts';
import { NO_BYTES } from './input.ts';
import { Violation } from './target.ts';
import { REGISTRY } from './targets/requests.ts';

const DEADLINE_MS = 60_000;
const ACTORS = ['store', 'hub', 'auth', 'admission'];
const NAMESPACES = ['default', 'shop', 'fuzz', 'orch-system'];
/** Tries at a valid object of a kind that the fixtures have none of. */
const TRIES_MAX = 60;

/** An object that is stored. */
export interface LiveObject {
  readonly type: KnownType;
  readonly schema: TypeSchema;
  readonly target: WriteTarget;
  /** As it is stored. */
  readonly text: string;
}

export type Write = Pick<WriteRequest, 'verb' | 'target' | 'parameters' | 'contentType' | 'payload'>;

class WriteWorld {
  #run: InProcess | undefined;
  #admission: Ref<AdmissionProtocol> | undefined;
  #slabs: ThreadSlabs | undefined;
  #live: LiveObject[] = [];
  #users = 0;
  /** A write may wait on a timer alone, which keeps no thread alive. */
  #alive: NodeJS.Timeout | undefined;

  get live(): readonly LiveObject[] {
    return this.#live;
  }

  /** Starts with the first target that asks. */
  async start(): Promise<void> {
    if (this.#users++ > 0) return;
    this.#alive = setInterval(() => {}, DEADLINE_MS);
    const actors = everyActor
      .filter(({ actor }) => ACTORS.includes(actor))
      .map((definition) => ({
        ...definition,
        create: (context: Parameters<typeof definition.create>[0], settings: ServerSettings) => {
          this.#slabs = ThreadSlabs.of(context);
          return definition.create(context, settings);
        },
      }));
    const plan = planOfOneThread(actors);
    this.#run = await startInProcess({ actors, plan, options: settings(), environment: realEnvironment });
    this.#admission = this.#run.ref<AdmissionProtocol>('admission');
    await this.#populate();
  }

  async stop(): Promise<void> {
    if (--this.#users > 0) return;
    await this.#run?.stop();
    clearInterval(this.#alive);
    this.#run = undefined;
    this.#live = [];
  }

  /** Rejects with what would be answered 500. Refusals that are to be expected are replies. */
  async write(write: Write): Promise<WriteReply> {
    const reply = await this.#admission!.ask<'write'>(
      { type: 'write', user: { name: 'fuzz', uid: '', groups: [], extra: {} }, userAgent: 'fuzz/1', ...write },
      { deadlineMs: DEADLINE_MS },
    );
    // What is not built yet answers 503, and a version that does not come 504.
    if (reply.code >= 500 && reply.code !== 503 && !(reply.code === 504 && write.parameters.resourceVersion))
      throw new Violation(`answered ${reply.code}: ${'body' in reply ? JSON.stringify(reply.body) : ''}`);
    return reply;
  }

  /** What a reply holds, as text. */
  answerText(reply: WriteReply): string {
    if ('body' in reply) return JSON.stringify(reply.body);
    if ('list' in reply) return Buffer.concat([...valueListPieces(reply.list)]).toString('utf8');
    return valueView(this.#slabs!.slab(reply.place), reply.place.offset).toString('utf8');
  }

  async #populate(): Promise<void> {
    const account = JSON.stringify({ metadata: { name: 'default' } });
    for (const name of NAMESPACES) {
      await this.#create(typeOf('namespaces'), JSON.stringify({ metadata: { name } }));
      await this.write(this.#creation(typeOf('serviceaccounts'), name, account));
    }
    for (const type of REGISTRY.all()) {
      if (!type.persisted || !type.verbs.has('create') || type.plural === 'namespaces') continue;
      await this.#makeSome(type);
    }
  }

  async #makeSome(type: KnownType): Promise<void> {
    const schema = SCHEMA.kind(type.group, type.version, type.kind);
    if (schema === undefined) return;
    const dice = diceOf(1, type.plural, 0);
    for (let tries = 0, made = 0; tries < TRIES_MAX && made < 3; tries++) {
      const object = DOCUMENTS.plausible(schema, dice) as { metadata?: Record<string, unknown> };
      const { resourceVersion: _, ...metadata } = object.metadata ?? {};
      const body = {
        ...object,
        metadata: { ...metadata, name: tries < 4 ? metadata.name : 'a', namespace: undefined },
      };
      if (await this.#create(type, JSON.stringify(body))) made++;
    }
  }

  #creation({ group, version, plural: resource }: KnownType, namespace: string, text: string): Write {
    const target = { group, version, resource, subresource: '', namespace, name: '' };
    return { verb: 'create', target, parameters: {}, contentType: 'application/json', payload: Buffer.from(text) };
  }

  async #create(type: KnownType, text: string): Promise<boolean> {
    const { group, version } = type;
    const creation = this.#creation(type, type.namespaced ? 'fuzz' : '', text);
    const { target } = creation;
    const reply = await this.write(creation);
    if (!('place' in reply)) return false;
    const hub = this.#run!.ref<HubProtocol>('hub');
    await hub.ask({ type: 'reach', revision: reply.place.revision }, { deadlineMs: DEADLINE_MS });
    const view = valueView(this.#slabs!.slab(reply.place), reply.place.offset);
    const object = decodeStored(view) as { metadata: { name: string } } & JsonObject;
    const schema = SCHEMA.kind(group, version, type.kind)!;
    const { name } = object.metadata;
    this.#live.push({ type, schema, target: { ...target, name }, text: JSON.stringify(object) });
    return true;
  }
}

function typeOf(plural: string): KnownType {
  return REGISTRY.byPath('', 'v1', plural)!;
}

function settings(): ServerSettings {
  // Configurations are written too, and nobody is behind their webhooks.
  const args = ['--disable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook'];
  return memorySettings('apiserver', args, { advertiseAddress: '10.0.0.1' });
}

/** One for all targets of a thread. */
export const WRITE_WORLD = new WriteWorld();

/** The write of an input of a write target. */
export function writeOf(text: Readonly<Record<string, string>>, payload: Uint8Array = NO_BYTES): Write {
  const { verb, contentType = '', target = '{}', parameters = '{}' } = text;
  return {
    verb: verb as Write['verb'],
    contentType,
    target: JSON.parse(target) as WriteTarget,
    parameters: JSON.parse(parameters) as Write['parameters'],
    payload,
  };
}
