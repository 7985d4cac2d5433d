// Keeps the ranges of services in etcd what they have to be: there before the first service is, of the options' spec, and, as the
// original's servers do it every few minutes, in step with what services have. Whoever writes a range does so only as it knows it.
import { isOrchError } from '../../../runtime/errors.ts';
import { decodeStored } from '../../forms/stored-json.ts';
import { readStoredValue } from '../../forms/stored-value.ts';
import { type EtcdCluster, EtcdError } from '../etcd-cluster.ts';
import { EtcdPages } from '../etcd-pages.ts';
import type { Patience } from '../patience.ts';
import type { OriginalForms } from './original-forms.ts';
import { type OriginalKeys, RANGES_AS, SERVICES } from './original-keys.ts';
import type { RangeAllocations, RangeBits } from './range-allocation.ts';
import type { RangeWrite, ServiceRanges } from './service-ranges.ts';

const REPAIR_MS_MAX = 8000;

export interface RangeKeepingParts {
  readonly cluster: EtcdCluster;
  readonly patience: Patience;
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
  readonly warn: (text: string) => void;
}

export class RangeKeeping {
  readonly #parts: RangeKeepingParts;

  constructor(parts: RangeKeepingParts) {
    this.#parts = parts;
  }

  /** Makes ranges that are not there, or of another spec, from the services that there are. Rejects with StoreUnusable. */
  async prepare(forMs: number): Promise<void> {
    const { patience, ranges, cluster, warn } = this.#parts;
    await patience.atStart(forMs, async () => {
      let isMissing = false;
      for (const { path, spec } of ranges.paths) {
        const { pairs } = await cluster.range({ key: path });
        const state = pairs[0] === undefined ? undefined : await this.#stateOf(path, pairs[0].value);
        if (state?.spec === spec) continue;
        const found = state?.spec === '' ? 'cannot be read' : `is of ${state?.spec}`;
        if (state !== undefined) warn(`${path} ${found}, and is made anew for ${spec}`);
        isMissing = true;
      }
      if (!isMissing) return;
      await this.#note();
      for (const write of ranges.repairs()) await this.#write(write);
      ranges.clear();
    });
  }

  /** One look; what fails is looked at again the next time, also for want of a key to encrypt a range with. */
  async repair(): Promise<void> {
    const { patience, ranges, warn } = this.#parts;
    try {
      for (const write of ranges.repairs()) await patience.asked(REPAIR_MS_MAX, () => this.#write(write));
    } catch (error) {
      if (!isOrchError(error) && !(error instanceof EtcdError)) throw error;
      if (!patience.isOver) warn(`the ranges of services were not looked after: ${error.message}`);
    }
  }

  /** Reads ranges and services, of which nothing is known yet. */
  async #note(): Promise<void> {
    const { keys, forms, ranges, cluster } = this.#parts;
    ranges.clear();
    for (const { path } of ranges.paths) {
      const { pairs } = await cluster.range({ key: path });
      const [pair] = pairs;
      if (pair !== undefined) ranges.told(path, await this.#stateOf(path, pair.value), pair.modRevision);
    }
    const from = keys.pathOf(`${SERVICES}//`);
    const pages = new EtcdPages(cluster, from, `${from.slice(0, -1)}0`);
    for (let page = await pages.next(); page.length > 0; page = await pages.next()) {
      for (const { key: path, value, createRevision } of page) {
        const key = keys.keyOf(path);
        const read = key === undefined ? undefined : await forms.read(key, path, value, createRevision);
        const stored = read === undefined ? undefined : readStoredValue(key!, read);
        if (stored !== undefined) ranges.noteService(key!, decodeStored(stored.json));
      }
    }
  }

  async #stateOf(path: string, value: Uint8Array): Promise<RangeBits> {
    return this.#parts.allocations.read(await this.#parts.forms.open(RANGES_AS, path, value));
  }

  /** If nobody else has written it since. */
  async #write({ compare, path, state }: RangeWrite): Promise<void> {
    const { cluster, forms, allocations } = this.#parts;
    await forms.sealable(RANGES_AS);
    const value = forms.seal(RANGES_AS, path, allocations.write(state));
    await cluster.transact({ compare: [compare], success: [{ put: { key: path, value } }], failure: [] });
  }
}
