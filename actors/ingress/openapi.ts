// `/openapi/v2`: built when first asked for, in the pool, and kept; told apart by its ETag.
import { createHash } from 'node:crypto';
import { OPENAPI_PROTOBUF_CONTENT_TYPE, OPENAPI_PROTOBUF_MEDIA_TYPES } from '../../api/openapi/gnostic.ts';
import { notAcceptable } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { JSON_TYPE } from './answers.ts';
import type { Exchange } from './exchange.ts';
import type { DocumentBytes, DocumentRequest } from './openapi-worker.ts';

/** A pool thread without work ends after this. */
const POOL_IDLE_MS = 10_000;
/** Clauses of an Accept header that are looked at. */
const CLAUSES_MAX = 16;

interface Encoding {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly etag: string;
}

export class OpenApi {
  readonly #request: DocumentRequest;
  #encodings: Promise<ReadonlyMap<string, Encoding>> | undefined;

  constructor(request: DocumentRequest) {
    this.#request = request;
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const wanted = wantedEncoding(request.header('accept'));
    if (wanted === undefined) throw new StatusError(notAcceptable([JSON_TYPE, ...OPENAPI_PROTOBUF_MEDIA_TYPES]));
    this.#encodings ??= this.#build();
    const { body, contentType, etag } = (await this.#encodings).get(wanted)!;
    const headers = [
      ['Etag', etag],
      ['Vary', 'Accept-Encoding'],
      ['Content-Type', contentType],
    ] as const;
    exchange.code = request.header('if-none-match') === etag ? 304 : 200;
    response.respond(exchange.code, headers, exchange.code === 304 ? '' : body);
  }

  async #build(): Promise<ReadonlyMap<string, Encoding>> {
    const { Piscina } = await import('piscina');
    const pool = new Piscina<DocumentRequest, DocumentBytes>({
      filename: new URL('./openapi-worker.js', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: POOL_IDLE_MS,
    });
    try {
      const { json, protobuf } = await pool.run(this.#request);
      return new Map([
        ['json', encoding(JSON_TYPE, json)],
        ['protobuf', encoding(OPENAPI_PROTOBUF_CONTENT_TYPE, protobuf)],
      ]);
    } catch (error) {
      this.#encodings = undefined;
      throw error;
    } finally {
      await pool.destroy();
    }
  }
}

function encoding(contentType: string, body: Uint8Array): Encoding {
  return { contentType, body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` };
}

/** Clients ask for one form in the order they like; the Protobuf form's name is no media type by the grammar. */
function wantedEncoding(accept: string): 'json' | 'protobuf' | undefined {
  if (accept === '') return 'json';
  for (const clause of accept.split(',', CLAUSES_MAX)) {
    const type = clause.split(';', 1)[0]!.trim();
    if (OPENAPI_PROTOBUF_MEDIA_TYPES.includes(type)) return 'protobuf';
    if (type === JSON_TYPE || type === 'application/*' || type === '*/*') return 'json';
  }
  return undefined;
}
