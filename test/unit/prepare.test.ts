// Goal: `npm start` works in a folder whatever was installed there before. Method: the script of a checkout of its own, with
// stand-ins for npm, the compiler and what packs.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ROOT } from './source-tree.ts';

const NPM = `#!/bin/sh
echo "$@" >> npm.log
mkdir -p node_modules/typescript/bin node_modules/esbuild
touch node_modules/.package-lock.json node_modules/typescript/bin/tsc
`;

/** A checkout whose dependencies were installed for production. */
function checkout(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['scripts', 'bin', 'dist', 'path', 'node_modules']) mkdirSync(join(folder, name));
  for (const name of ['tsconfig.json', 'package-lock.json', 'node_modules/.package-lock.json', 'scripts/pack.js']) {
    writeFileSync(join(folder, name), '');
  }
  writeFileSync(join(folder, 'path', 'npm'), NPM, { mode: 0o755 });
  copyFileSync(join(ROOT, 'scripts', 'prepare.js'), join(folder, 'scripts', 'prepare.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

function prepare(folder: string): void {
  const PATH = `${join(folder, 'path')}${delimiter}${process.env.PATH}`;
  execFileSync(process.execPath, [join(folder, 'scripts', 'prepare.js')], { env: { ...process.env, PATH } });
}

test('a build that lacks its compiler installs it, whatever npm was told to omit', (t) => {
  const folder = checkout(t);
  prepare(folder);
  t.regex(readFileSync(join(folder, 'npm.log'), 'utf8'), /^install .*--include=dev\n$/);
  t.true(existsSync(join(folder, 'dist', '.built')));
});

test('what is built needs no compiler', (t) => {
  const folder = checkout(t);
  const stamp = join(folder, 'dist', '.built');
  writeFileSync(stamp, '');
  const later = Date.now() / 1000 + 60;
  utimesSync(stamp, later, later);
  prepare(folder);
  t.false(existsSync(join(folder, 'npm.log')));
});
