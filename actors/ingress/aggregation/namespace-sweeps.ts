// Deletes what extension servers have of a namespace that is on its way out, as any client would: by their discovery documents, a
// collection at a time, or one by one where that is refused. Says what is left; when to try again is the controller's.
import type { RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type { NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import { textAt, textsAt } from '../../../api/json/object-fields.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { accepted, type CallObject, type RemoteCallParts, RemoteCalls } from './remote-calls.ts';
import { byGroup, collectionPath, pagesOf, type ServedType, typesOf } from './remote-types.ts';

const ACCOUNT = 'namespace-controller';
/** For all servers together; what is not deleted by then is the next attempt's. */
const SWEEP_MS = 30_000;
const PAGES_MAX = 20;

/** Never rejects. */
export async function sweepNamespace(
  parts: RemoteCallParts,
  apiServices: readonly RemoteApiService[],
  namespace: string,
): Promise<NamespaceSweep> {
  const sweep = new Sweep(parts, namespace);
  await Promise.all(byGroup(apiServices).map((versions) => sweep.group(versions)));
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

  async group(versions: readonly RemoteApiService[]): Promise<void> {
    const unknown = ({ group, version }: RemoteApiService, error: unknown): void => {
      this.#unknown.set(`${group}/${version}`, messageOf(error));
    };
    for await (const type of typesOf(this.#calls, versions, canBeDeleted, unknown)) {
      // As errors name it.
      const name = `${type.plural}.${type.apiService.group}`;
      await this.#type(type, name).catch((error: unknown) => this.#failures.set(name, messageOf(error)));
    }
  }

  async #type(type: ServedType, name: string): Promise<void> {
    const { apiService, plural, verbs } = type;
    const path = collectionPath(type, this.#namespace);
    const about = { resource: plural, namespace: this.#namespace, name: '' };
    const isEmptied = verbs.includes('deletecollection') && (await this.#deleted(apiService, path, about));
    if (!verbs.includes('list')) return;
    if (!isEmptied)
      for await (const { items } of pagesOf(this.#calls, apiService, path, PAGES_MAX))
        for (const one of items.map((item) => textAt(item, 'name')))
          await this.#deleted(apiService, `${path}/${encodeURIComponent(one)}`, { ...about, name: one });
    for await (const { items } of pagesOf(this.#calls, apiService, path, PAGES_MAX)) {
      if (items.length > 0) this.#remaining.set(name, (this.#remaining.get(name) ?? 0) + items.length);
      for (const finalizer of items.flatMap((item) => textsAt(item, 'finalizers')))
        this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + 1);
    }
  }

  /** False where there is nothing there that could be, or it cannot be deleted in this way. */
  async #deleted(apiService: RemoteApiService, path: string, changes: CallObject): Promise<boolean> {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
    const body = JSON.stringify(options);
    const answer = await this.#calls.call(apiService, { method: 'DELETE', path, body, changes });
    if (answer.status === 404 || answer.status === 405) return false;
    accepted(answer);
    return true;
  }
}

/** Those of namespaces. */
function canBeDeleted({ namespaced, verbs }: ServedType): boolean {
  return namespaced && verbs.includes('delete');
}
