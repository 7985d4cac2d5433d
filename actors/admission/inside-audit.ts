// The audit of what components of this server write, which Kubernetes has as clients: each write is recorded as the request that it
// would be there, and waits for its events as one would. The ingress records all others.
import type { AccessAttributes } from '../../api/authorization/attributes.ts';
import { liesAsAsked } from '../../api/catalog/stored-form.ts';
import { authorizationNamespace } from '../../api/requests/request-info.ts';
import { isStatus, isStatusError } from '../../api/status/status.ts';
import { rootPath } from '../../api/verbs.ts';
import { isAtLeast } from '../../config/audit-policy.ts';
import { valueListPieces } from '../../rendering/value-pieces.ts';
import type { Reply } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import { type Soon, whenThere } from '../../runtime/soon.ts';
import { copyOfBody, decodeRecord } from '../../storage/records/record-reading.ts';
import { ANSWER_BYTES_MAX, type AuditedBody } from '../audit/protocol.ts';
import { AuditTaker } from '../auditing/audit-taker.ts';
import {
  type BegunAudit,
  ComponentAudit,
  type ComponentRecording,
  endedOf,
  receivedOf,
} from '../auditing/component-audit.ts';
import { statusOfError } from '../error-status.ts';
import type { PublishedPlace } from '../store/protocol.ts';
import type { WriteParameters, WriteReply, WriteRequest, WriteTarget } from './protocol.ts';
import type { WriteContext } from './write-context.ts';

/** A write, as far as it is recorded. */
export type RecordedWrite = Pick<
  WriteRequest,
  'verb' | 'target' | 'user' | 'userAgent' | 'parameters' | 'contentType' | 'payload'
>;

const JSON_TYPE = 'application/json';

export class InsideAudit {
  readonly #taker: AuditTaker;
  readonly #components: ComponentAudit;
  readonly #write: WriteContext;

  constructor(write: WriteContext, recording: ComponentRecording) {
    const { context, dialect, requestTimeoutMs } = write;
    this.#taker = new AuditTaker({ ...recording, context, audit: context.ref('audit'), dialect, requestTimeoutMs });
    this.#components = new ComponentAudit(this.#taker, recording, context.random);
    this.#write = write;
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
    const { user, userAgent, target, parameters, contentType, payload } = asked;
    const begun = this.#components.begin({
      user,
      userAgent,
      access: accessOf(asked),
      requestURI: () => addressOf(target, parameters),
      // A copy: of a payload that came with others, all of them would go to the audit actor.
      body: () => (payload.length > 0 ? { contentType, bytes: Uint8Array.from(payload) } : undefined),
    });
    return begun && new WriteRecord(begun, (place) => this.#written(target, place));
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

/** The record of one write. */
export class WriteRecord {
  readonly #begun: BegunAudit;
  readonly #written: (place: PublishedPlace) => Soon<AuditedBody | undefined>;

  constructor(begun: BegunAudit, written: (place: PublishedPlace) => Soon<AuditedBody | undefined>) {
    this.#begun = begun;
    this.#written = written;
  }

  /** It is to be carried out. Undefined, or a promise, as RequestAudit.received. */
  received(): Promise<void> | undefined {
    return receivedOf(this.#begun);
  }

  /** What the write has come to. Over when the answer may be given. */
  answered(reply: WriteReply): Soon<void> {
    const { audit, answer } = this.#begun;
    const { code, auditAnnotations } = reply;
    if (auditAnnotations !== undefined) audit.annotateBy(auditAnnotations);
    if ('body' in reply && isStatus(reply.body)) audit.answerStatus(reply.body);
    else if (isAtLeast(audit.level, 'RequestResponse'))
      return whenThere('place' in reply ? this.#written(reply.place) : bodyOf(textOf(reply)), (body) => {
        answer.body = body;
        return endedOf(this.#begun, code);
      });
    return endedOf(this.#begun, code);
  }

  /** It has failed in a way of which a client would have been told by the ingress. */
  failed(error: unknown): Soon<void> {
    const { audit } = this.#begun;
    const status = statusOfError(error, 'POST');
    if (status === undefined) audit.panicked();
    else audit.answerStatus(status);
    return endedOf(this.#begun, status?.code ?? 500);
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

function textOf(reply: Exclude<WriteReply, { readonly place: PublishedPlace }>): Buffer {
  return 'list' in reply ? Buffer.concat([...valueListPieces(reply.list)]) : Buffer.from(JSON.stringify(reply.body));
}

function bodyOf(bytes: Buffer): AuditedBody | undefined {
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
