// Performs the controllers' writes: asks admission on a controller's behalf, or an ingress where another server has the object, with a
// bound on what all controllers together have in flight. Decides nothing about retries; the queue does.

import { asObject, asText } from '../../api/json/object-fields.ts';
import { itemsOf } from '../../rendering/value-pieces.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import type { WriteReply } from '../admission/protocol.ts';
import type { ApiObject, Identity, Write, WriteOutcome } from './controller.ts';
import { firstIngress } from './questions.ts';

/** All but what no request of Kubernetes' own does. */
const IS_INSIDE = { isInside: true } as const;
const EMPTY_PAYLOAD = new Uint8Array(0);

export interface WriterLimits {
  readonly inFlightMax: number;
  readonly deadlineMs: number;
}

interface Answer {
  readonly code: number;
  readonly body: ApiObject | undefined;
}

/** The only place where controllers cause anything. */
export class Writer {
  readonly #context: Pick<ActorContext, 'refs'>;
  readonly #admission;
  readonly #limits: WriterLimits;
  readonly #encoder = new TextEncoder();
  /** Those who wait for a place. Bounded by the queues: each has a limited number of plans under way. */
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(context: Pick<ActorContext, 'ref' | 'refs'>, limits: WriterLimits) {
    this.#context = context;
    this.#admission = context.ref('admission');
    this.#limits = limits;
  }

  /** Never rejects: every failure is an outcome. */
  async write(identity: Identity, write: Write): Promise<WriteOutcome> {
    if (this.#inFlight >= this.#limits.inFlightMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inFlight += 1;
    try {
      return outcomeOf(write, await this.#ask(identity, write));
    } catch (error) {
      return { ok: false, code: 0, message: messageOf(error), body: undefined };
    } finally {
      // The place is handed on rather than given back, so that nobody overtakes those who wait.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inFlight -= 1;
      else next();
    }
  }

  async #ask(identity: Identity, write: Write): Promise<Answer> {
    if (write.isElsewhere) return this.#askElsewhere(write);
    const reply = await this.#askHere(identity, write);
    return { code: reply.code, body: bodyOf(reply) };
  }

  async #askElsewhere({ verb, target, body = {} }: Write): Promise<Answer> {
    if (verb !== 'delete' && verb !== 'patch') throw new OrchError('BadConfiguration', `there is no ${verb} elsewhere`);
    const { group, version, resource, namespace, name } = target;
    const write = { verb, group, version, resource, namespace, name, body };
    const { code, message } = await firstIngress(this.#context).ask(
      { type: 'writeRemote', write },
      { deadlineMs: this.#limits.deadlineMs },
    );
    return { code, body: { message } };
  }

  #askHere(identity: Identity, write: Write): Promise<WriteReply> {
    return this.#admission.ask(
      {
        type: 'write',
        verb: write.verb,
        target: write.target,
        user: identity.user,
        userAgent: identity.userAgent,
        parameters: write.parameters ?? {},
        contentType: write.verb === 'patch' ? 'application/merge-patch+json' : 'application/json',
        payload: write.body === undefined ? EMPTY_PAYLOAD : this.#encoder.encode(JSON.stringify(write.body)),
        ...(write.target.asStored ? undefined : IS_INSIDE),
      },
      { deadlineMs: this.#limits.deadlineMs },
    );
  }
}

function outcomeOf(write: Write, { code, body }: Answer): WriteOutcome {
  const isGone = code === 404 && write.verb === 'delete';
  const ok = (code >= 200 && code < 300) || isGone;
  return { ok, code, message: ok ? '' : asText(body?.message) || `code ${code}`, body };
}

/** Undefined for a stored object. The items of a deleted collection are read again: a sweep goes by what still holds them. */
function bodyOf(reply: WriteReply): ApiObject | undefined {
  if ('list' in reply) return { items: itemsOf(reply.list) };
  return 'body' in reply ? asObject(reply.body) : undefined;
}
