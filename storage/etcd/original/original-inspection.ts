// Everything that can be said of a keyspace in the original's layout by reading it: each key at one revision, what of a type that is
// known does not decode, and which addresses and ports of services no range notes. Changes nothing, and holds nothing up: servers may be
// running on it.
import type { Timers } from '../../../runtime/environment.ts';
import { messageOf, OrchError } from '../../../runtime/errors.ts';
import { unreadable } from '../../encryption/sealed-value.ts';
import { decodeStored } from '../../forms/stored-json.ts';
import { readStoredValue } from '../../forms/stored-value.ts';
import { parseKey } from '../../object-key.ts';
import { askedAgain } from '../asked-again.ts';
import type { EtcdCluster, EtcdPair } from '../etcd-cluster.ts';
import { readIdentity } from '../etcd-identity.ts';
import { EtcdPages } from '../etcd-pages.ts';
import type { OriginalForms } from './original-forms.ts';
import { type OriginalKeys, RANGES_AS, SERVICES } from './original-keys.ts';
import type { RangeAllocations } from './range-allocation.ts';
import type { ServiceRanges } from './service-ranges.ts';

export interface OriginalInspectionParts {
  readonly cluster: EtcdCluster;
  readonly timers: Timers;
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
}

export interface OriginalInspection {
  readonly revision: number;
  readonly objects: number;
  readonly encrypted: number;
  /** Keys under the prefix that are no object of a type that is known here: left alone. */
  readonly others: number;
  readonly bytes: number;
  /** One line each; empty when the keyspace is sound. */
  readonly problems: readonly string[];
}

/** Throws OrchError StoreUnusable where etcd does not answer, or nothing lies under the prefix. */
export async function inspectOriginal(parts: OriginalInspectionParts): Promise<OriginalInspection> {
  const { cluster, timers, keys, ranges } = parts;
  const pages = new EtcdPages(cluster, keys.root, keys.rootEnd);
  const next = (): Promise<readonly EtcdPair[]> => askedAgain(timers, () => pages.next());
  const found = { objects: 0, encrypted: 0, others: 0, bytes: 0 };
  const problems: string[] = [];
  for (let page = await next(); page.length > 0; page = await next()) {
    for (const pair of page) {
      found.bytes += pair.value.byteLength;
      try {
        await look(parts, pair, found);
      } catch (error) {
        problems.push(messageOf(error));
      }
    }
  }
  if (found.bytes === 0) throw new OrchError('StoreUnusable', `there is no store at ${keys.root}`);
  for (const key of ranges.unnoted()) {
    const { storageKey, name } = parseKey(key);
    problems.push(`a service has ${name}, which no range of ${storageKey.split('/')[1]} notes`);
  }
  return { revision: pages.revision, problems, ...found };
}

async function look(
  { keys, forms, ranges, allocations }: OriginalInspectionParts,
  pair: EtcdPair,
  found: { objects: number; encrypted: number; others: number },
): Promise<void> {
  const { key: path, value, createRevision, modRevision } = pair;
  if (path === `${keys.own}identity`) readIdentity(path, pair, 'original');
  if (ranges.isRange(path)) {
    const state = allocations.read(await forms.open(RANGES_AS, path, value));
    ranges.told(path, state, modRevision);
    if (state.spec === '') throw unreadable(path, 'it is no range');
    return;
  }
  const key = keys.keyOf(path);
  const read = key === undefined ? undefined : await forms.read(key, path, value, createRevision);
  if (key === undefined || read === undefined) {
    if (!path.startsWith(keys.own)) found.others++;
    return;
  }
  found.objects++;
  if (forms.isSealed(value)) found.encrypted++;
  const object = decodeStored(readStoredValue(key, read)!.json);
  const { namespace, name } = parseKey(key);
  const metadata = object.metadata as { readonly name?: string; readonly namespace?: string };
  if (metadata.name !== name || (metadata.namespace ?? '') !== namespace) {
    throw new OrchError(
      'StoreUnusable',
      `the value of ${path} is of another object: ${metadata.namespace ?? ''}/${metadata.name}`,
    );
  }
  if (parseKey(key).storageKey === SERVICES) ranges.noteService(key, object);
}
