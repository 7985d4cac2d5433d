// Lets servers start again on a keyspace with values that nobody can read: each is put aside under another key, and what etcd
// still has from before it takes its place. Each is one transaction that holds only if the key is as it was found, so that it
// may be done beside running servers, and be repeated.
import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { isSealedValue } from '../encryption/sealed-value.ts';
import { REVISION_STRIDE } from '../engines/shared-engine.ts';
import { clearRevisions, storedRevision, withClearRevisions } from '../forms/stored-value.ts';
import { recordOf } from '../upkeep/agreed-addresses.ts';
import { askedAgain } from './asked-again.ts';
import { type EtcdCluster, type EtcdCompare, EtcdError, type EtcdOperation, type EtcdPair } from './etcd-cluster.ts';
import type { FoundKey, KeyspaceInspection, UnnotedAddress } from './etcd-inspection.ts';
import { type EtcdKeys, etcdKeys } from './etcd-keys.ts';
import { EMPTY_OUTLINE } from './etcd-outline.ts';
import { lookInto, outerProblems } from './value-problems.ts';

export interface RepairParts {
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly timers: Timers;
  readonly dyingPlace: number;
}

export interface RepairedKey {
  readonly key: string;
  /** The revision of etcd whose value took the place of the unreadable one; undefined: there was none. */
  readonly keptRevision: number | undefined;
  /** Where the unreadable value lies now. */
  readonly keptIn: string;
}

/** Throws OrchError StoreUnusable where etcd does not answer, or the keyspace is being moved. */
export class KeyspaceRepair {
  readonly #parts: RepairParts;
  readonly #found: KeyspaceInspection;
  readonly #keys: EtcdKeys;

  constructor(parts: RepairParts, found: KeyspaceInspection) {
    this.#parts = parts;
    this.#found = found;
    this.#keys = etcdKeys(parts.prefix);
  }

  /** Undefined when somebody has changed it meanwhile. */
  async repair({ key, modRevision }: FoundKey): Promise<RepairedKey | undefined> {
    const { cluster, timers } = this.#parts;
    const whole = this.#keys.objects + key;
    const [now] = (await askedAgain(timers, () => cluster.range({ key: whole }))).pairs;
    if (now === undefined || now.modRevision !== modRevision) return undefined;
    const older = await this.#olderThan(key, modRevision);
    const keptIn = `${this.#keys.damaged}${key}`;
    const aside = { put: { key: keptIn, value: now.value } };
    const instead =
      older === undefined ? { delete: { key: whole } } : { put: { key: whole, value: this.#again(key, older) } };
    const isDone = await this.#change(whole, modRevision, [aside, instead]);
    return isDone ? { key, keptRevision: older?.modRevision, keptIn } : undefined;
  }

  /** Takes away what nobody has. False when somebody has changed it meanwhile. */
  remove({ key, modRevision }: FoundKey): Promise<boolean> {
    const whole = this.#keys.objects + key;
    return this.#change(whole, modRevision, [{ delete: { key: whole } }]);
  }

  /** Notes what a service has. False when somebody has noted it, or changed the service, meanwhile. */
  note(one: UnnotedAddress): Promise<boolean> {
    const { objects } = this.#keys;
    const put = { key: objects + one.key, value: recordOf(one, 0) };
    const service = { key: objects + one.service, target: 'modRevision' as const, value: one.serviceRevision };
    return this.#change(put.key, 0, [{ put }], [service]);
  }

  /** What the key held before, if etcd still has it, and it is whole and not of an object that was gone. */
  async #olderThan(key: string, modRevision: number): Promise<EtcdPair | undefined> {
    const { cluster, timers, dyingPlace } = this.#parts;
    const ask = async (): Promise<EtcdPair | undefined> => {
      try {
        const { pairs } = await cluster.range({ key: this.#keys.objects + key, revision: modRevision - 1 });
        return pairs[0];
      } catch (error) {
        if (error instanceof EtcdError && error.kind === 'compacted') return undefined;
        throw error;
      }
    };
    const older = await askedAgain(timers, ask);
    if (older === undefined || outerProblems(key, older.value, dyingPlace).length > 0) return undefined;
    if (!isSealedValue(older.value) && lookInto(key, older.value).isUnreadable) return undefined;
    return storedRevision(key, older.value)! >= dyingPlace ? undefined : older;
  }

  /** A value as a batch of one has it, which says when its object was made. */
  #again(key: string, { value, modRevision }: EtcdPair): Buffer {
    const { revision: place, bornRevision } = clearRevisions(value);
    const version = (this.#found.identity?.base ?? 0) + modRevision * REVISION_STRIDE + place;
    return withClearRevisions(key, value, { revision: 0, bornRevision: bornRevision === 0 ? version : bornRevision });
  }

  /** With the outline, as every change of ours. */
  async #change(
    key: string,
    modRevision: number,
    operations: readonly EtcdOperation[],
    more: readonly EtcdCompare[] = [],
  ): Promise<boolean> {
    const { cluster, timers } = this.#parts;
    const { identity, outline } = this.#keys;
    const { identityVersion } = this.#found;
    const { succeeded, results } = await askedAgain(timers, () =>
      cluster.transact({
        compare: [
          { key, target: 'modRevision', value: modRevision },
          { key: identity, target: 'version', value: identityVersion },
          ...more,
        ],
        success: [{ put: { key: outline, value: EMPTY_OUTLINE } }, ...operations],
        failure: [{ range: { key: identity } }],
      }),
    );
    const [result] = results;
    if (!succeeded && result?.kind === 'range' && result.pairs[0]?.version !== identityVersion) {
      throw new OrchError('StoreUnusable', `${identity} was changed: is a move running?`);
    }
    return succeeded;
  }
}
