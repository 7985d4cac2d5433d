// How the original's servers know of each other: under a path of its address each keeps an Endpoints with that one address, under an
// etcd lease that ends with the server. Here a server is known by a Lease object (actors/controllers/leases/endpoint-leases.ts); this says
// which of both is which, and makes each of the other.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { parseIp } from '../../../values/ip.ts';
import { objectKey, parseKey } from '../../object-key.ts';

const FOLDER = 'masterleases/';
/** As long as the original lets them be. */
export const MASTER_LEASE_SECONDS = 15;

export class MasterLeases {
  readonly #component: string;
  readonly #storageKey: string;
  readonly #namespace: string;
  readonly #label: string;

  constructor(dialect: Dialect) {
    this.#component = dialect.spell('@short-apiserver-endpoint');
    this.#storageKey = dialect.spell('coordination.@group/leases');
    this.#namespace = dialect.systemNamespace;
    this.#label = dialect.spell('@group/component');
  }

  /** Below the prefix; undefined: the key is none of a server's lease. */
  pathOf(key: string): string | undefined {
    const { storageKey, namespace, name } = parseKey(key);
    if (storageKey !== this.#storageKey || namespace !== this.#namespace) return undefined;
    if (!name.startsWith(`${this.#component}-`)) return undefined;
    const suffix = name.slice(this.#component.length + 1);
    const address = [suffix, suffix.replaceAll('-', ':')].find((text) => parseIp(text) !== undefined);
    return address === undefined ? undefined : FOLDER + address;
  }

  /** `path`: below the prefix. */
  keyOf(path: string): string | undefined {
    const address = path.startsWith(FOLDER) ? path.slice(FOLDER.length) : '';
    if (parseIp(address) === undefined) return undefined;
    return objectKey(this.#storageKey, this.#namespace, `${this.#component}-${address.replaceAll(':', '-')}`);
  }

  /** The Endpoints of a Lease, in canonical form. */
  endpointsOf(key: string, lease: JsonObject): JsonObject {
    const ip = this.pathOf(key)!.slice(FOLDER.length);
    const metadata = { ...(lease.metadata as JsonObject) } as Record<string, unknown>;
    delete metadata.managedFields;
    return { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: [{ addresses: [{ ip }] }] };
  }

  /** The Lease that such Endpoints are shown as: what only a Lease says, is made up from the address. */
  leaseOf(key: string, endpoints: JsonObject): JsonObject {
    const { namespace, name } = parseKey(key);
    const address = this.pathOf(key)!.slice(FOLDER.length);
    const { uid, creationTimestamp } = (endpoints.metadata ?? {}) as JsonObject;
    return {
      kind: 'Lease',
      metadata: {
        name,
        namespace,
        uid: uid ?? uidOf(address),
        creationTimestamp: creationTimestamp ?? null,
        labels: { [this.#label]: this.#component },
      },
      spec: { holderIdentity: address, leaseDurationSeconds: MASTER_LEASE_SECONDS },
    };
  }
}

/** The same at every server. */
function uidOf(address: string): string {
  const hex = createHash('sha256').update(`${FOLDER}${address}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
