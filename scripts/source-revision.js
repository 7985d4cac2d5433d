// Which revision a build is made of, for `/version` (bin/version.ts): the build writes it to dist/build.json.
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

/** What Git answers, without the end of its line; undefined where there is no Git, or it knows no answer. */
function git(folder, args) {
  const { status, stdout } = spawnSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.trimEnd() : undefined;
}

/** RFC 3339 in UTC, to the second. */
const timeOf = (epochSeconds) => new Date(Number(epochSeconds) * 1000).toISOString().replace(/\.000Z$/, 'Z');

/**
 * The revision of the checkout in `folder`. Empty where the sources came without their history, as in an archive: a repository
 * around them, of something else, does not count. The date is the revision's own unless SOURCE_DATE_EPOCH says another, so that
 * the same sources make the same build.
 */
export function sourceRevision(folder) {
  const top = git(folder, ['rev-parse', '--show-toplevel']);
  const isOurs = top !== undefined && realpathSync(top) === realpathSync(folder);
  const gitCommit = (isOurs && git(folder, ['rev-parse', 'HEAD'])) || '';
  const madeAt =
    process.env.SOURCE_DATE_EPOCH || (gitCommit === '' ? '0' : git(folder, ['show', '-s', '--format=%ct']));
  const gitTreeState = gitCommit === '' ? '' : git(folder, ['status', '--porcelain']) === '' ? 'clean' : 'dirty';
  return { gitCommit, gitTreeState, buildDate: timeOf(madeAt) };
}
