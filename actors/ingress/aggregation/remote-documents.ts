// What extension servers say of their groups at `/openapi/v2`, as they last answered: asked with the first request for this server's
// documents, and again from time to time while those are asked for. Bounded: in bytes, and in the time that anybody waits.
import { backendText, pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import { identityHeaders } from '../../../api/aggregation/identity-headers.ts';
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { RemoteDocument } from '../../../api/openapi/merge.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import type { Backend } from './backends.ts';
import { CallLimit } from './call-limit.ts';

const ASK_AGAIN_MS = 60_000;
/** That who asks for documents waits for a first answer. */
const WAIT_MS = 5000;
/** That an answer may take: one that comes late is shown to who asks next. */
const ANSWER_MS = 60_000;
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;
/** Of all servers together. */
const ALL_BYTES_MAX = 64 * 1024 * 1024;
const PATH = '/openapi/v2';

/** The documents of the moment. */
export interface PresentDocuments {
  /** Tells them from others. */
  readonly edition: number;
  readonly documents: readonly RemoteDocument[];
  /** By APIService that has a part in them, what tells its server's document from another. */
  readonly editions: ReadonlyMap<string, string>;
}

interface Kept {
  text: string;
  etag: string;
  askedMs: number;
  isAsking: boolean;
  /** Ends with the first answer, or when it has been waited for long enough. */
  waiting: Promise<void>;
}

/** What calls extension servers. */
interface Callers {
  of(apiService: RemoteApiService): Promise<Pick<Backend, 'target'> & { readonly client: Pick<AgentClient, 'send'> }>;
}

export class RemoteDocuments {
  readonly #remotes: Pick<RemoteGroups, 'all'>;
  readonly #backends: Callers;
  readonly #context: Pick<ActorContext, 'clock' | 'timers' | 'log'>;
  /** By backend: one server may answer for several groups. */
  readonly #kept = new Map<string, Kept>();
  #edition = 0;
  #present = '';

  constructor(
    remotes: Pick<RemoteGroups, 'all'>,
    backends: Callers,
    context: Pick<ActorContext, 'clock' | 'timers' | 'log'>,
  ) {
    this.#remotes = remotes;
    this.#backends = backends;
    this.#context = context;
  }

  /** Never rejects: of a server that does not answer, what it said last is taken. */
  async present(): Promise<PresentDocuments> {
    const byBackend = new Map<string, RemoteApiService[]>();
    for (const apiService of this.#remotes.all()) {
      if (!apiService.isAvailable) continue;
      const { backend, caPem, insecure } = apiService;
      const key = JSON.stringify([backend, caPem, insecure]);
      byBackend.set(key, [...(byBackend.get(key) ?? []), apiService]);
    }
    for (const key of this.#kept.keys()) if (!byBackend.has(key)) this.#kept.delete(key);
    const waited = [...byBackend].map(([key, [first]]) => this.#refreshed(key, first!));
    await Promise.all(waited);
    return this.#described(byBackend);
  }

  #described(byBackend: ReadonlyMap<string, readonly RemoteApiService[]>): PresentDocuments {
    let left = ALL_BYTES_MAX;
    const documents: RemoteDocument[] = [];
    const words: string[] = [];
    const editions = new Map<string, string>();
    for (const [key, apiServices] of byBackend) {
      const { text = '', etag = '' } = this.#kept.get(key) ?? {};
      if (text === '' || text.length > left) continue;
      left -= text.length;
      const roots = apiServices.map(pathOf);
      documents.push({ roots, text });
      words.push(JSON.stringify([key, roots, etag, text.length]));
      for (const { name } of apiServices) editions.set(name, `${etag} ${text.length}`);
    }
    const present = words.join('\n');
    if (present !== this.#present) {
      this.#present = present;
      this.#edition++;
    }
    return { edition: this.#edition, documents, editions };
  }

  /** Resolves when there is something to show, or when there will be nothing for now. */
  #refreshed(key: string, apiService: RemoteApiService): Promise<void> {
    const nowMs = this.#context.clock.monotonicMs();
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      const waiting = Promise.resolve();
      kept = { text: '', etag: '', askedMs: Number.NEGATIVE_INFINITY, isAsking: false, waiting };
      this.#kept.set(key, kept);
    }
    if (!kept.isAsking && nowMs - kept.askedMs >= ASK_AGAIN_MS) {
      kept.askedMs = nowMs;
      kept.isAsking = true;
      const asked = this.#asked(kept, apiService);
      if (kept.text === '') kept.waiting = this.#waitedFor(asked);
    }
    return kept.waiting;
  }

  /** Resolves when the server has been asked, whatever came of it. */
  async #asked(kept: Kept, apiService: RemoteApiService): Promise<void> {
    try {
      await this.#ask(kept, apiService);
    } catch (error) {
      const reason = messageOf(error);
      this.#context.log.warn({ backend: backendText(apiService.backend), reason }, 'no OpenAPI document');
    } finally {
      kept.isAsking = false;
    }
  }

  #waitedFor(asked: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const limit = this.#context.timers.after(WAIT_MS, resolve);
      void asked.then(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  async #ask(kept: Kept, apiService: RemoteApiService): Promise<void> {
    const limit = new CallLimit(this.#context.timers, ANSWER_MS);
    try {
      const { client, target } = await this.#backends.of(apiService);
      const user = { name: 'system:aggregator', uid: '', groups: [], extra: {} };
      const headers = [
        ['accept', 'application/json'] as const,
        ...(kept.etag === '' ? [] : [['if-none-match', kept.etag] as const]),
        ...(identityHeaders(user) ?? []),
      ];
      const answer = await client.send(target, { method: 'GET', path: PATH, headers, body: undefined }, limit.onSent);
      const text = await answer.text(DOCUMENT_BYTES_MAX + 1);
      if (answer.status === 304) return;
      if (answer.status !== 200) throw new Error(`${PATH} answered ${answer.status}`);
      if (Buffer.byteLength(text) > DOCUMENT_BYTES_MAX) throw new Error('the document is too long');
      kept.text = text;
      kept.etag = answer.headers.find(([name]) => name.toLowerCase() === 'etag')?.[1] ?? String(kept.askedMs);
    } finally {
      limit.end();
    }
  }
}
