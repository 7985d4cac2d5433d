// Which groups and versions other servers answer for, as the APIService objects of the moment say. Asked once a request;
// changes only when one of those objects does.
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { type ApiService, isRemote, type RemoteApiService, readApiService } from './api-service.ts';
import { localPriorities } from './priorities.ts';

const NO_EDITIONS: ReadonlyMap<string, string> = new Map();

export class RemoteGroups {
  /** Where APIService objects are stored. */
  readonly storageKey: string;
  /** This server answers for it whatever the objects say: they could not be put right otherwise. */
  readonly #ownGroup: string;
  readonly #byName = new Map<string, RemoteApiService>();
  /** By group, then by version. */
  readonly #byPath = new Map<string, Map<string, RemoteApiService>>();
  /** Those of this server's own that stand elsewhere than they usually do, by name: an operator has changed their priorities. */
  readonly #moved = new Map<string, ApiService>();
  readonly #dialect: Dialect;
  #edition = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#ownGroup = dialect.spell('apiregistration.@group');
    this.storageKey = `${this.#ownGroup}/apiservices`;
  }

  /** Counts the changes. */
  get edition(): number {
    return this.#edition;
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Who answers for a group and version; undefined: this server. */
  at(group: string, version: string): RemoteApiService | undefined {
    return this.#byPath.get(group)?.get(version);
  }

  /** Whether another server answers for a version of the group. */
  hasGroup(group: string): boolean {
    return this.#byPath.has(group);
  }

  named(name: string): RemoteApiService | undefined {
    return this.#byName.get(name);
  }

  all(): readonly RemoteApiService[] {
    return [...this.#byName.values()];
  }

  /** Those by which groups and versions are ordered: all, and of this server's own those that stand elsewhere than usual. */
  ordering(): readonly ApiService[] {
    return [...this.#byName.values(), ...this.#moved.values()];
  }

  /** Forgets all: those that there are follow. */
  reset(): void {
    if (this.#byName.size + this.#moved.size === 0) return;
    this.#byName.clear();
    this.#moved.clear();
    this.#byPath.clear();
    this.#edition++;
  }

  /** An APIService as it is stored now. */
  put(object: JsonObject): undefined {
    const read = readApiService(object);
    this.remove(read.name);
    if (read.group === this.#ownGroup) return;
    if (!isRemote(read)) {
      if (!this.#isMoved(read)) return;
      this.#moved.set(read.name, read);
      this.#edition++;
      return;
    }
    this.#byName.set(read.name, read);
    const versions = this.#byPath.get(read.group) ?? new Map<string, RemoteApiService>();
    this.#byPath.set(read.group, versions.set(read.version, read));
    this.#edition++;
  }

  parse(text: string): JsonObject {
    return JSON.parse(text) as JsonObject;
  }

  /** Nothing is stored of them. */
  editions(): ReadonlyMap<string, string> {
    return NO_EDITIONS;
  }

  storageKeyOf(_name: string): undefined {}

  remove(name: string): undefined {
    if (this.#moved.delete(name)) this.#edition++;
    const gone = this.#byName.get(name);
    if (gone === undefined) return;
    this.#byName.delete(name);
    const versions = this.#byPath.get(gone.group);
    versions?.delete(gone.version);
    if (versions?.size === 0) this.#byPath.delete(gone.group);
    this.#edition++;
  }

  #isMoved({ group, version, groupPriority, versionPriority }: ApiService): boolean {
    const usual = localPriorities(this.#dialect, group, version);
    return usual !== undefined && (usual.group !== groupPriority || usual.version !== versionPriority);
  }
}
