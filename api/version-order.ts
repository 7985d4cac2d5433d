// The order of versions by their names: general availability before beta before alpha, later before earlier, and names of any
// other form behind, by letter.

const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGES: readonly (string | undefined)[] = [undefined, 'beta', 'alpha'];

/** For sorting: negative where `a` stands before `b`. */
export function byPriority(a: string, b: string): number {
  const [, majorA, stageA, minorA] = VERSION.exec(a) ?? [];
  const [, majorB, stageB, minorB] = VERSION.exec(b) ?? [];
  if (majorA === undefined || majorB === undefined) {
    if (majorA === majorB) return a < b ? -1 : a === b ? 0 : 1;
    return majorA === undefined ? 1 : -1;
  }
  return (
    STAGES.indexOf(stageA) - STAGES.indexOf(stageB) ||
    Number(majorB) - Number(majorA) ||
    Number(minorB ?? 0) - Number(minorA ?? 0)
  );
}
