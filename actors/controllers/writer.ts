// Performs the controllers' writes: asks admission on a controller's behalf, with a bound on what all controllers
// together have in flight. Decides nothing about retries; the queue does.

import { asObject, asText } from '../../api/object-fields.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { WriteReply } from '../admission/protocol.ts';
import type { Identity, Write, WriteOutcome } from './controller.ts';

/** All but what no request of Kubernetes' own does. */
const IS_INSIDE = { isInside: true } as const;
const EMPTY_PAYLOAD = new Uint8Array(0);

export interface WriterLimits {
  readonly inFlightMax: number;
  readonly deadlineMs: number;
}

/** The only place where controllers cause anything. */
export class Writer {
  readonly #admission;
  readonly #limits: WriterLimits;
  readonly #encoder = new TextEncoder();
  /** Those who wait for a place. Bounded by the queues: each has a limited number of plans under way. */
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(context: Pick<ActorContext, 'ref'>, limits: WriterLimits) {
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
      return { ok: false, code: 0, message: error instanceof Error ? error.message : String(error), body: undefined };
    } finally {
      // The place is handed on rather than given back, so that nobody overtakes those who wait.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inFlight -= 1;
      else next();
    }
  }

  #ask(identity: Identity, write: Write): Promise<WriteReply> {
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
        ...(identity.isStore || write.target.asStored ? undefined : IS_INSIDE),
      },
      { deadlineMs: this.#limits.deadlineMs },
    );
  }
}

function outcomeOf(write: Write, reply: WriteReply): WriteOutcome {
  const body = 'body' in reply ? asObject(reply.body) : undefined;
  const isGone = reply.code === 404 && write.verb === 'delete';
  const ok = (reply.code >= 200 && reply.code < 300) || isGone;
  return { ok, code: reply.code, message: ok ? '' : asText(body?.message) || `code ${reply.code}`, body };
}
