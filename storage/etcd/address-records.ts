// Whether services and the records of the addresses and ports that they have agree: each address in use has a record, and
// each record a service that has it. Gathers what it is shown, and says at the end what does not.
import { ADDRESS_RECORDS, claimsOf, PORT_RECORDS } from '../../api/services/service-claims.ts';
import type { ServiceFields } from '../../api/services/service-fields.ts';
import { formatIp, parseIp } from '../../values/ip.ts';
import { objectKey, parseKey } from '../object-key.ts';
import type { StoredObject } from './value-problems.ts';

const SERVICES = 'core/services';

interface Owner {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface Orphan {
  readonly key: string;
  readonly what: string;
}

export class AddressRecords {
  /** The owner by the record's key. */
  readonly #records = new Map<string, Owner>();
  /** The service's uid by the key of the record that there must be, and the other way. */
  readonly #claims = new Map<string, { readonly service: string; readonly uid: string }>();
  #isWhole = true;

  see(key: string, object: StoredObject): void {
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
    const { storageKey } = parseKey(key);
    if (storageKey === ADDRESS_RECORDS || storageKey === PORT_RECORDS || storageKey === SERVICES) this.#isWhole = false;
  }

  /** Services whose address could be given again. */
  missing(): readonly string[] {
    if (!this.#isWhole) return [];
    return [...this.#claims].flatMap(([record, { service, uid }]) => {
      const owner = this.#records.get(record);
      if (owner === undefined) return [`${service} has what ${record} should note, and does not`];
      return owner.uid === uid ? [] : [`${service} has what ${record} notes as ${owner.namespace}/${owner.name}'s`];
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
