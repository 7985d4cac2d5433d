// Which types extension servers have, by their discovery documents, and the pages of their lists, of which the metadata alone is read.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import { byVersion } from '../../../api/aggregation/priorities.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { partAt, partsAt, textAt, textsAt } from '../../../api/json/object-fields.ts';
import { accepted, jsonOf, type RemoteCalls } from './remote-calls.ts';

const PAGE_ITEMS = 500;

/** A row of a discovery document. */
export interface ServedType {
  readonly apiService: RemoteApiService;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** The versions of each group, the preferred one first. */
export function byGroup(apiServices: readonly RemoteApiService[]): readonly (readonly RemoteApiService[])[] {
  const groups = new Map<string, RemoteApiService[]>();
  for (const apiService of apiServices)
    groups.set(apiService.group, [...(groups.get(apiService.group) ?? []), apiService]);
  return [...groups.values()].map((versions) => versions.toSorted(byVersion));
}

/**
 * The types of a group that are wanted, each once: in the first version that has such a one.
 * @param versions from `byGroup`.
 * @param onUnknown called for each version whose types cannot be had.
 */
export async function* typesOf(
  calls: RemoteCalls,
  versions: readonly RemoteApiService[],
  isWanted: (type: ServedType) => boolean,
  onUnknown: (apiService: RemoteApiService, error: unknown) => void,
): AsyncGenerator<ServedType> {
  const seen = new Set<string>();
  for (const apiService of versions) {
    const rows = await calls.types(apiService).catch((error: unknown) => {
      onUnknown(apiService, error);
      return [];
    });
    for (const type of rows.map((row) => servedType(apiService, row))) {
      if (seen.has(type.plural) || !isWanted(type)) continue;
      seen.add(type.plural);
      yield type;
    }
  }
}

function servedType(apiService: RemoteApiService, row: JsonObject): ServedType {
  return {
    apiService,
    plural: textAt(row, 'name'),
    kind: textAt(row, 'kind'),
    namespaced: row.namespaced === true,
    verbs: textsAt(row, 'verbs'),
  };
}

/** Where the objects of a type are: those of a namespace, or all. */
export function collectionPath({ apiService, plural }: Pick<ServedType, 'apiService' | 'plural'>, namespace: string) {
  const within = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${pathOf(apiService)}${within}/${encodeURIComponent(plural)}`;
}

/** Part of a list: the metadata of its objects. */
export interface Page {
  readonly items: readonly JsonObject[];
  readonly isLast: boolean;
}

/** The pages of a list, `pagesMax` at most. Throws where the server does not answer one. */
export async function* pagesOf(
  calls: RemoteCalls,
  apiService: RemoteApiService,
  path: string,
  pagesMax: number,
): AsyncGenerator<Page> {
  let next = '';
  for (let page = 0; page < pagesMax; page++) {
    const query = `?limit=${PAGE_ITEMS}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
    const asked = { method: 'GET', path: path + query, shape: 'names' } as const;
    const list = jsonOf(accepted(await calls.call(apiService, asked)));
    next = textAt(partAt(list, 'metadata'), 'continue');
    yield { items: partsAt(list, 'items').map((item) => partAt(item, 'metadata')), isLast: next === '' };
    if (next === '') return;
  }
}
