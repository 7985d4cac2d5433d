// What a build says it is made of: what its making finds in the checkout, and what the program tells of that.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { buildInfo } from '../../../bin/version.ts';
import { testNeeding } from '../../server/machine-tools.ts';
import { ROOT } from '../source-tree.ts';

const test = testNeeding(ava, ['git']);
const NOWHERE = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
const COMMITTED = '2021-04-08T16:31:21Z';
const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'a'],
    [`GIT_${who}_EMAIL`, 'a@example.org'],
    [`GIT_${who}_DATE`, COMMITTED],
  ]),
) as Readonly<Record<string, string>>;

function git(folder: string, ...args: string[]): string {
  const env = { ...process.env, ...NOWHERE, ...IDENTITY };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
}

/** A checkout with one commit; what it is at. */
function checkout(t: ExecutionContext): { readonly folder: string; readonly head: string } {
  const folder = mkdtempSync(join(tmpdir(), 'revision-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.ts'), 'one');
  git(folder, 'init', '--quiet');
  git(folder, 'add', 'a.ts');
  git(folder, 'commit', '--quiet', '--message', 'one');
  return { folder, head: git(folder, 'rev-parse', 'HEAD') };
}

/** What a build of the folder would record. */
function recorded(folder: string, environment: Readonly<Record<string, string>> = {}): unknown {
  const module = pathToFileURL(join(ROOT, 'scripts', 'source-revision.js')).href;
  const program = `import { sourceRevision } from '${module}'; console.log(JSON.stringify(sourceRevision(process.argv[1])));`;
  const { SOURCE_DATE_EPOCH: _, ...own } = process.env;
  const env = { ...own, ...NOWHERE, ...environment };
  const args = ['--input-type=module', '--eval', program, folder];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

test('a build records the commit it is made of, whether anything was changed since, and its date', (t) => {
  const { folder, head } = checkout(t);
  t.deepEqual(recorded(folder), { gitCommit: head, gitTreeState: 'clean', buildDate: COMMITTED });
  t.like(recorded(folder, { SOURCE_DATE_EPOCH: '86400' }), { gitCommit: head, buildDate: '1970-01-02T00:00:00Z' });
  writeFileSync(join(folder, 'a.ts'), 'two');
  t.like(recorded(folder), { gitCommit: head, gitTreeState: 'dirty' });
});

test('sources without a history of their own are of no commit, whatever repository is around them', (t) => {
  const inner = join(checkout(t).folder, 'archive');
  mkdirSync(inner);
  t.deepEqual(recorded(inner), { gitCommit: '', gitTreeState: '', buildDate: '1970-01-01T00:00:00Z' });
});

ava('the program tells what its build recorded', (t) => {
  t.like(buildInfo(), JSON.parse(readFileSync(join(ROOT, 'dist', 'build.json'), 'utf8')) as object);
});
