// `/openapi/v2` and `/openapi/v3`: documents built when first asked for, in the pool, and kept as bytes; told apart by
// their hashes. What is in them is api/openapi's matter.
import { createHash } from 'node:crypto';
import { OPENAPI_PROTOBUF_CONTENT_TYPE, OPENAPI_PROTOBUF_MEDIA_TYPES } from '../../../api/openapi/gnostic.ts';
import { notAcceptable } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { JobPool, PoolJob } from '../../../runtime/job-pool.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { JSON_TYPE } from '../reads/answers.ts';
import type { DocumentBytes, DocumentRequest, OpenApiVersion, ServedApi } from './openapi-worker.ts';

const DOCUMENT_JOB: PoolJob<DocumentRequest, DocumentBytes> = {
  module: new URL('./openapi-worker.js', import.meta.url).href,
  name: 'documentBytes',
};
/** Clauses of an Accept header that are looked at. */
const CLAUSES_MAX = 16;
const VERSION3_ROOT = '/openapi/v3';
/** A document asked for by its hash never changes. */
const IMMUTABLE = ['Cache-Control', 'public, immutable, max-age=31536000'] as const;

interface Document {
  readonly body: Uint8Array;
  readonly hash: string;
}

type Documents = ReadonlyMap<string, Document>;

export class OpenApi {
  readonly #api: ServedApi;
  readonly #jobs: JobPool;
  readonly #documents = new Map<OpenApiVersion, Promise<Documents>>();

  constructor(api: ServedApi, jobs: JobPool) {
    this.#api = api;
    this.#jobs = jobs;
  }

  /** Version 2. Throws 406 for a client that takes neither of its forms. */
  async serve(exchange: Exchange): Promise<void> {
    const form = wantedForm(exchange.request.header('accept'));
    if (form === undefined) throw new StatusError(notAcceptable([JSON_TYPE, ...OPENAPI_PROTOBUF_MEDIA_TYPES]));
    const documents = await this.#built(2);
    send(exchange, documents.get(form)!, form === 'json' ? JSON_TYPE : OPENAPI_PROTOBUF_CONTENT_TYPE);
  }

  /**
   * Version 3: at its root where each document is, below it the documents, as JSON. An outdated hash is redirected to the
   * present one. Resolves false when there is no document at the path. Throws 406.
   */
  async serveVersion3(exchange: Exchange, path: string): Promise<boolean> {
    if (wantedForm(exchange.request.header('accept')) !== 'json') throw new StatusError(notAcceptable([JSON_TYPE]));
    const documents = await this.#built(3);
    const name = path.slice(VERSION3_ROOT.length + 1);
    if (name === '') {
      send(exchange, rootDocument(documents), JSON_TYPE);
      return true;
    }
    const document = documents.get(name);
    if (document === undefined) return false;
    const hash = exchange.query.get('hash');
    if (hash !== undefined && hash !== document.hash) {
      exchange.answer(301, [['Location', locationOf(name, document)]], '');
      return true;
    }
    send(exchange, document, JSON_TYPE, hash === undefined ? [] : [IMMUTABLE]);
    return true;
  }

  #built(openapi: OpenApiVersion): Promise<Documents> {
    let documents = this.#documents.get(openapi);
    if (documents === undefined) {
      documents = build(this.#jobs, { ...this.#api, openapi });
      this.#documents.set(openapi, documents);
      documents.catch(() => this.#documents.delete(openapi));
    }
    return documents;
  }
}

async function build(jobs: JobPool, request: DocumentRequest): Promise<Documents> {
  const bytes = await jobs.run(DOCUMENT_JOB, request);
  return new Map([...bytes].map(([name, body]) => [name, documentOf(body)]));
}

function documentOf(body: Uint8Array): Document {
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}

/** Where each document of version 3 is, by the path it describes. */
function rootDocument(documents: Documents): Document {
  const paths: Record<string, object> = {};
  for (const [name, document] of documents) paths[name] = { serverRelativeURL: locationOf(name, document) };
  return documentOf(Buffer.from(`${JSON.stringify({ paths })}\n`));
}

function locationOf(name: string, { hash }: Document): string {
  return `${VERSION3_ROOT}/${name}?hash=${hash}`;
}

function send(exchange: Exchange, { body, hash }: Document, contentType: string, headers: HeaderList = []): void {
  const etag = `"${hash}"`;
  const isKnown = exchange.request.header('if-none-match') === etag;
  exchange.answer(
    isKnown ? 304 : 200,
    [['Etag', etag], ['Vary', 'Accept'], ['Content-Type', contentType], ...headers],
    isKnown ? '' : body,
  );
}

/** Clients ask for one form in the order they like; the Protobuf form's name is no media type by the grammar. */
function wantedForm(accept: string): 'json' | 'protobuf' | undefined {
  if (accept === '') return 'json';
  for (const clause of accept.split(',', CLAUSES_MAX)) {
    const type = clause.split(';', 1)[0]!.trim();
    if (OPENAPI_PROTOBUF_MEDIA_TYPES.includes(type)) return 'protobuf';
    if (type === JSON_TYPE || type === 'application/*' || type === '*/*') return 'json';
  }
  return undefined;
}
