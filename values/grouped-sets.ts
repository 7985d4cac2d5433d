// Texts in groups that are named by texts: what belongs to what, found from the one side. No group is empty. Pure.

const NONE: ReadonlySet<string> = new Set();

export class GroupedSets {
  readonly #groups = new Map<string, Set<string>>();

  add(group: string, member: string): void {
    const members = this.#groups.get(group);
    if (members === undefined) this.#groups.set(group, new Set([member]));
    else members.add(member);
  }

  /** True where the member was the last of its group. */
  remove(group: string, member: string): boolean {
    const members = this.#groups.get(group);
    if (!members?.delete(member) || members.size > 0) return false;
    this.#groups.delete(group);
    return true;
  }

  of(group: string): ReadonlySet<string> {
    return this.#groups.get(group) ?? NONE;
  }

  /** The names of all that have members. */
  groups(): Iterable<string> {
    return this.#groups.keys();
  }

  clear(): void {
    this.#groups.clear();
  }
}
