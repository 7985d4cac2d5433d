// Deletes what extension servers have of a namespace that is on its way out, as any client would: by their discovery documents, a
// collection at a time, or one by one where that is refused. Says what is left; when to try again is the controller's.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type { NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import { byVersion } from '../../../api/aggregation/priorities.ts';
import { partAt, partsAt, textAt, textsAt } from '../../../api/object-fields.ts';
import { accepted, type CallObject, jsonOf, type RemoteCallParts, RemoteCalls } from './remote-calls.ts';

const ACCOUNT = 'namespace-controller';
/** For all servers together; what is not deleted by then is the next attempt's. */
const SWEEP_MS = 30_000;
const PAGE_ITEMS = 500;
const PAGES_MAX = 20;

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

/** Never rejects. */
export async function sweepNamespace(
  parts: RemoteCallParts,
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
  readonly #calls: RemoteCalls;
  readonly #namespace: string;
  readonly #unknown = new Map<string, string>();
  readonly #failures = new Map<string, string>();
  readonly #remaining = new Map<string, number>();
  readonly #finalizers = new Map<string, number>();

  constructor(parts: RemoteCallParts, namespace: string) {
    this.#calls = new RemoteCalls(parts, ACCOUNT, SWEEP_MS);
    this.#namespace = namespace;
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
    const below = `${pathOf(apiService)}/namespaces/${encodeURIComponent(this.#namespace)}`;
    return (await this.#calls.types(apiService))
      .filter((row) => row.namespaced === true)
      .map((row) => ({
        name: `${textAt(row, 'name')}.${apiService.group}`,
        path: `${below}/${encodeURIComponent(textAt(row, 'name'))}`,
        verbs: textsAt(row, 'verbs'),
      }))
      .filter(({ verbs }) => verbs.includes('delete'));
  }

  async #type(apiService: RemoteApiService, { name, path, verbs }: RemoteType): Promise<void> {
    const resource = path.slice(path.lastIndexOf('/') + 1);
    const about = { resource, namespace: this.#namespace, name: '' };
    const isEmptied = verbs.includes('deletecollection') && (await this.#deleted(apiService, path, about));
    if (!verbs.includes('list')) return;
    if (!isEmptied)
      for await (const { items } of this.#pages(apiService, path))
        for (const item of items)
          await this.#deleted(apiService, `${path}/${encodeURIComponent(item.name)}`, { ...about, name: item.name });
    for await (const { items } of this.#pages(apiService, path)) {
      if (items.length > 0) this.#remaining.set(name, (this.#remaining.get(name) ?? 0) + items.length);
      for (const finalizer of items.flatMap(({ finalizers }) => finalizers))
        this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  /** False where there is nothing there that could be, or it cannot be deleted in this way. */
  async #deleted(apiService: RemoteApiService, path: string, deletes: CallObject): Promise<boolean> {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    const body = JSON.stringify(options);
    const answer = await this.#calls.call(apiService, { method: 'DELETE', path, body, deletes });
    if (answer.status === 404 || answer.status === 405) return false;
    accepted(answer);
    return true;
  }

  async *#pages(apiService: RemoteApiService, path: string): AsyncGenerator<Page> {
    let next = '';
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = `?limit=${PAGE_ITEMS}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
      const asked = { method: 'GET', path: path + query, shape: 'names' } as const;
      const list = jsonOf(accepted(await this.#calls.call(apiService, asked)));
      const items = partsAt(list, 'items').map((item) => {
        const metadata = partAt(item, 'metadata');
        return { name: textAt(metadata, 'name'), finalizers: textsAt(metadata, 'finalizers') };
      });
      next = textAt(partAt(list, 'metadata'), 'continue');
      yield { items, next };
      if (next === '') return;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
