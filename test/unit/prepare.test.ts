// Goal: `npm start` works in a folder whatever was installed there before. Method: the script of a checkout of its own, with
// stand-ins for npm, the compiler and what packs.
import { spawnSync } from 'node:child_process';
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

/** Answers what was printed. Throws where it fails. */
function prepare(folder: string): string {
  const PATH = `${join(folder, 'path')}${delimiter}${process.env.PATH}`;
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(folder, 'scripts', 'prepare.js')], {
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });
  if (status !== 0 || stdout !== '') throw new Error(stdout + stderr);
  return stderr;
}

test('a build that lacks its compiler installs it, whatever npm was told to omit', (t) => {
  const folder = checkout(t);
  prepare(folder);
  t.regex(readFileSync(join(folder, 'npm.log'), 'utf8'), /^install .*--include=dev\n$/);
  t.true(existsSync(join(folder, 'dist', '.built')));
});

test('each step that takes long is told before it, and where there is none, nothing is', (t) => {
  const folder = checkout(t);
  t.is(prepare(folder), 'prepare: installing dependencies\nprepare: compiling\nprepare: packing\n');
  built(folder, '');
  t.is(prepare(folder), '');
});

/** A build newer than every source, and the Node that its stamp names. */
function built(folder: string, node: string): void {
  const stamp = join(folder, 'dist', '.built');
  writeFileSync(stamp, node);
  const later = Date.now() / 1000 + 60;
  utimesSync(stamp, later, later);
}

const { version, versions } = process;

test('what is built needs no compiler', (t) => {
  for (const node of ['', `${version} ${versions.modules}`, `v20.0.0 ${versions.modules}`]) {
    const folder = checkout(t);
    built(folder, node);
    prepare(folder);
    t.false(existsSync(join(folder, 'npm.log')), node);
    t.is(readFileSync(join(folder, 'dist', '.built'), 'utf8'), node);
  }
});

test('what another Node has built is built again, and what npm has installed for its binaries is installed again', (t) => {
  for (const [node, installs] of [
    [`v20.0.0 ${versions.modules}`, false],
    ['v18.0.0 108', true],
  ] as const) {
    const folder = checkout(t);
    for (const name of ['typescript/bin', 'esbuild'])
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '');
    built(folder, node);
    prepare(folder);
    t.is(existsSync(join(folder, 'npm.log')), installs, node);
    t.is(readFileSync(join(folder, 'dist', '.built'), 'utf8'), `${version} ${versions.modules}`);
  }
});
