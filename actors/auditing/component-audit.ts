// The audit of requests that components of this server would send in Kubernetes, where each is a client: what they do here in other
// ways is recorded as those requests.
import type { AuditedRequest } from '../../api/audit/event.ts';
import { isBodyLookedAt, objectOfPath } from '../../api/audit/event.ts';
import { requestTexts } from '../../api/audit/event-text.ts';
import type { AccessAttributes, User } from '../../api/authorization/attributes.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { Random } from '../../runtime/environment.ts';
import { Kept } from '../../values/kept.ts';
import type { AuditedBody } from '../audit/protocol.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { Held } from './audit-event-groups.ts';
import { type AuditTaker, type RecordingSettings, recordingOf } from './audit-taker.ts';
import { RequestAudit } from './request-audit.ts';

/** How they are recorded. */
export interface ComponentRecording extends RecordingSettings {
  /** The address that clients on this machine come from. */
  readonly loopback: string;
  /** What stands in the name of a client's program behind its own: version, platform and build. */
  readonly build: string;
}

/** Undefined where no request is recorded. */
export function componentRecordingOf(settings: ServerSettings): ComponentRecording | undefined {
  const recording = recordingOf(settings);
  if (recording === undefined) return undefined;
  const { gitVersion, brand } = DIALECTS[settings.dialect];
  const { platform, gitCommit } = settings.build;
  const build = `${gitVersion} (${platform}) ${brand}/${gitCommit.slice(0, COMMIT_LENGTH) || 'unknown'}`;
  const loopback = settings.options.bindAddress.includes(':') ? '::1' : '127.0.0.1';
  return { ...recording, build, loopback };
}

/** As clients of Kubernetes shorten it. */
const COMMIT_LENGTH = 7;

/** A request that a component would send. */
export interface ComponentRequest {
  readonly user: User;
  /** As the component calls itself. */
  readonly userAgent: string;
  readonly access: AccessAttributes;
  /** Where it would be sent, with the query. */
  readonly requestURI: () => string;
  /** What it would say. */
  readonly body: () => AuditedBody | undefined;
}

/** What has begun to be recorded of one. */
export interface BegunAudit {
  readonly audit: RequestAudit;
  /** For the body of the answer, from the level RequestResponse on. */
  readonly answer: { body: AuditedBody | undefined };
  readonly held: HeldAnswer | undefined;
  /** What is said of it that nobody is asked whether a component may do its work. */
  readonly allowed: Readonly<Record<string, string>>;
}

/** Components, and the accounts that they go by. */
const AGENTS_MAX = 256;
const ACCOUNTS = 'system:serviceaccount:';

export class ComponentAudit {
  readonly #taker: AuditTaker;
  readonly #build: string;
  readonly #sourceIPs: readonly string[];
  readonly #random: Pick<Random, 'uuid'>;
  readonly #agents = new Kept<string, string>(AGENTS_MAX);

  constructor(
    taker: AuditTaker,
    { build, loopback }: Pick<ComponentRecording, 'build' | 'loopback'>,
    random: Pick<Random, 'uuid'>,
  ) {
    this.#taker = taker;
    this.#build = build;
    this.#sourceIPs = [loopback];
    this.#random = random;
  }

  /** Undefined: it is not to be recorded. */
  begin({ user, userAgent, access, requestURI, body }: ComponentRequest): BegunAudit | undefined {
    const taker = this.#taker;
    const { verb } = access;
    const { level, omitStages } = taker.decide(user, access);
    if (level === 'None') return undefined;
    const requestBody = isBodyLookedAt(verb, level) ? body() : undefined;
    const said = {
      requestURI: requestURI(),
      verb,
      user,
      sourceIPs: this.#sourceIPs,
      userAgent: this.#agentOf(userAgent, user),
      objectRef: objectOfPath(access),
    };
    const request: AuditedRequest = {
      texts: requestBody === undefined ? requestTexts(said) : undefined,
      level,
      auditID: this.#random.uuid(),
      ...said,
      receivedMs: taker.nowMs(),
    };
    const held = taker.isWaitedFor ? new HeldAnswer() : undefined;
    const answer: { body: AuditedBody | undefined } = { body: undefined };
    const audit = new RequestAudit({
      omitStages,
      request,
      isRefused: false,
      isLongRunning: false,
      isHarmless: false,
      requestBody,
      responseBody: answer,
      held,
      taker,
    });
    return { audit, answer, held, allowed: taker.answerOf(true, '') };
  }

  /** As a client of that program calls itself, and behind it the account that it goes by. */
  #agentOf(name: string, user: User): string {
    const key = `${name} ${user.name}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      const program = `${name}/${this.#build}`;
      agent = user.name.startsWith(ACCOUNTS) ? `${program}/${user.name}` : program;
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** Its first event is kept, where it must be before the request is carried out. Undefined, or a promise, as RequestAudit.received. */
export function receivedOf({ audit, allowed }: BegunAudit): Promise<void> | undefined {
  // That event says nothing yet of what comes after it.
  const received = audit.received();
  audit.annotate(allowed);
  return received;
}

/** It is over, with that code. Undefined, or a promise: over when the answer may be given, or acted upon. */
export function endedOf({ audit, held }: BegunAudit, code: number): Promise<void> | undefined {
  audit.started(code);
  audit.ended();
  return held?.isFree;
}

/** An answer that goes when its events have come to something. */
class HeldAnswer implements Held {
  readonly isFree: Promise<void>;
  release: () => void = () => {};

  constructor() {
    this.isFree = new Promise((resolve) => {
      this.release = resolve;
    });
  }
}
