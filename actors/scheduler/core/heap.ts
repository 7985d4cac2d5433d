// A binary heap whose members know their place, so that any of them can be removed in O(log n).

/** What a heap needs of its members. A member is in one heap at a time. */
export interface HeapMember {
  /** Its place in the heap, -1 outside. Written by the heap alone. */
  heapIndex: number;
}

export class Heap<T extends HeapMember> {
  private readonly members: T[] = [];
  private readonly before: (a: T, b: T) => boolean;

  /** `before` must be a strict total order, so that the order of removal depends on nothing else. */
  constructor(before: (a: T, b: T) => boolean) {
    this.before = before;
  }

  get size(): number {
    return this.members.length;
  }

  /** The first member, left in place. */
  peek(): T | undefined {
    return this.members[0];
  }

  push(member: T): void {
    member.heapIndex = this.members.length;
    this.members.push(member);
    this.rise(member.heapIndex);
  }

  pop(): T | undefined {
    const first = this.members[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Removes a member of this heap. */
  remove(member: T): void {
    const at = member.heapIndex;
    const last = this.members.pop()!;
    member.heapIndex = -1;
    if (last === member) return;
    this.set(at, last);
    this.sink(at);
    this.rise(last.heapIndex);
  }

  private set(at: number, member: T): void {
    this.members[at] = member;
    member.heapIndex = at;
  }

  private rise(from: number): void {
    const member = this.members[from]!;
    let at = from;
    while (at > 0) {
      const parent = this.members[(at - 1) >> 1]!;
      if (!this.before(member, parent)) break;
      this.set(at, parent);
      at = (at - 1) >> 1;
    }
    this.set(at, member);
  }

  private sink(from: number): void {
    const member = this.members[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.members.length) break;
      if (child + 1 < this.members.length && this.before(this.members[child + 1]!, this.members[child]!)) child++;
      if (!this.before(this.members[child]!, member)) break;
      this.set(at, this.members[child]!);
      at = child;
    }
    this.set(at, member);
  }
}
