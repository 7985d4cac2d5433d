// How many objects extension servers have, as they were listed last: for the quotas that limit them. Knows no quotas.

import { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { RemoteListing } from '../../../api/aggregation/remote-object.ts';
import { countName } from '../../../api/quota/usage.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { noteApiService } from '../remote-events.ts';

type ByNamespace = ReadonlyMap<string, number>;

/** What a limit on objects of extension servers is called: `count/<plural>.<group>`. */
const LIMIT = /^count\/[^.]+\.(?<group>.+)$/;

export class RemoteCounts {
  readonly #remotes: RemoteGroups;
  /** By the name that limits them. */
  readonly #counts = new Map<string, ByNamespace>();

  constructor(dialect: Dialect) {
    this.#remotes = new RemoteGroups(dialect);
  }

  /** Where APIServices are stored. */
  get storageKey(): string {
    return this.#remotes.storageKey;
  }

  reset(): void {
    this.#remotes.reset();
    this.#counts.clear();
  }

  /** One event of an APIService. True when it tells something new of another server. */
  onEvent(event: FeedEvent): boolean {
    return noteApiService(this.#remotes, event);
  }

  /** Of what a quota limits, the names of what other servers answer for. */
  namesOf(limited: readonly string[]): readonly string[] {
    if (this.#remotes.isEmpty) return NO_NAMES;
    return limited.filter((name) => this.#remotes.hasGroup(LIMIT.exec(name)?.groups?.group ?? ''));
  }

  /** How many there are in a namespace; undefined where no server has said. */
  count(namespace: string, name: string): number | undefined {
    const byNamespace = this.#counts.get(name);
    return byNamespace && (byNamespace.get(namespace) ?? 0);
  }

  /** What a listing found: what it does not tell of is as it was. False where it is all as it was. */
  take({ counts }: RemoteListing): boolean {
    let isNews = false;
    for (const { group, plural, byNamespace } of counts) {
      const name = countName({ group, plural });
      const next = new Map(byNamespace);
      isNews ||= !areSame(this.#counts.get(name), next);
      this.#counts.set(name, next);
    }
    const served = new Set(this.namesOf([...this.#counts.keys()]));
    for (const name of this.#counts.keys()) if (!served.has(name)) this.#counts.delete(name);
    return isNews;
  }
}

function areSame(one: ByNamespace | undefined, other: ByNamespace): boolean {
  if (one?.size !== other.size) return false;
  for (const [namespace, count] of one) if (other.get(namespace) !== count) return false;
  return true;
}

const NO_NAMES: readonly string[] = [];
