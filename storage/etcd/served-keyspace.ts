// Which keyspace of etcd this process serves, as long as it lives: its threads start again and must not come to serve another, which would
// look to every client and controller as if all objects had been deleted at once. An etcd comes to be another where a member was made
// anew without its data, or where addresses are of several clusters. A copy of the keyspace, as a backup is, is the same one.
import { createHash } from 'node:crypto';
import { OrchError } from '../../runtime/errors.ts';

/** Of SHA-256. */
const NAME_BYTES = 32;
/** Whether the name behind it is written. */
const IS_NAMED_BYTES = 4;

/** Memory in which all threads of a process find it. */
export function servedKeyspaceMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(IS_NAMED_BYTES + NAME_BYTES);
}

export class ServedKeyspace {
  readonly #isNamed: Int32Array;
  readonly #name: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.#isNamed = new Int32Array(memory, 0, 1);
    this.#name = new Uint8Array(memory, IS_NAMED_BYTES);
  }

  /** Nothing may be made any more where nothing is. */
  get isKnown(): boolean {
    return Atomics.load(this.#isNamed, 0) === 1;
  }

  /** `tokenKey`: random bytes that were made with the keyspace. Throws OrchError StoreUnusable where this process serves another. */
  serve(place: string, tokenKey: Uint8Array): void {
    const name = createHash('sha256').update(tokenKey).digest();
    if (!this.isKnown) {
      this.#name.set(name);
      Atomics.store(this.#isNamed, 0, 1);
    } else if (!name.equals(this.#name)) throw otherKeyspace(place);
  }
}

/** What lies at a place, or that nothing does, is not what this process has served. */
export function otherKeyspace(place: string): OrchError {
  return new OrchError(
    'StoreUnusable',
    `${place} is not the one that this server has served: another etcd answers, or its data is gone; restart the server to serve what is there now`,
  );
}
