// What the controllers must bring about, and never do: owners and dependents go in the order that the deletion asked for,
// nothing is left whose owners are gone, orphans are kept; a namespace goes empty, takes nothing new on its way out, and
// does not stay. Pure.
import type { Change, Committed, Version } from './committed.ts';
import type { Operation, Write } from './history.ts';

const NAMESPACES = 'core/namespaces';
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** What must hold at every revision, one line for each that does not. */
export function checkLifecycles(operations: readonly Operation[], committed: Committed): readonly string[] {
  return [...namespaceProblems(committed), ...ownerProblems(operations, committed)];
}

/** What has not come to its end yet, one line each: empty when everything has been at rest for long enough. */
export function unfinishedLifecycles(committed: Committed): readonly string[] {
  const problems: string[] = [];
  const uids = new Set([...committed.present.values()].map(({ uid }) => uid));
  for (const { key, dying, finalizers, owners } of committed.present.values()) {
    if (dying) problems.push(`${key} is still being deleted, it waits for [${finalizers.join()}]`);
    else if (owners.length > 0 && !owners.some(({ uid }) => uids.has(uid)))
      problems.push(`${key} is left without owners`);
  }
  return problems;
}

function namespaceProblems({ changes }: Committed): readonly string[] {
  const problems: string[] = [];
  const live = new Map<string, boolean>();
  const objects = new Map<string, number>();
  for (const { key, revision, before, after } of changes) {
    const [group, plural, namespace = '', name = ''] = key.split('/');
    if (`${group}/${plural}` === NAMESPACES) {
      if (after !== undefined) live.set(name, !after.dying);
      else {
        live.delete(name);
        const left = objects.get(name) ?? 0;
        if (left > 0) problems.push(`namespace ${name} was removed at ${revision} with ${left} objects in it`);
      }
    } else if (namespace !== '') {
      if (before === undefined && after !== undefined) {
        objects.set(namespace, (objects.get(namespace) ?? 0) + 1);
        if (!live.get(namespace)) {
          const state = live.has(namespace) ? 'being deleted' : 'not there';
          problems.push(`${key} was created at ${revision} in a namespace that is ${state}`);
        }
      } else if (before !== undefined && after === undefined) {
        objects.set(namespace, (objects.get(namespace) ?? 0) - 1);
      }
    }
  }
  return problems;
}

/** Owners that were deleted in the foreground or let go of their dependents, and that nobody else deleted otherwise. */
function ownerProblems(operations: readonly Operation[], committed: Committed): readonly string[] {
  const problems: string[] = [];
  const deletions = new Map<string, Write[]>();
  for (const operation of operations) {
    if (operation.kind !== 'delete' && operation.kind !== 'collect') continue;
    const known = deletions.get(operation.key);
    if (known === undefined) deletions.set(operation.key, [operation]);
    else known.push(operation);
  }
  for (const removal of committed.changes) {
    const { key, before: last, after } = removal;
    // Those that have owners may be deleted by the garbage collector, in ways of its own.
    if (last === undefined || after !== undefined || last.owners.length > 0) continue;
    const begun = beginningOf(removal, committed);
    if (begun === undefined) continue;
    const { finalizers } = begun.after!;
    const policy = finalizers.includes(FOREGROUND) ? 'Foreground' : finalizers.includes(ORPHAN) ? 'Orphan' : undefined;
    const isAsked = (write: Write): boolean => write.policy === undefined || write.policy === policy;
    const meant = (deletions.get(key) ?? []).filter(({ returned, dry }) => !dry && returned > begun.durable);
    if (policy === undefined || !meant.every((write) => write.invoked > removal.durable || isAsked(write))) continue;
    const dependents = dependentsAt(begun.revision, last.uid, committed);
    problems.push(
      ...(policy === 'Foreground'
        ? foregroundProblems(removal, dependents, committed)
        : orphanProblems(begun, removal, dependents, deletions, committed)),
    );
  }
  return problems;
}

/** The change that began an object's deletion; undefined when it was removed at once. */
function beginningOf({ key, before }: Change, { byKey }: Committed): Change | undefined {
  return byKey.get(key)!.find(({ after }) => after?.uid === before!.uid && after.dying);
}

function dependentsAt(revision: number, uid: string, { byKey }: Committed): readonly Version[] {
  const dependents: Version[] = [];
  for (const changes of byKey.values()) {
    const version = changes.findLast((change) => change.revision <= revision)?.after;
    if (version?.owners.some((owner) => owner.uid === uid)) dependents.push(version);
  }
  return dependents;
}

/** The version of the same object right after a revision. */
function laterVersion({ key, uid }: Version, revision: number, { byKey }: Committed): Version | undefined {
  const version = byKey.get(key)!.findLast((change) => change.revision <= revision)?.after;
  return version?.uid === uid ? version : undefined;
}

function foregroundProblems(removal: Change, dependents: readonly Version[], committed: Committed): readonly string[] {
  const { key, revision, before } = removal;
  return dependents
    .filter(({ owners }) => owners.some(({ uid, blocks }) => blocks && uid === before!.uid))
    .filter((dependent) => {
      const now = laterVersion(dependent, revision, committed);
      return now?.owners.some(({ uid, blocks }) => blocks && uid === before!.uid);
    })
    .map((dependent) => `${key} was removed at ${revision} before ${dependent.key}, which blocks its deletion`);
}

function orphanProblems(
  begun: Change,
  removal: Change,
  dependents: readonly Version[],
  deletions: ReadonlyMap<string, readonly Write[]>,
  committed: Committed,
): readonly string[] {
  const { key, revision, before } = removal;
  const problems: string[] = [];
  for (const dependent of dependents) {
    const now = laterVersion(dependent, revision, committed);
    if (now?.owners.some(({ uid }) => uid === before!.uid)) {
      problems.push(`${key} was removed at ${revision} and ${dependent.key} still names it, it was to be let go`);
    }
    if (dependent.owners.length > 1 || dependent.dying) continue;
    const end = committed.byKey
      .get(dependent.key)!
      .find((change) => change.before?.uid === dependent.uid && isEnd(change));
    if (end === undefined || end.revision <= begun.revision) continue;
    const isAsked = (deletions.get(dependent.key) ?? []).some(({ invoked }) => invoked < end.durable);
    if (!isAsked) problems.push(`${dependent.key} was deleted at ${end.revision}, ${key} was to leave it alone`);
  }
  return problems;
}

function isEnd({ before, after }: Change): boolean {
  return after === undefined || (after.dying && !before!.dying);
}
