// Which releases of Node run this program. `engines` in package.json tells npm the same, which only warns.

/** The first minor release of a major version that has all that is called: 21, and 22 before 22.2, have no `crc32`. */
const FIRST_MINORS: ReadonlyMap<number, number> = new Map([
  [20, 19],
  [22, 2],
]);
const NEWEST_NAMED = Math.max(...FIRST_MINORS.keys());

/** What is wrong with running on this release of Node; undefined where nothing is. */
export function releaseProblem(release: string): string | undefined {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  if (major > NEWEST_NAMED || minor >= (FIRST_MINORS.get(major) ?? Number.POSITIVE_INFINITY)) return undefined;
  const named = [...FIRST_MINORS].map(([line, first]) => `${line}.${first} or newer of ${line}`).join(', ');
  return `Node ${release} does not have all that is needed: use ${named}, or a later version`;
}
