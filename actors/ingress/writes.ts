// Writes: the request as admission understands it, and its answer. The body is passed on undecoded.

import type { Own } from '../../api/json/own-copy.ts';
import type { Query } from '../../api/requests/query.ts';
import type { ResourceRequestInfo } from '../../api/requests/request-info.ts';
import type { OptionsKind } from '../../api/requests/request-options.ts';
import { tooLarge } from '../../api/status/failures.ts';
import { isStatus, StatusError } from '../../api/status/status.ts';
import type { WriteVerb } from '../../api/verbs.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { RequestAborted } from '../../transport/http.ts';
import { bareMediaType } from '../../transport/media-type.ts';
import type { AdmissionProtocol, WriteParameters } from '../admission/protocol.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { AnswerForm } from './reads/answer-forms.ts';
import { sendStatus } from './reads/answers.ts';
import type { Reads } from './reads/reads.ts';
import type { Representations } from './reads/representation.ts';

const NOTHING = new Uint8Array();
/** Where these are wrong the body has not been looked at; that of a DELETE is them itself. */
const OPTIONS_ALONE: ReadonlySet<unknown> = new Set<OptionsKind>(['CreateOptions', 'UpdateOptions', 'PatchOptions']);

export interface WritesParts {
  readonly context: Pick<ActorContext, 'clock' | 'ref'>;
  readonly reads: Reads;
  readonly statuses: Representations;
  readonly requestTimeoutMs: number;
}

export class Writes {
  readonly #parts: WritesParts;
  readonly #admission: Ref<AdmissionProtocol>;

  constructor(parts: WritesParts) {
    this.#parts = parts;
    this.#admission = parts.context.ref('admission');
  }

  async serve(exchange: Exchange, info: ResourceRequestInfo, verb: WriteVerb, form: AnswerForm): Promise<void> {
    const body = exchange.body === undefined ? NOTHING : await exchange.body;
    if (body === null) throw new StatusError(tooLarge());
    // Answered before its body was whole: what has not been begun is not done.
    if (exchange.isGivenUp || exchange.response.aborted) throw new RequestAborted();
    const { group, version, resource, subresource, namespace, name } = info;
    const { request, requestNumber, response, user, query } = exchange;
    const contentType = request.header('content-type');
    const { context, reads, statuses, requestTimeoutMs } = this.#parts;
    // Its answer is given then, whatever it has come to.
    const leftMs = (exchange.timeoutMs ?? requestTimeoutMs) - (context.clock.monotonicMs() - exchange.startedMs);
    const asking = this.#admission.ask(
      {
        type: 'write',
        verb,
        target: { group, version, resource, subresource, namespace, name: verb === 'deletecollection' ? '' : name },
        user,
        userAgent: request.header('user-agent'),
        parameters: request.query === '' ? NO_PARAMETERS : parametersOf(query),
        contentType: contentType === 'application/json' ? contentType : bareMediaType(contentType),
        payload: body,
        leftMs,
      },
      { deadlineMs: leftMs, requestNumber },
    );
    // It keeps its seat until admission has let go of it.
    response.onAborted(() => this.#admission.tell({ type: 'abandoned', requestNumber }));
    const reply = await asking;
    if (reply.auditAnnotations !== undefined) exchange.audit?.annotateBy(reply.auditAnnotations);
    if ('place' in reply) return reads.sendWritten(exchange, reply.code, reply.place, form, reply.warnings);
    if ('list' in reply) return reads.sendList(exchange, reply.list, form.representation, reply.warnings);
    if (isStatus(reply.body)) {
      if (OPTIONS_ALONE.has(reply.body.details?.kind)) exchange.audit?.refused();
      return sendStatus(exchange, reply.body, statuses.ofStatus(exchange), reply.warnings);
    }
    return reads.sendObject(exchange, reply.code, reply.body, form.representation, reply.warnings);
  }
}

const NO_PARAMETERS: WriteParameters = {};

const TEXT_PARAMETERS = [
  'fieldManager',
  'force',
  'gracePeriodSeconds',
  'orphanDependents',
  'propagationPolicy',
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'fieldValidation',
  'timeoutSeconds',
  'uid',
] as const satisfies readonly (keyof WriteParameters)[];

function parametersOf(query: Query): WriteParameters {
  const parameters: Own<WriteParameters> = {};
  for (const name of TEXT_PARAMETERS) {
    const value = query.get(name);
    if (value !== undefined) parameters[name] = value;
  }
  const dryRun = query.all('dryRun');
  if (dryRun.length > 0) parameters.dryRun = dryRun;
  return parameters;
}
