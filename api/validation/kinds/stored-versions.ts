// Rules of the versions that a definition says its objects are stored in, in both of its versions.
import { deepEqual } from '../../json/deep-equal.ts';
import { shownList } from '../../status/shown-value.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, Rule } from '../rule.ts';

interface Definition {
  readonly spec?: {
    readonly versions?: readonly { readonly name?: string; readonly storage?: boolean }[] | null;
  };
  readonly status?: { readonly storedVersions?: readonly string[] | null };
}

/** What a new definition stores objects in is its storage version, the first of several. */
export const storedVersions: Rule<Definition> = (definition, at) => {
  if (at.isUpdate) return;
  const first = storageVersionOf(definition);
  checkStoredVersions({ ...definition, status: { storedVersions: first === undefined ? [] : [first] } }, at);
};

/** What lost a version before this was asked can be changed otherwise, and deleted. */
export const storedVersionsKept: ChangeRule<Definition> = (next, stored, at) => {
  const [before, after] = [storedIn(stored), storedIn(next)];
  // Every write puts the storage version among them where it is missing, which takes nothing away from the others.
  const [had, has, first] = [new Set(before), new Set(after), storageVersionOf(next)];
  const isKept =
    deepEqual(next.spec?.versions, stored.spec?.versions) &&
    before.every((name) => has.has(name)) &&
    after.every((name) => had.has(name) || name === first);
  if (!isKept) checkStoredVersions(next, at);
};

function storedIn({ status }: Definition): readonly string[] {
  return status?.storedVersions ?? [];
}

function storageVersionOf({ spec }: Definition): string | undefined {
  return spec?.versions?.find(({ storage }) => storage === true)?.name;
}

/** What was stored in a version can be read only while the version exists. */
function checkStoredVersions(definition: Definition, at: Report): void {
  const path = 'status.storedVersions';
  const stored = storedIn(definition);
  if (stored.length === 0) {
    at.invalid(path, shownList('string', stored), 'must have at least one stored version');
    return;
  }
  // Each stands for one version, be there several of its name: the last of one that is stored twice is told.
  const left = new Map(stored.map((text, index) => [text, index]));
  for (const { name: text = '', storage } of definition.spec?.versions ?? []) {
    if (storage === true && !left.has(text)) at.invalid(path, stored, `must have the storage version ${text}`);
    left.delete(text);
  }
  for (const [text, index] of left) at.invalid(`${path}[${index}]`, text, 'must appear in spec.versions');
}
