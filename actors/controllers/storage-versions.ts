// Which version each server stores the objects of each built-in type in, said in an object for each type (a StorageVersion), so that who
// rewrites stored objects knows when all servers agree. Under the gates StorageVersionAPI and APIServerIdentity: a server is known by the
// lease of its identity, and what is said of one whose lease is gone is taken out. SPEC.md, "Feature gates".
import { deepEqual } from '../../api/json/deep-equal.ts';
import { listAt, partAt, partsAt } from '../../api/json/object-fields.ts';
import { metadataOf, timestampOf } from '../../api/metadata/object-meta.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { compareTexts } from '../../values/compare-texts.ts';
import type { WriteTarget } from '../admission/protocol.ts';
import { type ApiObject, type Controller, type Due, deletionOf, NOTHING, type Plan } from './controller.ts';
import { apiServerIdentity } from './identities.ts';
import type { ComponentLeases } from './leases/component-leases.ts';
import type { ServedResource, StoredType } from './options.ts';

const VERSION = 'v1alpha1';
const AGREED = 'AllEncodingVersionsEqual';

/** What one server says of one type. */
interface ServerVersion {
  readonly apiServerID: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
}

export interface StorageVersionsParts {
  readonly dialect: Dialect;
  /** Of the identities of servers, this one's among them. */
  readonly leases: ComponentLeases;
  readonly types: readonly StoredType[];
  readonly isServed: (resource: ServedResource) => boolean;
}

/** The resource of these objects, as it is served. */
export function storageVersionResource(dialect: Dialect): ServedResource {
  return { group: dialect.spell('internal.apiserver.@group'), version: VERSION, resource: 'storageversions' };
}

/** Says what this server stores, and takes out what servers said that are gone. Keys are names of StorageVersions. */
export class StorageVersions implements Controller {
  readonly name = 'storage-versions';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 16;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #resource: ServedResource;
  readonly #storageKey: string;
  readonly #leases: ComponentLeases;
  readonly #own: ReadonlyMap<string, ServerVersion>;
  readonly #stored = new Map<string, ApiObject>();
  /** Identities that have a lease. */
  readonly #alive = new Set<string>();
  /** Those that were right once since the start. */
  readonly #settled = new Set<string>();

  constructor(clock: Clock, due: Due, { dialect, leases, types, isServed }: StorageVersionsParts) {
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#leases = leases;
    this.#resource = storageVersionResource(dialect);
    this.#storageKey = `${this.#resource.group}/${this.#resource.resource}`;
    this.#own = ownVersions(leases.own, types, isServed);
    this.wants = [this.#storageKey, leases.storageKey];
  }

  /** Whether each type of this server was said once since its start. */
  get isDone(): boolean {
    return this.#settled.size === this.#own.size;
  }

  reset(): void {
    this.#stored.clear();
    this.#alive.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey !== this.#storageKey) {
      this.#onLease(event);
      return;
    }
    if (event.type === 'delete') this.#stored.delete(event.name);
    else this.#stored.set(event.name, event.object());
    this.#due.add(event.name);
  }

  onSynced(): void {
    this.#addAll();
  }

  plan(name: string): Plan {
    // A server that nobody knows of yet is one whose word is taken out.
    if (!this.#alive.has(this.#leases.own)) return NOTHING;
    const own = this.#own.get(name);
    const stored = this.#stored.get(name);
    if (stored === undefined) return own === undefined ? NOTHING : { writes: [this.#creation(name)] };
    const status = partAt(stored, 'status');
    const versions = this.#versions(listAt(status, 'storageVersions') as readonly ServerVersion[], own);
    if (versions.length === 0) {
      const { uid = '' } = metadataOf(stored);
      return { writes: [deletionOf(this.#target(name), { uid })] };
    }
    const next = this.#status(versions, stored);
    if (deepEqual(next, status)) {
      if (own !== undefined) this.#settled.add(name);
      return NOTHING;
    }
    const body = { ...stored, apiVersion: `${this.#resource.group}/${VERSION}`, status: next };
    return { writes: [{ verb: 'update', target: this.#target(name, 'status'), body }] };
  }

  #onLease(event: FeedEvent): void {
    if (!this.#leases.isNear(event)) return;
    const isAlive = event.type !== 'delete' && this.#leases.shownBy(event) !== undefined;
    if (isAlive === this.#alive.has(event.name)) return;
    if (isAlive) this.#alive.add(event.name);
    else this.#alive.delete(event.name);
    if (!isAlive || event.name === this.#leases.own) this.#addAll();
  }

  #addAll(): void {
    for (const name of new Set([...this.#own.keys(), ...this.#stored.keys()])) this.#due.add(name);
  }

  /** What living servers say, this one in the place that it has. */
  #versions(said: readonly ServerVersion[], own: ServerVersion | undefined): readonly ServerVersion[] {
    const versions = said
      .filter(({ apiServerID }) => this.#alive.has(apiServerID))
      .map((one) => (own !== undefined && one.apiServerID === own.apiServerID ? own : one));
    return own === undefined || versions.includes(own) ? versions : [...versions, own];
  }

  #status(storageVersions: readonly ServerVersion[], stored: ApiObject): ApiObject {
    const { commonEncodingVersion: before, ...others } = partAt(stored, 'status');
    const encodings = new Set(storageVersions.map(({ encodingVersion }) => encodingVersion));
    const [common] = encodings.size === 1 ? encodings : [];
    const conditions = this.#conditions(stored, common, before !== undefined && before !== common);
    return { ...others, storageVersions, ...(common && { commonEncodingVersion: common }), conditions };
  }

  /** The condition says since when it is so; `isOther`: the servers agree on another version than before. */
  #conditions(stored: ApiObject, common: string | undefined, isOther: boolean): readonly object[] {
    const list = partsAt(partAt(stored, 'status'), 'conditions');
    const status = common === undefined ? 'False' : 'True';
    const known = list.find(({ type }) => type === AGREED);
    if (known?.status === status && !isOther) return list;
    const condition = {
      type: AGREED,
      status,
      observedGeneration: metadataOf(stored).generation ?? 0,
      lastTransitionTime: timestampOf(this.#clock.nowMs()),
      reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
      message: common === undefined ? 'Common encoding version unset' : 'Common encoding version set',
    };
    return known === undefined ? [...list, condition] : list.map((one) => (one === known ? condition : one));
  }

  /** What it is to say is a second write: no object is created with a status. */
  #creation(name: string): Plan['writes'][number] {
    const body = {
      apiVersion: `${this.#resource.group}/${VERSION}`,
      kind: 'StorageVersion',
      metadata: { name },
      spec: {},
    };
    return { verb: 'create', target: this.#target(''), body };
  }

  #target(name: string, subresource = ''): WriteTarget {
    return { ...this.#resource, subresource, namespace: '', name };
  }
}

/** By the name of a StorageVersion: of the types that share objects, the first by group and resource. */
function ownVersions(
  apiServerID: string,
  types: readonly StoredType[],
  isServed: StorageVersionsParts['isServed'],
): ReadonlyMap<string, ServerVersion> {
  const byStorageKey = new Map<string, StoredType[]>();
  for (const type of types) {
    if (!isServed({ group: type.group, version: type.version, resource: type.plural })) continue;
    const sharing = byStorageKey.get(type.storageKey);
    if (sharing === undefined) byStorageKey.set(type.storageKey, [type]);
    else if (!sharing.includes(type)) sharing.push(type);
  }
  const versions = new Map<string, ServerVersion>();
  for (const sharing of byStorageKey.values()) {
    const [first] = [...sharing].sort((a, b) => compareTexts(a.group, b.group) || compareTexts(a.plural, b.plural));
    const { group, plural, storageApiVersion: encodingVersion } = first!;
    const decodableVersions = new Set([...sharing.map(({ apiVersion }) => apiVersion), encodingVersion]);
    const name = `${group === '' ? 'core' : group}.${plural}`;
    versions.set(name, { apiServerID, encodingVersion, decodableVersions: [...decodableVersions] });
  }
  return versions;
}
