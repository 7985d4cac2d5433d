// Deletes what extension servers have of a namespace that is on its way out, as any client would: by their discovery documents, a
// collection at a time, or one by one where that is refused. Says what is left; when to try again is the controller's.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import { identityHeaders } from '../../../api/aggregation/identity-headers.ts';
import type { NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import { byVersion } from '../../../api/aggregation/priorities.ts';
import { asObject, partAt, partsAt, textAt, textsAt } from '../../../api/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import type { BodyFlow } from '../../../transport/http.ts';
import { AgentUnreachable } from '../../../transport/outgoing/agent-address.ts';
import type { Backends } from './backends.ts';

/** For one answer. */
const ANSWER_MS = 10_000;
/** For all servers together; what is not deleted by then is the next attempt's. */
const SWEEP_MS = 30_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const PAGE_ITEMS = 500;
const PAGES_MAX = 20;
const TYPES_MAX = 500;
const TRIES_MAX = 3;
const UNABLE = 'the server is currently unable to handle the request';

export interface SweepParts {
  readonly backends: Backends;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly timers: Timers;
}

interface RemoteType {
  /** As errors name it. */
  readonly name: string;
  /** Of its objects in the namespace. */
  readonly path: string;
  readonly verbs: readonly string[];
}

interface Page {
  readonly items: readonly { readonly name: string; readonly finalizers: readonly string[] }[];
  readonly next: string;
}

interface Asked {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
  /** What of the objects in the answer is wanted. */
  readonly shape?: 'names';
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Never rejects. */
export async function sweepNamespace(
  parts: SweepParts,
  apiServices: readonly RemoteApiService[],
  namespace: string,
): Promise<NamespaceSweep> {
  const groups = new Map<string, RemoteApiService[]>();
  for (const apiService of apiServices)
    groups.set(apiService.group, [...(groups.get(apiService.group) ?? []), apiService]);
  const sweep = new Sweep(parts, namespace);
  await Promise.all([...groups.values()].map((versions) => sweep.group(versions.toSorted(byVersion))));
  return sweep.result();
}

class Sweep {
  readonly #parts: SweepParts;
  readonly #namespace: string;
  readonly #endMs: number;
  readonly #unknown = new Map<string, string>();
  readonly #failures = new Map<string, string>();
  readonly #remaining = new Map<string, number>();
  readonly #finalizers = new Map<string, number>();

  constructor(parts: SweepParts, namespace: string) {
    this.#parts = parts;
    this.#namespace = namespace;
    this.#endMs = parts.clock.monotonicMs() + SWEEP_MS;
  }

  result(): NamespaceSweep {
    return {
      unknown: [...this.#unknown],
      failures: [...this.#failures],
      remaining: [...this.#remaining],
      finalizers: [...this.#finalizers],
    };
  }

  /** A type that several versions have is deleted by the first. */
  async group(versions: readonly RemoteApiService[]): Promise<void> {
    const done = new Set<string>();
    for (const apiService of versions) {
      const { group, version } = apiService;
      const types = await this.#types(apiService).catch((error: unknown) => {
        this.#unknown.set(`${group}/${version}`, messageOf(error));
        return [];
      });
      for (const type of types) {
        if (done.has(type.name)) continue;
        done.add(type.name);
        await this.#type(apiService, type).catch((error: unknown) => this.#failures.set(type.name, messageOf(error)));
      }
    }
  }

  /** Those of namespaces that can be deleted. */
  async #types(apiService: RemoteApiService): Promise<readonly RemoteType[]> {
    if (!apiService.isAvailable) throw new Error(UNABLE);
    const root = pathOf(apiService);
    const document = jsonOf(accepted(await this.#call(apiService, { method: 'GET', path: root })));
    if (textAt(document, 'kind', 'APIResourceList') !== 'APIResourceList')
      throw new Error('the server answered no list of its types');
    const below = `${root}/namespaces/${encodeURIComponent(this.#namespace)}`;
    return partsAt(document, 'resources')
      .filter((row) => row.namespaced === true && /^[^/.]+$/.test(textAt(row, 'name')))
      .slice(0, TYPES_MAX)
      .map((row) => ({
        name: `${textAt(row, 'name')}.${apiService.group}`,
        path: `${below}/${encodeURIComponent(textAt(row, 'name'))}`,
        verbs: textsAt(row, 'verbs'),
      }))
      .filter(({ verbs }) => verbs.includes('delete'));
  }

  async #type(apiService: RemoteApiService, { name, path, verbs }: RemoteType): Promise<void> {
    const isEmptied = verbs.includes('deletecollection') && (await this.#deleted(apiService, path));
    if (!verbs.includes('list')) return;
    if (!isEmptied)
      for await (const { items } of this.#pages(apiService, path))
        for (const item of items) await this.#deleted(apiService, `${path}/${encodeURIComponent(item.name)}`);
    for await (const { items } of this.#pages(apiService, path)) {
      if (items.length > 0) this.#remaining.set(name, (this.#remaining.get(name) ?? 0) + items.length);
      for (const finalizer of items.flatMap(({ finalizers }) => finalizers))
        this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  /** False where there is nothing there that could be, or it cannot be deleted in this way. */
  async #deleted(apiService: RemoteApiService, path: string): Promise<boolean> {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    const answer = await this.#call(apiService, { method: 'DELETE', path, body: JSON.stringify(options) });
    if (answer.status === 404 || answer.status === 405) return false;
    accepted(answer);
    return true;
  }

  async *#pages(apiService: RemoteApiService, path: string): AsyncGenerator<Page> {
    let next = '';
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = `?limit=${PAGE_ITEMS}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
      const asked = { method: 'GET', path: path + query, shape: 'names' } as const;
      const list = jsonOf(accepted(await this.#call(apiService, asked)));
      const items = partsAt(list, 'items').map((item) => {
        const metadata = partAt(item, 'metadata');
        return { name: textAt(metadata, 'name'), finalizers: textsAt(metadata, 'finalizers') };
      });
      next = textAt(partAt(list, 'metadata'), 'continue');
      yield { items, next };
      if (next === '') return;
    }
  }

  /** Sent again where a kept connection turns out to be closed: nothing here does harm twice. */
  async #call(apiService: RemoteApiService, asked: Asked): Promise<Answered> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#callOnce(apiService, asked);
      } catch (error) {
        if (!(error instanceof AgentUnreachable && error.isStale) || tries === TRIES_MAX) throw error;
      }
    }
  }

  async #callOnce(apiService: RemoteApiService, asked: Asked): Promise<Answered> {
    const { method, path, body } = asked;
    const { backends, clock, timers } = this.#parts;
    const leftMs = Math.min(this.#endMs - clock.monotonicMs(), ANSWER_MS);
    if (leftMs <= 0) throw new Error('there was no time left');
    let cancel = (): void => {};
    let isLate = false;
    const limit = timers.after(leftMs, () => {
      isLate = true;
      cancel();
    });
    try {
      const { client, target } = await backends.of(apiService);
      const request = { method, path, headers: this.#headers(asked), body: flowOf(body) };
      const answer = await client.send(target, request, (one) => {
        cancel = one;
      });
      const text = await answer.text(ANSWER_BYTES_MAX);
      return { status: answer.status, text };
    } catch (error) {
      throw isLate ? new Error(`${method} ${path} was not answered in time`) : error;
    } finally {
      limit.cancel();
    }
  }

  #headers({ shape, body }: Asked): readonly (readonly [string, string])[] {
    const { dialect } = this.#parts;
    const { systemNamespace } = dialect;
    const user = {
      name: `system:serviceaccount:${systemNamespace}:namespace-controller`,
      uid: '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`, 'system:authenticated'],
      extra: {},
    };
    const namesOnly = `application/json;as=PartialObjectMetadataList;g=${dialect.spell('meta.@group')};v=v1`;
    return [
      ['accept', shape === undefined ? 'application/json' : `${namesOnly},application/json`],
      ...(body !== undefined ? [['content-type', 'application/json'] as const] : []),
      ...(identityHeaders(user) ?? []),
    ];
  }
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

function accepted(answer: Answered): Answered {
  const { status, text } = answer;
  if (status >= 200 && status < 300) return answer;
  if (status === 503) throw new Error(UNABLE);
  let said = '';
  try {
    said = textAt(asObject(JSON.parse(text)), 'message');
  } catch {
    // Its code says enough.
  }
  throw new Error(said === '' ? `the server answered ${status}` : said.slice(0, 200));
}

function jsonOf({ text }: Answered): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    throw new Error('the server answered what is no JSON');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
