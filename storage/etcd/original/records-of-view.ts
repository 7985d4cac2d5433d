// The records of addresses and ports in a view of etcd, where they lie as bits. A service in the view says whose a record is; the
// ranges that are followed say under which revision it was told, which may be another than that of its service.

import type { SharedValue } from '../../engines/shared-engine.ts';
import { decodeStored } from '../../forms/stored-json.ts';
import { readStoredValue } from '../../forms/stored-value.ts';
import { parseKey } from '../../object-key.ts';
import { SERVICES } from './original-keys.ts';
import type { ServiceRanges } from './service-ranges.ts';

export class RecordsOfView {
  readonly #ranges: ServiceRanges;
  /** Not given yet. */
  readonly #left: Map<string, SharedValue>;

  /** `revision`: of the view, up to which the ranges were told. */
  constructor(ranges: ServiceRanges, revision: number) {
    this.#ranges = ranges;
    const records = ranges.records().filter((record) => record.revision <= revision);
    this.#left = new Map(records.map((record) => [record.key, { ...record, modRevision: record.revision }]));
  }

  /** Those of the services among values, each once. */
  takeOf(values: readonly SharedValue[]): readonly SharedValue[] {
    return values.flatMap(({ key, value }) => {
      const stored = parseKey(key).storageKey === SERVICES ? readStoredValue(key, value) : undefined;
      if (stored === undefined) return [];
      return this.#ranges.recordsOf(decodeStored(stored.json)).flatMap((record) => {
        const left = this.#left.get(record.key);
        this.#left.delete(record.key);
        return left === undefined ? [] : [{ ...left, value: record.value }];
      });
    });
  }

  /** Those that no service has. */
  takeRest(): readonly SharedValue[] {
    const rest = [...this.#left.values()];
    this.#left.clear();
    return rest;
  }
}
