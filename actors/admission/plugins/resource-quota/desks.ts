// Where writes that add to the usage of a namespace are charged for, one desk a namespace. What has come while the desk was busy
// is decided together, one write after the other, and committed in one message: what is used then, and behind it each write, which
// holds only if that does. So however many come at once, a quota is written once for all of them, and none of them races another.
import { StatusError } from '../../../../api/status/status.ts';
import type { TransactionResult } from '../../../store/protocol.ts';
import { type CommitContext, commitEach, commitOne, inOwnTime, tooLateToCommit } from '../../commits/commit.ts';
import { type Draft, withAlso } from '../../commits/draft.ts';

/** Bounds of one message, with which it has room in one batch of every store: what is behind the first goes with it or not at all. */
const WRITES_MAX = 100;
const BYTES_MAX = 768 * 1024;
/** What goes together has the time of whoever has least left: nobody loses more than this by others. */
const APART_MS_MAX = 1_000;
/** Races against other threads, and against who counts, are lost this often before those who wait are told. */
const TRIES_MAX = 1000;

/** Decides about writes one after the other, each knowing what those before it have used. */
export interface Charging<W> {
  /** Throws the StatusError that refuses the write. */
  readonly add: (of: W) => void;
  /** The quotas with what is used after all of them. */
  readonly drafts: () => readonly Draft[];
  /** The same quotas, which were committed under a revision since, with what is used where only these were accepted. */
  readonly corrections: (revision: number, accepted: readonly W[]) => readonly Draft[];
}

/** What has come of a group, in its order. */
interface Outcome {
  readonly results: readonly TransactionResult[];
  /** Where the quotas were committed before the writes: their revision. */
  readonly chargedAt?: number | undefined;
}

interface Waiting<W> {
  readonly of: W;
  readonly write: CommitContext;
  readonly draft: Draft;
  readonly settle: (result: TransactionResult) => void;
  readonly fail: (error: unknown) => void;
}

export class Desks<W> {
  /** By namespace, while somebody is served. */
  readonly #waiting = new Map<string, Waiting<W>[]>();
  readonly #charging: (namespace: string) => Promise<Charging<W>>;
  readonly #commitsEach: boolean;

  /**
   * @param charging begins anew, from what is committed by now.
   * @param commitsEach no two objects of a type are committed in one step: each write has its own, and of several quotas each but
   *   the last is charged in a step before it. What is charged for a write that is refused then, who counts takes back.
   */
  constructor(charging: (namespace: string) => Promise<Charging<W>>, commitsEach = false) {
    this.#charging = charging;
    this.#commitsEach = commitsEach;
  }

  /** Commits a write together with what it uses. Rejects with the StatusError that refuses it. */
  commit(namespace: string, of: W, write: CommitContext, draft: Draft): Promise<TransactionResult> {
    return new Promise((settle, fail) => {
      const waiting = this.#waiting.get(namespace);
      const one: Waiting<W> = { of, write, draft, settle, fail };
      if (waiting !== undefined) {
        waiting.push(one);
        return;
      }
      const line = [one];
      this.#waiting.set(namespace, line);
      void this.#serve(namespace, line);
    });
  }

  async #serve(namespace: string, line: Waiting<W>[]): Promise<void> {
    while (line.length > 0) {
      // Whoever comes in the same turn is served with the first of them.
      await Promise.resolve();
      const group = this.#commitsEach ? line.splice(0, 1) : taken(line);
      try {
        await this.#commitGroup(namespace, group);
      } catch (error) {
        for (const { fail } of group) fail(error);
      }
    }
    this.#waiting.delete(namespace);
  }

  async #commitGroup(namespace: string, group: readonly Waiting<W>[]): Promise<void> {
    let left = group;
    for (let tries = 1; left.length > 0; tries++) {
      const charging = await this.#charging(namespace);
      left = left.filter((one) => isInTime(one) && isCharged(charging, one));
      if (left.length === 0) return;
      const quotas = charging.drafts();
      const outcome = await (this.#commitsEach ? commitInSteps(quotas, left[0]!) : commitBehind(quotas, left));
      // The quotas were not as they were read: decided anew, by what they are now.
      if (tries < TRIES_MAX && isLost(outcome.results[0]!, quotas, left[0]!.draft)) continue;
      await settleAll(charging, left, outcome);
      return;
    }
  }
}

/** The first of the line, and of those behind it that have about as much time whoever has room in one message with it. */
function taken<W>(line: Waiting<W>[]): readonly Waiting<W>[] {
  const [first, ...behind] = line.splice(0) as [Waiting<W>, ...Waiting<W>[]];
  const group = [first];
  let bytes = bytesOf(first);
  for (const one of behind) {
    const isTogether = Math.abs(one.write.patience.endsMs - first.write.patience.endsMs) * 2 <= APART_MS_MAX;
    if (isTogether && group.length < WRITES_MAX && bytes + bytesOf(one) <= BYTES_MAX) {
      bytes += bytesOf(one);
      group.push(one);
    } else line.push(one);
  }
  return group;
}

function bytesOf({ draft }: Waiting<unknown>): number {
  return draft.put?.bytes ?? 0;
}

/** Who has been told that it took too long is not charged. */
function isInTime({ write, fail }: Waiting<unknown>): boolean {
  const { isOver } = write.patience;
  if (isOver) fail(tooLateToCommit());
  return !isOver;
}

/** Of those whose writes go together the one whose time is over first. Who goes away meanwhile does not take the others along. */
function mostUrgent(group: readonly Waiting<unknown>[]): CommitContext {
  if (group.length === 1) return group[0]!.write;
  const write = group.map((one) => one.write).reduce((a, b) => (b.patience.endsMs < a.patience.endsMs ? b : a));
  return { ...write, patience: write.patience.apart() };
}

function isCharged<W>(charging: Charging<W>, { of, fail }: Waiting<W>): boolean {
  try {
    charging.add(of);
    return true;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    fail(error);
    return false;
  }
}

/** Whether it was for the quotas that nothing was committed. A write of a quota may itself be refused for one. */
function isLost(first: TransactionResult, quotas: readonly Draft[], { key }: Draft): boolean {
  return !first.ok && first.key !== key && quotas.some((quota) => quota.key === first.key);
}

/**
 * Tells all of a group. Who was refused hears of it when what was charged for him has been taken back: he may try again, as a service
 * does that has met an address which is taken, and would be refused for what he himself has left.
 */
async function settleAll<W>(
  charging: Charging<W>,
  group: readonly Waiting<W>[],
  { results, chargedAt }: Outcome,
): Promise<void> {
  const accepted = group.filter((_, i) => results[i]!.ok);
  for (const [i, { settle }] of group.entries()) if (results[i]!.ok) settle(results[i]!);
  if (accepted.length < group.length && chargedAt !== undefined) {
    const [head, ...others] = charging.corrections(
      chargedAt,
      accepted.map(({ of }) => of),
    );
    // Nobody's time is too short for it. Where it fails, who counts has come in between.
    await commitOne(inOwnTime(group[0]!.write), withAlso(head!, others));
  }
  for (const [i, { settle }] of group.entries()) if (!results[i]!.ok) settle(results[i]!);
}

/** The result of a write, or that of the quota on which it failed. */
async function commitInSteps<W>(quotas: readonly Draft[], { write, draft }: Waiting<W>): Promise<Outcome> {
  for (const quota of quotas.slice(0, -1)) {
    const [result] = await commitEach(write, [quota]);
    if (result?.ok !== true) return { results: [result!] };
  }
  return { results: await commitEach(write, [withAlso(draft, quotas.slice(-1), draft.guards)]) };
}

async function commitBehind<W>(quotas: readonly Draft[], group: readonly Waiting<W>[]): Promise<Outcome> {
  const { draft } = group[0]!;
  const write = mostUrgent(group);
  if (quotas.length === 0) {
    const drafts = group.map(({ draft: each }) => each);
    return { results: await commitEach(write, drafts) };
  }
  const [head, ...others] = quotas as readonly [Draft, ...Draft[]];
  // One alone is committed with what it uses, or not at all.
  if (group.length === 1) return { results: await commitEach(write, [withAlso(draft, quotas, draft.guards)]) };
  const behind = group.map(({ draft: each }): Draft => ({ ...each, isBehindFirst: true }));
  const [charged, ...results] = await commitEach(write, [withAlso(head, others), ...behind]);
  return { results, chargedAt: charged!.ok ? charged!.revision : undefined };
}
