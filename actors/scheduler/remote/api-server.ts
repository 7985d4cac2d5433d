// The API server as the scheduler of a process of its own speaks with it: calls at a pace (QPS and burst), bodies in the
// configured encoding. Answers status codes and parsed JSON; what they mean is the callers' business.
import { decode, type JsonObject } from '../../../api/codec/decode.ts';
import { encodeEnveloped } from '../../../api/codec/protobuf.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { schemaOf, type TypeSchema } from '../../../api/schema/schema.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import type { ApiCall, ApiClient } from '../../../transport/outgoing/api-client.ts';
import { Pace } from '../driver/pace.ts';

const CALL_DEADLINE_MS = 10_000;
/** Lists take as long as they take. */
const LIST_DEADLINE_MS = 60_000;
const MERGE_PATCH = 'application/merge-patch+json';

export interface ApiServerParts {
  readonly client: Pick<ApiClient, 'call' | 'lines'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Encoding of the objects that are sent: JSON, or Protobuf. */
  readonly contentType: string;
  /** Requests a second; 0 and less: no limit. */
  readonly qps: number;
  readonly burst: number;
}

export interface ParsedAnswer {
  readonly status: number;
  /** Empty where the answer is no JSON object. */
  readonly object: JsonObject;
}

export class ApiServer {
  readonly #parts: ApiServerParts;
  readonly #pace: Pace | undefined;
  /** The turns of those who wait come in order. */
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
    const { qps, burst, clock } = parts;
    this.#pace = qps > 0 ? new Pace({ perSecond: qps, burst: Math.max(1, burst) }, clock) : undefined;
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

  async mergePatch(path: string, patch: object): Promise<number> {
    const call = { method: 'PATCH', path, contentType: MERGE_PATCH, body: Buffer.from(JSON.stringify(patch)) };
    return (await this.#call(call, CALL_DEADLINE_MS)).status;
  }

  async remove(path: string, options: object): Promise<number> {
    const body = Buffer.from(JSON.stringify(options));
    return (await this.#call({ method: 'DELETE', path, body }, CALL_DEADLINE_MS)).status;
  }

  /** Resolves with the status when the watch has ended. */
  async watch(path: string, onLine: (line: Buffer) => void, signal: AbortSignal): Promise<number> {
    await this.#myTurn();
    return this.#parts.client.lines({ method: 'GET', path }, onLine, signal);
  }

  async #call(call: ApiCall, deadlineMs: number): Promise<ParsedAnswer> {
    await this.#myTurn();
    const { status, body } = await this.#parts.client.call(call, deadlineMs);
    return { status, object: parsed(body) };
  }

  #myTurn(): Promise<void> {
    const pace = this.#pace;
    if (pace === undefined) return this.#turn;
    this.#turn = this.#turn.then(async () => {
      for (let waitMs = pace.take(); waitMs > 0; waitMs = pace.take()) {
        await new Promise<void>((resolve) => void this.#parts.timers.after(waitMs, resolve));
      }
    });
    return this.#turn;
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
