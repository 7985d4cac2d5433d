// Where the original keeps what: our key of an object, and its own path below the prefix, each from the other. Built-in types lie
// under their plural without its group, a few under an older name; what definitions make, and the definitions, under their group. What
// is neither is nobody's business here, and has no key of ours.
import { posix } from 'node:path';
import type { Registry } from '../../../api/resources/registry.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { objectKey, parseKey } from '../../object-key.ts';
import { MasterLeases } from './master-leases.ts';

/** Plurals that lie under another name. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  'core/nodes': 'minions',
  'core/replicationcontrollers': 'controllers',
  'core/services': 'services/specs',
  'core/endpoints': 'services/endpoints',
  'networking.@group/ingresses': 'ingress',
  'policy/podsecuritypolicies': 'podsecuritypolicy',
};

/** Groups that lie under their name although their types are built in. */
const OWN_SERVERS: readonly string[] = ['apiextensions.@group', 'apiregistration.@group'];

/** The services' ranges, by what is given out of them. */
export const RANGES = {
  addresses: 'ranges/serviceips',
  secondAddresses: 'ranges/secondaryserviceips',
  ports: 'ranges/servicenodeports',
} as const;

/** The storage key of services. */
export const SERVICES = 'core/services';

/** By whose providers ranges are encrypted: the original has those of services for them. */
export const RANGES_AS = `${SERVICES}//`;

/** By whose providers servers' leases are: of a resource that no API serves, and not of leases. */
const MASTER_LEASES_AS = 'core/apiServerIPInfo//';

interface Resource {
  readonly storageKey: string;
  readonly namespaced: boolean;
}

export class OriginalKeys {
  /** `/registry/` */
  readonly root: string;
  readonly rootEnd: string;
  /** Before what no resource's prefix reaches: what servers like this one keep for themselves. */
  readonly own: string;
  readonly #masterLeases: MasterLeases;
  readonly #folders = new Map<string, string>();
  readonly #resources = new Map<string, Resource>();

  /** `prefix`: `--store-prefix`, which is the original's as well. */
  constructor(registry: Pick<Registry, 'dialect' | 'known'>, prefix: string) {
    const { dialect } = registry;
    // As the original joins it with what comes after: with one slash before each part, and nothing of a prefix of slashes alone.
    const folder = posix.join('/', prefix).replace(/\/$/, '');
    this.root = `${folder}/`;
    this.rootEnd = `${folder}0`;
    this.own = `${this.root}orch/`;
    this.#masterLeases = new MasterLeases(dialect);
    const older = new Map(Object.entries(OLDER_NAMES).map(([key, name]) => [dialect.spell(key), name]));
    const under = new Set(OWN_SERVERS.map((group) => dialect.spell(group)));
    for (const { persisted, storageKey, group, plural, namespaced, custom } of registry.known()) {
      if (!persisted || custom !== undefined || this.#folders.has(storageKey)) continue;
      const isHome = storageKey === `${group === '' ? 'core' : group}/${plural}`;
      if (!isHome) continue;
      const place = older.get(storageKey) ?? (under.has(group) ? storageKey : plural);
      this.#folders.set(storageKey, place);
      this.#resources.set(place, { storageKey, namespaced });
    }
  }

  /** Where an object lies. */
  pathOf(key: string): string {
    const lease = this.#masterLeases.pathOf(key);
    if (lease !== undefined) return this.root + lease;
    const { storageKey, namespace, name } = parseKey(key);
    const folder = this.#folders.get(storageKey) ?? storageKey;
    return `${this.root}${folder}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  }

  /** Whose value lies there; undefined: no object's of ours. */
  keyOf(path: string): string | undefined {
    if (!path.startsWith(this.root) || path.startsWith(this.own)) return undefined;
    const rest = path.slice(this.root.length);
    const [first = '', second = '', ...more] = rest.split('/');
    const plain = this.#resources.get(first);
    if (plain !== undefined) return keyIn(plain, [second, ...more]);
    const nested = this.#resources.get(`${first}/${second}`);
    if (nested !== undefined) return keyIn(nested, more);
    const lease = this.#masterLeases.keyOf(rest);
    if (lease !== undefined) return lease;
    // The groups of definitions have a dot; a built-in type is not kept twice.
    const storageKey = `${first}/${second}`;
    if (!first.includes('.') || this.#folders.has(storageKey) || more.length > 2) return undefined;
    return keyIn({ storageKey, namespaced: more.length === 2 }, more);
  }

  /** Whether what lies under a key of ours is a server's own lease there. */
  isMasterLease(key: string): boolean {
    return this.#masterLeases.pathOf(key) !== undefined;
  }

  /** By whose providers what lies under a key of ours is encrypted there. */
  providersOf(key: string): string {
    return this.isMasterLease(key) ? MASTER_LEASES_AS : key;
  }

  /** The type of built-in objects that lie under a key; undefined for those that definitions make. */
  isBuiltIn(key: string): boolean {
    return this.#folders.has(parseKey(key).storageKey);
  }
}

/** Whether values of a type are JSON there, whatever the others are. */
export function isJsonThere(
  { group, custom }: Pick<KnownType, 'group' | 'custom'>,
  dialect: Registry['dialect'],
): boolean {
  return custom !== undefined || OWN_SERVERS.some((own) => dialect.spell(own) === group);
}

function keyIn({ storageKey, namespaced }: Resource, names: readonly string[]): string | undefined {
  if (names.length !== (namespaced ? 2 : 1) || names.includes('')) return undefined;
  const [namespace, name] = namespaced ? [names[0]!, names[1]!] : ['', names[0]!];
  return objectKey(storageKey, namespace, name);
}
