// What a transaction of the store is in etcd in the original's layout: what has to be as it is known, and what is written then, to
// which path, under which lease. Decides, and writes nothing.

import type { SharedTransaction, SharedWrite } from '../../engines/shared-engine.ts';
import { parseKey } from '../../object-key.ts';
import type { GuardedWrites } from '../counted-writer.ts';
import type { EtcdCompare, EtcdOperation } from '../etcd-cluster.ts';
import type { Patience } from '../patience.ts';
import type { LeaseGrants } from './lease-grants.ts';
import { MASTER_LEASE_SECONDS } from './master-leases.ts';
import type { OriginalForms } from './original-forms.ts';
import { type OriginalKeys, RANGES_AS } from './original-keys.ts';
import type { RangeAllocations } from './range-allocation.ts';
import { type RangeWrite, ServiceRanges } from './service-ranges.ts';

const EVENTS = 'core/events';

/** How long what is written by itself ends; 0: it does not. */
export interface LeaseSeconds {
  readonly events: number;
}

export interface OriginalWritesParts {
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
  readonly leases: LeaseGrants;
  readonly leaseSeconds: LeaseSeconds;
}

export interface PlannedWrite {
  readonly compare: readonly EtcdCompare[];
  readonly writes: readonly EtcdOperation[];
  readonly rangeWrites: readonly RangeWrite[];
  /** Of the lease that what is put has; 0: none. */
  readonly leaseSeconds: number;
}

export class OriginalWrites {
  readonly #parts: OriginalWritesParts;

  constructor(parts: OriginalWritesParts) {
    this.#parts = parts;
  }

  /** `takenAt`: it cannot hold by what was told up to that revision. */
  plan({ guards, writes }: SharedTransaction): PlannedWrite | { readonly takenAt: number } {
    const { keys, ranges } = this.#parts;
    const records = writes.filter(({ key }) => ServiceRanges.isRecord(key));
    const objects = writes.filter(({ key }) => !ServiceRanges.isRecord(key));
    const planned = ranges.plan(records);
    if ('takenAt' in planned) return planned;
    const rangeWrites = planned.writes;
    const mustBe = (key: string, value: number): EtcdCompare => ({
      key: keys.pathOf(key),
      target: 'modRevision',
      value,
    });
    return {
      compare: [
        ...guards.map(({ key, revision }) => mustBe(key, revision)),
        ...objects.map(({ key, expect }) => mustBe(key, expect)),
        ...rangeWrites.map(({ compare }) => compare),
      ],
      writes: [...objects.map((write) => this.#operation(write)), ...rangeWrites.map((write) => this.rangePut(write))],
      rangeWrites,
      leaseSeconds: Math.max(0, ...objects.map(({ key, value }) => (value === undefined ? 0 : this.#secondsOf(key)))),
    };
  }

  rangePut({ path, state }: RangeWrite): EtcdOperation {
    const { forms, allocations } = this.#parts;
    return { put: { key: path, value: forms.seal(RANGES_AS, path, allocations.write(state)) } };
  }

  /** The same with the lease that it needs, which is waited for as a commit is. Rejects as the cluster does: a full etcd grants none. */
  async leased({ compare, writes, leaseSeconds }: PlannedWrite, patience: Patience): Promise<GuardedWrites> {
    if (leaseSeconds === 0) return { compare, writes };
    const lease = await patience.persistently(() => this.#parts.leases.take(leaseSeconds));
    return { compare, writes: writes.map((one) => ('put' in one ? { put: { ...one.put, lease } } : one)) };
  }

  forgetLease({ leaseSeconds }: PlannedWrite): void {
    this.#parts.leases.forget(leaseSeconds);
  }

  #operation({ key, value }: SharedWrite): EtcdOperation {
    const { keys, forms } = this.#parts;
    const path = keys.pathOf(key);
    return value === undefined
      ? { delete: { key: path } }
      : { put: { key: path, value: forms.write(key, path, value) } };
  }

  #secondsOf(key: string): number {
    const { keys, leaseSeconds } = this.#parts;
    if (keys.isMasterLease(key)) return MASTER_LEASE_SECONDS;
    return parseKey(key).storageKey === EVENTS ? leaseSeconds.events : 0;
  }
}
