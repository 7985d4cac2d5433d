// The API server as the scheduler of a process of its own speaks with it: calls at a pace (QPS and burst), bodies in the
// configured encoding, both ways. Answers status codes and plain objects; what they mean is the callers' business.
import { decode, type JsonObject } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { hasEnvelope, openWatchEvent } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, encodeEnveloped } from '../../../api/codec/protobuf.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { schemaOf, type TypeSchema } from '../../../api/schema/schema.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import { type ApiCall, type ApiClient, ApiUnanswered } from '../../../transport/outgoing/api-client.ts';
import { Pace } from '../driver/pace.ts';

const CALL_DEADLINE_MS = 10_000;
/** Lists take as long as they take. */
const LIST_DEADLINE_MS = 60_000;
/** Whoever is told to come back does so as often, and then takes the answer for what it is. */
const RETRIES_MAX = 10;
const TOO_MANY = 429;
const SERVER_ERROR = 500;
const JSON_TYPE = 'application/json';
const OPENING_BRACE = 0x7b;
const MERGE_PATCH = 'application/merge-patch+json';

export interface ApiServerParts {
  readonly client: Pick<ApiClient, 'call' | 'parts'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Encoding of the objects that are sent: JSON, or Protobuf. */
  readonly contentType: string;
  /** What may come back, as an Accept header; empty: what is sent, or anything else that there is. */
  readonly acceptContentTypes: string;
  /** Requests a second; 0 and less: no limit. */
  readonly qps: number;
  readonly burst: number;
  /** Told of each call that there is a limit for how long it waited for its turn. */
  readonly onWaited?: (method: string, waitedMs: number) => void;
}

export interface ParsedAnswer {
  readonly status: number;
  /** Empty where the answer is no object. */
  readonly object: JsonObject;
}

export class ApiServer {
  readonly #parts: ApiServerParts;
  readonly #pace: Pace | undefined;
  /** The turns of those who wait come in order. */
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
    const { qps, burst, clock } = parts;
    this.#pace = qps > 0 ? new Pace({ perSecond: qps, burst: Math.max(1, burst) }, clock) : undefined;
  }

  /** The same server for calls that must not wait behind the others: they have a pace of their own. */
  apart(): ApiServer {
    return new ApiServer(this.#parts);
  }

  /** From now on nothing is asked: who waits for a turn, too, is refused with ApiUnanswered. What is under way ends as it does. */
  close(): void {
    this.#isClosed = true;
  }

  get registry(): Registry {
    return this.#parts.registry;
  }

  /** Rejects with ApiUnanswered, as the others do. */
  get(path: string): Promise<ParsedAnswer> {
    return this.#call({ method: 'GET', path }, CALL_DEADLINE_MS);
  }

  list(path: string): Promise<ParsedAnswer> {
    return this.#call({ method: 'GET', path }, LIST_DEADLINE_MS);
  }

  create(path: string, object: JsonObject): Promise<ParsedAnswer> {
    return this.#call({ method: 'POST', path, ...this.#encoded(object) }, CALL_DEADLINE_MS);
  }

  replace(path: string, object: JsonObject): Promise<ParsedAnswer> {
    return this.#call({ method: 'PUT', path, ...this.#encoded(object) }, CALL_DEADLINE_MS);
  }

  mergePatch(path: string, patch: object): Promise<ParsedAnswer> {
    const body = Buffer.from(JSON.stringify(patch));
    return this.#call({ method: 'PATCH', path, contentType: MERGE_PATCH, body }, CALL_DEADLINE_MS);
  }

  async remove(path: string, options: object): Promise<number> {
    const body = Buffer.from(JSON.stringify(options));
    return (await this.#call({ method: 'DELETE', path, body }, CALL_DEADLINE_MS)).status;
  }

  /** Resolves with the status when the watch has ended; rejects with what `onEvent` throws, or when an event cannot be read. */
  async watch(path: string, onEvent: (event: JsonObject) => void, signal: AbortSignal): Promise<number> {
    await this.#myTurn('GET');
    let thrown: unknown;
    const onPart = (part: Buffer): void => {
      try {
        if (part.length > 0) onEvent(this.#eventIn(part));
      } catch (error) {
        thrown = error;
        throw error;
      }
    };
    try {
      return await this.#parts.client.parts({ method: 'GET', path, accept: this.#accepts }, onPart, signal);
    } catch (error) {
      // The client takes it for an answer that was cut.
      throw thrown ?? error;
    }
  }

  get #accepts(): string {
    const { acceptContentTypes, contentType } = this.#parts;
    return acceptContentTypes || (contentType === JSON_TYPE ? JSON_TYPE : `${contentType}, ${JSON_TYPE}`);
  }

  #eventIn(part: Buffer): JsonObject {
    if (part[0] === OPENING_BRACE) return parsed(part);
    const { type, object } = openWatchEvent(part);
    return { type, object: this.#objectIn(object) };
  }

  /** JSON, or Protobuf in its envelope. Throws DecodeError. */
  #objectIn(body: Buffer): JsonObject {
    if (!hasEnvelope(body)) return parsed(body);
    return decodeEnveloped(body, (apiVersion, kind) => {
      const type = kindOf(this.#parts.registry, apiVersion, kind);
      if (type === undefined) throw new DecodeError(`${apiVersion} ${kind} is no kind that is known here`);
      return type;
    }).object;
  }

  async #call(call: ApiCall, deadlineMs: number): Promise<ParsedAnswer> {
    const { client, timers } = this.#parts;
    for (let retries = 0; ; retries++) {
      await this.#myTurn(call.method);
      const { status, body, retryAfterMs } = await client.call({ ...call, accept: this.#accepts }, deadlineMs);
      const isTurnedAway = status === TOO_MANY || status >= SERVER_ERROR;
      if (!isTurnedAway || retryAfterMs === undefined || retries === RETRIES_MAX) {
        return { status, object: this.#objectIn(body) };
      }
      await new Promise<void>((resolve) => void timers.after(retryAfterMs, resolve));
    }
  }

  #myTurn(method: string): Promise<void> {
    const pace = this.#pace;
    if (pace !== undefined) {
      const { clock, onWaited } = this.#parts;
      const askedMs = clock.monotonicMs();
      this.#turn = this.#turn.then(async () => {
        for (let waitMs = pace.take(); waitMs > 0 && !this.#isClosed; waitMs = pace.take()) {
          await new Promise<void>((resolve) => void this.#parts.timers.after(waitMs, resolve));
        }
        onWaited?.(method, clock.monotonicMs() - askedMs);
      });
    }
    return this.#turn.then(() => {
      if (this.#isClosed) throw new ApiUnanswered('nothing more is asked of the server', false);
    });
  }

  #encoded(object: JsonObject): Pick<ApiCall, 'body' | 'contentType'> {
    const { contentType, registry } = this.#parts;
    if (contentType !== registry.dialect.protobufMediaType) return { body: Buffer.from(JSON.stringify(object)) };
    const schema = kindOf(registry, String(object.apiVersion), String(object.kind));
    if (schema === undefined) return { body: Buffer.from(JSON.stringify(object)) };
    return { body: encodeEnveloped(decode(object, schema).object, schema), contentType };
  }
}

function kindOf({ dialect }: Registry, apiVersion: string, kind: string): TypeSchema | undefined {
  const slash = apiVersion.indexOf('/');
  const [group, version] = slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  return schemaOf(dialect).kind(group, version, kind);
}

function parsed(body: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
