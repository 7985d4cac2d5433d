// Whether services and the records of the addresses and ports that they have agree: each address in use has a record, and
// each record a service that has it. Gathers what it is shown, and says at the end what does not.
import { ADDRESS_RECORDS, claimsOf, PORT_RECORDS } from '../../api/services/service-claims.ts';
import type { ServiceFields } from '../../api/services/service-fields.ts';
import { formatIp, parseIp } from '../../values/ip.ts';
import { objectKey, parseKey, storageKeyOf } from '../object-key.ts';

const SERVICES = 'core/services';
const CONCERNED: ReadonlySet<string> = new Set([ADDRESS_RECORDS, PORT_RECORDS, SERVICES]);

interface Owner {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** Of a service or a record, what is looked at here. */
export interface AddressHolder {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: unknown;
  readonly owner?: unknown;
}

export interface Orphan {
  readonly key: string;
  readonly what: string;
}

/** A record that there must be, and is not, or not as it must be. */
export interface MissingRecord extends Orphan {
  /** The key of the service. */
  readonly service: string;
  readonly owner: Required<Owner>;
  /** False: the record is there, and another's. */
  readonly isAbsent: boolean;
}

export class AddressRecords {
  /** The owner by the record's key. */
  readonly #records = new Map<string, Owner>();
  /** The service's uid by the key of the record that there must be, and the other way. */
  readonly #claims = new Map<string, { readonly service: string; readonly uid: string }>();
  #isWhole = true;

  /** Whether an object under this key is one that is looked at. */
  static concerns(key: string): boolean {
    return CONCERNED.has(storageKeyOf(key));
  }

  see(key: string, object: AddressHolder): void {
    const { storageKey, name } = parseKey(key);
    if (storageKey === ADDRESS_RECORDS || storageKey === PORT_RECORDS) {
      this.#records.set(objectKey(storageKey, '', canonical(name)), (object.owner ?? {}) as Owner);
    }
    if (storageKey !== SERVICES) return;
    const { uid = '' } = object.metadata ?? {};
    for (const claim of claimsOf((object.spec ?? {}) as ServiceFields)) {
      this.#claims.set(objectKey(claim.storageKey, '', canonical(claim.written)), { service: key, uid });
    }
  }

  /** Something could not be looked into. */
  miss(key: string): void {
    if (AddressRecords.concerns(key)) this.#isWhole = false;
  }

  /** What services have that could be given again. */
  missing(): readonly MissingRecord[] {
    if (!this.#isWhole) return [];
    return [...this.#claims].flatMap(([key, { service, uid }]) => {
      const noted = this.#records.get(key);
      if (noted?.uid === uid) return [];
      const { namespace, name } = parseKey(service);
      const what =
        noted === undefined
          ? `${service} has what ${key} should note, and does not`
          : `${service} has what ${key} notes as ${noted.namespace}/${noted.name}'s`;
      return [{ key, what, service, owner: { namespace, name, uid }, isAbsent: noted === undefined }];
    });
  }

  /** Records of what no service has: nobody can be given it. */
  orphans(): readonly Orphan[] {
    if (!this.#isWhole) return [];
    return [...this.#records]
      .filter(([record]) => !this.#claims.has(record))
      .map(([key, { namespace, name }]) => ({
        key,
        what: `${key} is noted as ${namespace}/${name}'s, which does not have it`,
      }));
  }
}

function canonical(text: string): string {
  const ip = parseIp(text);
  return ip === undefined ? text : formatIp(ip);
}
