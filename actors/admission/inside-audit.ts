// The audit of what components of this server write, which Kubernetes has as clients: each write is recorded as the request that it
// would be there, and waits for its events as one would. The ingress records all others.
import type { AuditedRequest } from '../../api/audit/event.ts';
import { isBodyLookedAt, objectOfPath } from '../../api/audit/event.ts';
import { requestTexts } from '../../api/audit/event-text.ts';
import type { AccessAttributes, User } from '../../api/authorization/attributes.ts';
import { liesAsAsked } from '../../api/conversion/stored-form.ts';
import { authorizationNamespace } from '../../api/request-info.ts';
import { isStatus, isStatusError } from '../../api/status/status.ts';
import { rootPath } from '../../api/verbs.ts';
import { isAtLeast } from '../../config/audit-policy.ts';
import type { Reply } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { type Soon, whenThere } from '../../runtime/soon.ts';
import { copyOfBody, decodeRecord } from '../../storage/record-reading.ts';
import { Kept } from '../../values/kept.ts';
import { ANSWER_BYTES_MAX, type AuditedBody } from '../audit/protocol.ts';
import type { Held } from '../audit-event-groups.ts';
import { AuditTaker, type RecordingSettings } from '../audit-taker.ts';
import { statusOfError } from '../error-status.ts';
import { RequestAudit } from '../request-audit.ts';
import type { PublishedPlace } from '../store/protocol.ts';
import type { WriteParameters, WriteReply, WriteRequest, WriteTarget } from './protocol.ts';
import type { WriteContext } from './write-context.ts';

/** How what is inside is recorded. */
export interface InsideRecording extends RecordingSettings {
  /** The address that clients on this machine come from. */
  readonly loopback: string;
  /** What stands in the name of a client's program behind its own: version, platform and build. */
  readonly build: string;
}

/** A write, as far as it is recorded. */
export type RecordedWrite = Pick<
  WriteRequest,
  'verb' | 'target' | 'user' | 'userAgent' | 'parameters' | 'contentType' | 'payload'
>;

/** Components, and the accounts that they go by. */
const AGENTS_MAX = 256;
const JSON_TYPE = 'application/json';
const ACCOUNTS = 'system:serviceaccount:';

export class InsideAudit {
  readonly #taker: AuditTaker;
  readonly #recording: InsideRecording;
  readonly #write: WriteContext;
  readonly #sourceIPs: readonly string[];
  readonly #agents = new Kept<string, string>(AGENTS_MAX);

  constructor(write: WriteContext, recording: InsideRecording) {
    const { context, dialect, requestTimeoutMs } = write;
    this.#taker = new AuditTaker({ ...recording, context, audit: context.ref('audit'), dialect, requestTimeoutMs });
    this.#recording = recording;
    this.#write = write;
    this.#sourceIPs = [recording.loopback];
  }

  /** What has come up in this turn goes to the audit actor now. */
  flush(): void {
    this.#taker.flush();
  }

  /** Has a write performed, and its answer given once both are recorded as far as they have to be. */
  write(request: WriteRequest, reply: Reply, perform: (recorded: Reply) => void): void {
    const record = this.begin(request);
    if (record === undefined) {
      perform(reply);
      return;
    }
    const recorded = new RecordedReply(reply, record);
    const received = record.received();
    if (received === undefined) perform(recorded);
    else
      received.then(
        () => (reply.isAwaited ? perform(recorded) : recorded.fail(new OrchError('DeadlineExceeded', 'nobody waits'))),
        (error: unknown) => refuse(reply, error),
      );
  }

  /** Begins to record a write; undefined: it is not to be recorded. */
  begin(asked: RecordedWrite): WriteRecord | undefined {
    const { verb, user, parameters, contentType, payload } = asked;
    const access = accessOf(asked);
    const taker = this.#taker;
    const { level, omitStages } = taker.decide(user, access);
    if (level === 'None') return undefined;
    const isRead = payload.length > 0 && isBodyLookedAt(verb, level);
    // A copy: of a payload that came with others, all of them would go to the audit actor.
    const requestBody = isRead ? { contentType, bytes: Uint8Array.from(payload) } : undefined;
    const said = {
      requestURI: addressOf(asked.target, parameters),
      verb,
      user,
      sourceIPs: this.#sourceIPs,
      userAgent: this.#agentOf(asked.userAgent, user),
      objectRef: objectOfPath(access),
    };
    const request: AuditedRequest = {
      texts: requestBody === undefined ? requestTexts(said) : undefined,
      level,
      auditID: this.#write.context.random.uuid(),
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
    const written = (place: PublishedPlace): Soon<AuditedBody | undefined> => this.#written(asked.target, place);
    return new WriteRecord({ audit, answer, held, written, allowed: taker.answerOf(true, '') });
  }

  /** As a client of that program calls itself, and behind it the account that it goes by. */
  #agentOf(name: string, user: User): string {
    const key = `${name} ${user.name}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      const program = `${name}/${this.#recording.build}`;
      agent = user.name.startsWith(ACCOUNTS) ? `${program}/${user.name}` : program;
      this.#agents.set(key, agent);
    }
    return agent;
  }

  /** An object that was just written, as its writer speaks of it. Never rejects. */
  #written(target: WriteTarget, place: PublishedPlace): Soon<AuditedBody | undefined> {
    const { slabs, hub, requestTimeoutMs } = this.#write;
    if (slabs.holds(place)) return this.#bodyAt(target, place);
    // The store's answer came before its publication, which brings the slab.
    return hub.ask({ type: 'reach', revision: place.revision }, { deadlineMs: requestTimeoutMs }).then(
      () => this.#bodyAt(target, place),
      () => undefined,
    );
  }

  #bodyAt({ group, version, resource }: WriteTarget, place: PublishedPlace): AuditedBody | undefined {
    const { slabs, registry, forms } = this.#write;
    if (!slabs.holds(place)) return undefined;
    const slab = slabs.slab(place);
    const type = registry.byPath(group, version, resource);
    // Objects of custom types are as they are stored.
    const isAsAsked = type === undefined || type.custom !== undefined || liesAsAsked(type, 0);
    const bytes = isAsAsked
      ? copyOfBody(slab, place.offset)
      : Buffer.from(JSON.stringify(forms.asked(type, decodeRecord(slab, place.offset))));
    return { contentType: JSON_TYPE, bytes };
  }
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

interface RecordParts {
  readonly audit: RequestAudit;
  readonly answer: { body: AuditedBody | undefined };
  readonly held: HeldAnswer | undefined;
  readonly written: (place: PublishedPlace) => Soon<AuditedBody | undefined>;
  /** What is said of it that nobody is asked whether a component may do its work. */
  readonly allowed: Readonly<Record<string, string>>;
}

/** The record of one write. */
export class WriteRecord {
  readonly #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /** It is to be carried out. Undefined, or a promise, as RequestAudit.received. */
  received(): Promise<void> | undefined {
    const { audit, allowed } = this.#parts;
    // Its event says nothing yet of what comes after it.
    const received = audit.received();
    audit.annotate(allowed);
    return received;
  }

  /** What the write has come to. Over when the answer may be given. */
  answered(reply: WriteReply): Soon<void> {
    const { audit, answer, written } = this.#parts;
    const { code, auditAnnotations } = reply;
    if (auditAnnotations !== undefined) audit.annotateBy(auditAnnotations);
    if ('body' in reply && isStatus(reply.body)) audit.answerStatus(reply.body);
    else if (isAtLeast(audit.level, 'RequestResponse'))
      return whenThere('place' in reply ? written(reply.place) : bodyOf(reply.body), (body) => {
        answer.body = body;
        return this.#ended(code);
      });
    return this.#ended(code);
  }

  /** It has failed in a way of which a client would have been told by the ingress. */
  failed(error: unknown): Soon<void> {
    const { audit } = this.#parts;
    const status = statusOfError(error, 'POST');
    if (status === undefined) audit.panicked();
    else audit.answerStatus(status);
    return this.#ended(status?.code ?? 500);
  }

  #ended(code: number): Soon<void> {
    const { audit, held } = this.#parts;
    audit.started(code);
    audit.ended();
    return held?.isFree;
  }
}

/** Whoever wrote hears of it when it is recorded. */
class RecordedReply implements Reply {
  readonly #reply: Reply;
  readonly #record: WriteRecord;

  constructor(reply: Reply, record: WriteRecord) {
    this.#reply = reply;
    this.#record = record;
  }

  get isAwaited(): boolean {
    return this.#reply.isAwaited;
  }

  send(value: unknown): void {
    void whenThere(this.#record.answered(value as WriteReply), () => this.#reply.send(value));
  }

  fail(error: unknown): void {
    void whenThere(this.#record.failed(error), () => this.#reply.fail(error));
  }
}

/** Nothing has been done: its first event is not where it must be. */
function refuse(reply: Reply, error: unknown): void {
  if (isStatusError(error)) reply.send({ code: 500, body: error.status } satisfies WriteReply);
  else reply.fail(error);
}

function bodyOf(body: object): AuditedBody | undefined {
  const bytes = Buffer.from(JSON.stringify(body));
  return bytes.length > ANSWER_BYTES_MAX ? undefined : { contentType: JSON_TYPE, bytes };
}

function accessOf({ verb, target }: Pick<RecordedWrite, 'verb' | 'target'>): AccessAttributes {
  const { group, version, resource, subresource, name } = target;
  const namespace = authorizationNamespace({ ...target, verb, isResource: true, rest: '' });
  return { verb, isResource: true, group, version, resource, subresource, namespace, name, path: '' };
}

/** Where a client would send it, with the query. */
function addressOf(target: WriteTarget, parameters: WriteParameters): string {
  const { group, version, resource, subresource, namespace, name } = target;
  const root = rootPath(group, version);
  const place = namespace === '' ? root : `${root}/namespaces/${namespace}`;
  let path = `${place}/${resource}`;
  if (name !== '') path += `/${escaped(name)}`;
  if (subresource !== '') path += `/${subresource}`;
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters).sort())
    for (const one of typeof value === 'string' ? [value] : value) query.append(key, one);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** What may stand in a name, and in a path as it is. */
const PLAIN_NAME = /^[\w.:~-]*$/;

function escaped(name: string): string {
  return PLAIN_NAME.test(name) ? name : encodeURIComponent(name);
}
