// An admission world whose server records requests, and an audit actor that keeps the events and answers as it is told.
import { AUDIT_FACTS } from '../../../actors/audit/facts.ts';
import type { AuditProtocol, UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import type { AuditRule } from '../../../config/audit-policy.ts';
import type { Actor, ActorDefinition, MessageOf, Reply } from '../../../runtime/actor.ts';

const ABOUT_EVERYTHING: Omit<AuditRule, 'level'> = {
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
};

export class FakeAudit implements Actor<AuditProtocol> {
  /** With which a server has a log that requests wait for. Nobody opens them. */
  readonly args = ['--audit-policy-file=/nowhere/policy.yaml', '--audit-log-path=/nowhere/audit.log'];
  readonly rules: readonly AuditRule[];
  readonly events: UnreadAuditEvent[] = [];
  /** What is said of events that a request waits for. */
  isKept = true;
  /** Those are answered when this is called. */
  held: (() => void)[] | undefined;

  constructor(rules: readonly Partial<AuditRule>[]) {
    this.rules = rules.map((rule) => ({ ...ABOUT_EVERYTHING, level: 'None', ...rule }));
  }

  get definition(): ActorDefinition<ServerSettings> {
    return { ...AUDIT_FACTS, create: () => this };
  }

  onMessage(message: MessageOf<AuditProtocol>, reply: Reply): void {
    this.events.push(...message.events);
    const answer = (): void => reply.send({ isKept: this.isKept });
    if (this.held === undefined) answer();
    else this.held.push(answer);
  }

  /** The events, as one line each. */
  get told(): readonly string[] {
    return this.events.map(({ request, stage, responseStatus }) => {
      const { verb, requestURI, user } = request;
      return [user?.name, verb, requestURI, stage, responseStatus?.code ?? ''].join(' ').trim();
    });
  }
}
