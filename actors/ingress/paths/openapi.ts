// `/openapi/v2` and `/openapi/v3`: documents built when they are asked for, in the pool, and kept as bytes until the
// types change; told apart by
// their hashes. What is in them is api/openapi's matter.
import { OPENAPI_PROTOBUF_CONTENT_TYPE, OPENAPI_PROTOBUF_MEDIA_TYPES } from '../../../api/openapi/gnostic.ts';
import { notAcceptable } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { JobPool, PoolJob } from '../../../runtime/jobs/job-pool.ts';
import { isUnmodified } from '../../../transport/conditional-request.ts';
import { acceptsGzip } from '../../../transport/gzip-response.ts';
import type { HeaderList } from '../../../transport/http.ts';
import { NO_CACHE } from '../../../transport/response-headers.ts';
import type { PresentDocuments } from '../aggregation/remote-documents.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { JSON_TYPE } from '../reads/answers.ts';
import { type Document, type Documents, jsonDocument } from './openapi-document.ts';
import { OpenApiMetrics } from './openapi-metrics.ts';
import type { DocumentRequest, OpenApiVersion, PresentApi, ServedApi } from './openapi-worker.ts';

const DOCUMENT_JOB: PoolJob<DocumentRequest, Documents> = {
  module: new URL('./openapi-worker.js', import.meta.url).href,
  name: 'buildDocuments',
};
/** Clauses of an Accept header that are looked at. */
const CLAUSES_MAX = 16;
const VERSION3_ROOT = '/openapi/v3';
/** A document asked for by its hash never changes. */
const VARY = ['Vary', 'Accept, Accept-Encoding'] as const;
const IMMUTABLE = ['Cache-Control', 'public, immutable, max-age=31536000'] as const;

/** The documents of one state of the types. */
interface Built {
  readonly documents: Documents;
  readonly madeAtMs: number;
  root: Document | undefined;
}

interface Kept {
  readonly edition: number;
  readonly remoteEdition: number;
  readonly built: Promise<Built>;
  isDone: boolean;
}

export class OpenApi {
  readonly #api: ServedApi;
  readonly #jobs: JobPool;
  readonly #present: () => PresentApi;
  readonly #remote: () => Promise<PresentDocuments>;
  readonly #madeAtMs: (edition: number) => number;
  readonly #metrics: OpenApiMetrics;
  readonly #clock: Clock;
  readonly #kept = new Map<OpenApiVersion, Kept>();

  /**
   * @param present the types of the moment.
   * @param remote the documents of extension servers.
   * @param madeAtMs the wall time that a state of the types, built now, is said to be of.
   */
  constructor(
    api: ServedApi,
    present: () => PresentApi,
    remote: () => Promise<PresentDocuments>,
    jobs: JobPool,
    madeAtMs: (edition: number) => number,
    { metrics, clock }: Pick<ActorContext, 'metrics' | 'clock'>,
  ) {
    this.#metrics = new OpenApiMetrics(metrics);
    this.#clock = clock;
    this.#api = api;
    this.#jobs = jobs;
    this.#present = present;
    this.#remote = remote;
    this.#madeAtMs = madeAtMs;
  }

  /** Version 2. Throws 406 for a client that takes neither of its forms. */
  async serve(exchange: Exchange): Promise<void> {
    const form = wantedForm(exchange.request.header('accept'));
    if (form === undefined) throw new StatusError(notAcceptable([JSON_TYPE, ...OPENAPI_PROTOBUF_MEDIA_TYPES]));
    const { documents, madeAtMs } = await this.#built(2);
    this.#send(exchange, madeAtMs, documents.get(form)!, form === 'json' ? JSON_TYPE : OPENAPI_PROTOBUF_CONTENT_TYPE);
  }

  /**
   * Version 3: at its root where each document is, below it the documents, as JSON. An outdated hash is redirected to the
   * present one. Resolves false when there is no document at the path. Throws 406.
   */
  async serveVersion3(exchange: Exchange, path: string): Promise<boolean> {
    if (wantedForm(exchange.request.header('accept')) !== 'json') throw new StatusError(notAcceptable([JSON_TYPE]));
    const built = await this.#built(3);
    const { documents, madeAtMs } = built;
    const name = path.slice(VERSION3_ROOT.length + 1);
    if (name === '') {
      built.root ??= jsonDocument(rootOf(documents));
      this.#send(exchange, madeAtMs, built.root, JSON_TYPE);
      return true;
    }
    const document = documents.get(name);
    if (document === undefined) return false;
    const hash = exchange.query.get('hash');
    if (hash !== undefined && hash !== document.hash) {
      exchange.answer(301, [['Location', locationOf(name, document)]], '');
      return true;
    }
    this.#send(exchange, madeAtMs, document, JSON_TYPE, hash === undefined ? [NO_CACHE] : [IMMUTABLE]);
    return true;
  }

  /** Of the types that there are now. One build at a time: who comes meanwhile waits, and has the newest built after it. */
  async #built(openapi: OpenApiVersion): Promise<Built> {
    const remote = await this.#remote();
    for (;;) {
      const kept = this.#kept.get(openapi);
      const present = this.#present();
      if (kept?.edition === present.edition && kept.remoteEdition === remote.edition) return kept.built;
      if (kept?.isDone !== false) return this.#build(openapi, present, remote);
      await kept.built.catch(() => {});
    }
  }

  #build(openapi: OpenApiVersion, present: PresentApi, remote: PresentDocuments): Promise<Built> {
    const madeAtMs = this.#madeAtMs(present.edition + remote.edition);
    const beganMs = this.#clock.monotonicMs();
    const built = this.#jobs
      .run(DOCUMENT_JOB, { ...this.#api, ...present, openapi, remotes: remote.documents })
      .then((documents): Built => {
        const tookMs = this.#clock.monotonicMs() - beganMs;
        if (openapi === 2) this.#metrics.made(present.definitions, remote.editions, tookMs);
        return { documents, madeAtMs, root: undefined };
      });
    const kept: Kept = { edition: present.edition, remoteEdition: remote.edition, built, isDone: false };
    this.#kept.set(openapi, kept);
    built.then(
      () => {
        kept.isDone = true;
      },
      () => {
        if (this.#kept.get(openapi) === kept) this.#kept.delete(openapi);
      },
    );
    return built;
  }

  /** The document, unless the client has it, compressed for one that takes gzip. */
  #send(
    exchange: Exchange,
    lastModifiedMs: number,
    { body, gzip, hash }: Document,
    contentType: string,
    headers: HeaderList = [NO_CACHE],
  ): void {
    const { request } = exchange;
    const etag = `"${hash}"`;
    const common: HeaderList = [['Etag', etag], VARY, ...headers];
    if (isUnmodified(request, { etag, lastModifiedMs })) {
      exchange.answer(304, common, '');
      return;
    }
    const all: HeaderList = [
      ...common,
      ['Last-Modified', new Date(lastModifiedMs).toUTCString()],
      ['Content-Type', contentType],
    ];
    const compresses = gzip !== undefined && acceptsGzip(request.header('accept-encoding'));
    if (compresses) exchange.answer(200, [...all, ['Content-Encoding', 'gzip']], gzip);
    else exchange.answer(200, all, body);
  }
}

/** Where each document of version 3 is, by the path it describes. */
function rootOf(documents: Documents): object {
  const paths: Record<string, object> = {};
  for (const [name, document] of documents) paths[name] = { serverRelativeURL: locationOf(name, document) };
  return { paths };
}

function locationOf(name: string, { hash }: Document): string {
  return `${VERSION3_ROOT}/${name}?hash=${hash}`;
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
