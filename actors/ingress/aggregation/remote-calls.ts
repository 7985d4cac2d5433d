// Calls of extension servers on behalf of one of this server's own controllers: as the account that it has in Kubernetes, each bounded
// in time and size, all together by the end that is given.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import { identityHeaders } from '../../../api/aggregation/identity-headers.ts';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { serviceAccountUser } from '../../../api/authorization/service-account-user.ts';
import { asObject, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { serviceUnavailable } from '../../../api/status/failures.ts';
import { isStatus, type Status } from '../../../api/status/status.ts';
import { isAtLeast } from '../../../config/audit-policy.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { BodyFlow } from '../../../transport/http.ts';
import { AgentUnreachable } from '../../../transport/outgoing/agent-address.ts';
import { type BegunAudit, type ComponentAudit, endedOf, receivedOf } from '../../auditing/component-audit.ts';
import type { Backends } from './backends.ts';
import { CallLimit } from './call-limit.ts';

/** For one answer. */
const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const TRIES_MAX = 3;
const TYPES_MAX = 500;
const JSON_TYPE = 'application/json';
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
const UNABLE = 'the server is currently unable to handle the request';

export interface RemoteCallParts {
  readonly backends: Backends;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Undefined where no request is recorded. */
  readonly audit: ComponentAudit | undefined;
}

/** What a call is about. */
export type CallObject = Pick<AccessAttributes, 'resource' | 'namespace' | 'name'>;

export interface RemoteCall {
  readonly method: 'GET' | 'DELETE' | 'PATCH';
  readonly path: string;
  /** What of the objects in the answer is wanted. */
  readonly shape?: 'names';
  /** Of a PATCH it is a JSON merge patch. */
  readonly body?: string;
  /** Of what deletes or patches: it is recorded as the request that a client would make of this server. */
  readonly changes?: CallObject;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export class RemoteCalls {
  readonly #parts: RemoteCallParts;
  /** The service account of the controller, in the system's namespace. */
  readonly #account: string;
  readonly #endMs: number;

  /** @param forMs for all calls together. */
  constructor(parts: RemoteCallParts, account: string, forMs: number) {
    this.#parts = parts;
    this.#account = account;
    this.#endMs = parts.clock.monotonicMs() + forMs;
  }

  /** The rows of a discovery document: types, not what is below them. Rejects where there is none to be had. */
  async types(apiService: RemoteApiService): Promise<readonly Readonly<Record<string, unknown>>[]> {
    if (!apiService.isAvailable) throw new Error(UNABLE);
    const document = jsonOf(accepted(await this.call(apiService, { method: 'GET', path: pathOf(apiService) })));
    if (textAt(document, 'kind', 'APIResourceList') !== 'APIResourceList')
      throw new Error('the server answered no list of its types');
    return partsAt(document, 'resources')
      .filter((row) => /^[^/.]+$/.test(textAt(row, 'name')))
      .slice(0, TYPES_MAX);
  }

  async call(apiService: RemoteApiService, asked: RemoteCall): Promise<Answered> {
    const record = asked.changes && this.#begin(apiService, asked, asked.changes);
    if (record === undefined) return this.#callOften(apiService, asked);
    await receivedOf(record);
    try {
      const answer = await this.#callOften(apiService, asked);
      await answered(record, answer);
      return answer;
    } catch (error) {
      await refused(record, error);
      throw error;
    }
  }

  #begin({ group, version }: RemoteApiService, asked: RemoteCall, about: CallObject) {
    const { audit } = this.#parts;
    const { method, path, body = '' } = asked;
    const verb = method === 'PATCH' ? 'patch' : about.name === '' ? 'deletecollection' : 'delete';
    return audit?.begin({
      user: this.#user(),
      userAgent: this.#parts.dialect.spell('@short-controller-manager'),
      access: { verb, isResource: true, group, version, subresource: '', path: '', ...about },
      requestURI: () => path,
      body: () => ({ contentType: contentTypeOf(asked), bytes: Buffer.from(body) }),
    });
  }

  #user(): User {
    return serviceAccountUser(this.#parts.dialect.systemNamespace, this.#account);
  }

  /** Sent again where a kept connection turns out to be closed: nothing that is asked here does harm twice. */
  async #callOften(apiService: RemoteApiService, asked: RemoteCall): Promise<Answered> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#callOnce(apiService, asked);
      } catch (error) {
        if (!(error instanceof AgentUnreachable && error.isStale) || tries === TRIES_MAX) throw error;
      }
    }
  }

  async #callOnce(apiService: RemoteApiService, asked: RemoteCall): Promise<Answered> {
    const { method, path, body } = asked;
    const { backends, clock, timers } = this.#parts;
    const leftMs = Math.min(this.#endMs - clock.monotonicMs(), ANSWER_MS);
    if (leftMs <= 0) throw new Error('there was no time left');
    const limit = new CallLimit(timers, leftMs);
    try {
      const { client, target } = await backends.of(apiService);
      const request = { method, path, headers: this.#headers(asked), body: flowOf(body) };
      const answer = await client.send(target, request, limit.onSent);
      const text = await answer.text(ANSWER_BYTES_MAX);
      return { status: answer.status, text };
    } catch (error) {
      throw limit.isLate ? new Error(`${method} ${path} was not answered in time`) : error;
    } finally {
      limit.end();
    }
  }

  #headers(asked: RemoteCall): readonly (readonly [string, string])[] {
    const { dialect } = this.#parts;
    const { shape, body } = asked;
    const namesOnly = `application/json;as=PartialObjectMetadataList;g=${dialect.spell('meta.@group')};v=v1`;
    return [
      ['accept', shape === undefined ? JSON_TYPE : `${namesOnly},${JSON_TYPE}`],
      ...(body !== undefined ? [['content-type', contentTypeOf(asked)] as const] : []),
      ...(identityHeaders(this.#user()) ?? []),
    ];
  }
}

function contentTypeOf({ method }: RemoteCall): string {
  return method === 'PATCH' ? MERGE_PATCH_TYPE : JSON_TYPE;
}

function flowOf(text: string | undefined): BodyFlow | undefined {
  if (text === undefined) return undefined;
  return {
    start: (receiver) => {
      receiver.onChunk(Buffer.from(text));
      receiver.onEnd();
    },
    resume: () => {},
  };
}

/** Over when the answer may be acted upon. */
function answered(begun: BegunAudit, { status, text }: Answered): Promise<void> | undefined {
  const { audit, answer } = begun;
  const said = status >= 400 ? statusIn(text) : undefined;
  if (said !== undefined) audit.answerStatus(said);
  else if (isAtLeast(audit.level, 'RequestResponse'))
    answer.body = { contentType: JSON_TYPE, bytes: Buffer.from(text) };
  return endedOf(begun, status);
}

/** There is no answer: a client would have been told that there is none to be had. */
function refused(begun: BegunAudit, error: unknown): Promise<void> | undefined {
  begun.audit.answerStatus(serviceUnavailable(messageOf(error)));
  return endedOf(begun, 503);
}

function statusIn(text: string): Status | undefined {
  try {
    const said = asObject(JSON.parse(text));
    return isStatus(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

/** The answer, unless it is an error: then it throws what it says. */
export function accepted(answer: Answered): Answered {
  const { status, text } = answer;
  if (status >= 200 && status < 300) return answer;
  if (status === 503) throw new Error(UNABLE);
  const said = messageIn(text);
  throw new Error(said === '' ? `the server answered ${status}` : said.slice(0, 200));
}

/** What an error says; empty where its code says all. */
export function messageIn(text: string): string {
  try {
    return textAt(asObject(JSON.parse(text)), 'message');
  } catch {
    return '';
  }
}

/** Throws where it is none. */
export function jsonOf({ text }: Answered): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    throw new Error('the server answered what is no JSON');
  }
}
