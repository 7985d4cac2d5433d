// Brings everything in etcd under the first providers of the encryption configuration, beside servers that may be running: a
// value is written again only if its key is as it was read, in batches as a server's own. What somebody changed meanwhile is
// looked at again in the next pass. It can be cut short at any point and begun again.
import type { Timers } from '../../../runtime/environment.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { readOpenedValue, unreadable } from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { SharedEngine, SharedTransaction, SharedValue } from '../../../storage/engines/shared-engine.ts';
import { askedAgain } from '../../../storage/etcd/asked-again.ts';
import type { EtcdCluster } from '../../../storage/etcd/etcd-cluster.ts';
import { etcdKeys } from '../../../storage/etcd/etcd-keys.ts';
import { ObjectPages } from '../../../storage/etcd/etcd-pages.ts';
import {
  type StorageMedia,
  storedRevision,
  storedValueBytesMax,
  writeStoredValue,
} from '../../../storage/forms/stored-value.ts';
import { DYING_PLACE, VersionNumbers } from '../log/version-numbers.ts';

const BATCH_OBJECTS = 100;
const BATCH_BYTES = 512 * 1024;
/** A batch is waited for so long: an engine asks etcd again for as long as it takes, and a command has somebody in front of it. */
const COMMIT_MS_MAX = 30_000;
/** Who still finds something then has a server at work that writes with other keys. */
const PASSES_MAX = 10;

export interface SharedReencryptionParts {
  /** Unopened; closed again at the end. */
  readonly engine: SharedEngine;
  /** Reads the same keyspace. */
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly timers: Timers;
  readonly encryption: StoredEncryption;
  readonly media: StorageMedia;
}

export interface SharedReencrypted {
  readonly objects: number;
  readonly rewritten: number;
}

/** Throws OrchError StoreUnusable for a keyspace that is none, or a value that no provider reads; what opening throws, too. */
export async function reencryptShared(parts: SharedReencryptionParts): Promise<SharedReencrypted> {
  const { engine, cluster, prefix, timers } = parts;
  const { identity } = etcdKeys(prefix);
  // Opening it would make one.
  const { pairs } = await askedAgain(timers, () => cluster.range({ key: identity }));
  if (pairs.length === 0) throw new OrchError('StoreUnusable', `there is no store at ${identity}`);
  const { base } = await engine.open();
  try {
    let rewritten = 0;
    for (let passes = 0; passes < PASSES_MAX; passes++) {
      const pass = new Pass(parts, new VersionNumbers(base));
      await pass.run();
      rewritten += pass.rewritten;
      if (pass.stale === 0) return { objects: pass.objects, rewritten };
    }
    throw new OrchError(
      'StoreUnusable',
      'servers go on writing under other keys: restart each with the new configuration first',
    );
  } finally {
    parts.encryption.close();
    await engine.close();
  }
}

/** Reads everything at one revision, and writes again what is not as it would be written now. */
class Pass {
  readonly #parts: SharedReencryptionParts;
  readonly #numbers: VersionNumbers;
  #batch: SharedTransaction[] = [];
  #bytes = 0;
  objects = 0;
  stale = 0;
  rewritten = 0;

  constructor(parts: SharedReencryptionParts, numbers: VersionNumbers) {
    this.#parts = parts;
    this.#numbers = numbers;
  }

  async run(): Promise<void> {
    const { cluster, prefix, timers, encryption } = this.#parts;
    const pages = new ObjectPages(cluster, etcdKeys(prefix));
    const next = (): Promise<readonly SharedValue[]> => askedAgain(timers, () => pages.next());
    for (let page = await next(); page.length > 0; page = await next()) {
      for (const found of page) {
        if ((storedRevision(found.key, found.value) ?? 0) >= DYING_PLACE) continue;
        this.objects++;
        if (!encryption.isStale(found.key, found.value)) continue;
        this.stale++;
        await this.#again(found);
      }
    }
    await this.#commit();
  }

  async #again({ key, modRevision, value }: SharedValue): Promise<void> {
    const { encryption, media } = this.#parts;
    const read = readOpenedValue(key, value, await encryption.open(key, value));
    if (read === undefined) throw unreadable(key, 'it is none of ours, or damaged');
    const { revision: placeBefore, bornRevision, attributes, json, itemOffset } = read;
    // One value may be nearly as much as etcd takes at once.
    if (this.#bytes + value.byteLength > BATCH_BYTES) await this.#commit();
    const place = this.#batch.length;
    const born = bornRevision === 0 ? this.#numbers.version(modRevision, placeBefore) : bornRevision;
    const head = { ...read, revision: place, bornRevision: born };
    const target = Buffer.allocUnsafe(storedValueBytesMax(attributes, json.length, itemOffset));
    const length = writeStoredValue(target, 0, key, head, attributes, json, media);
    await encryption.readyFor([{ operations: [{ key }] }]);
    const sealed = encryption.seal(key, target.subarray(0, length));
    this.#batch.push({ guards: [], writes: [{ key, expect: modRevision, value: sealed }], place });
    this.#bytes += sealed.length;
    if (this.#batch.length >= BATCH_OBJECTS) await this.#commit();
  }

  async #commit(): Promise<void> {
    if (this.#batch.length === 0) return;
    const { engine, timers } = this.#parts;
    const { held } = await answeredInTime(engine.commit(this.#batch), timers);
    this.rewritten += held.filter((one) => one).length;
    this.#batch = [];
    this.#bytes = 0;
  }
}

/** Rejects with StoreUnusable where there is no answer in time; what it comes to after that is of no interest. */
function answeredInTime<T>(answer: Promise<T>, timers: Timers): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = timers.after(COMMIT_MS_MAX, () => {
      const waited = `etcd has not stored a batch for ${COMMIT_MS_MAX / 1000} s`;
      reject(
        new OrchError('StoreUnusable', `${waited}: what was written again stays so, run it once more for the rest`),
      );
    });
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
