// The audit actor: writes one line for each record at debug level, and counts them. Nothing waits for it: when its
// mailbox is full, senders drop records.

import type { Actor, ActorContext, ActorDefinition, MessageOf } from '../../runtime/actor.ts';
import type { Series } from '../../runtime/metrics.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { AUDIT_FACTS } from './facts.ts';
import type { AuditProtocol, AuditStage } from './protocol.ts';

/** It has nothing of its own to be told. */
export type AuditOptions = Readonly<Record<never, never>>;

/** See ActorDefinition. Stops late, so that the last requests are recorded too. */
export const auditActor: ActorDefinition<AuditOptions> = {
  ...AUDIT_FACTS,
  owns: 'the audit log',
  create: (context) => new Audit(context),
};

const STAGES: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

class Audit implements Actor<AuditProtocol> {
  readonly #log: ActorContext['log'];
  readonly #counts: ReadonlyMap<AuditStage, Series>;

  constructor(context: ActorContext) {
    this.#log = context.log;
    this.#counts = new Map(
      STAGES.map((stage) => [
        stage,
        context.metrics.counter('apiserver_audit_event_total', 'Audit records taken, by stage.', { stage }),
      ]),
    );
  }

  onMessage(message: MessageOf<AuditProtocol>): void {
    switch (message.type) {
      case 'record':
        this.#record(message);
        return;
      default:
        unreachable(message.type);
    }
  }

  #record({ type: _type, ...record }: MessageOf<AuditProtocol>): void {
    this.#counts.get(record.stage)?.add(1);
    this.#log.debug(record, 'request');
  }
}
