// Makes a clone runnable: installs the dependencies when the lock file is newer than what is installed, and
// compiles when a source is newer than the last build; both also where another Node did that, since npm installs binaries for the Node
// that it runs on, and V8 compiles for its own. Uses nothing but Node itself, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceFolders = [
  'bin',
  'config',
  'actors',
  'runtime',
  'rendering',
  'transport',
  'storage',
  'api',
  'values',
  'bench',
  'test',
  'scripts',
];
/** Says which Node built it: its release, and the version of what binaries are compiled for. */
const buildStamp = join(root, 'dist', '.built');
const thisNode = [process.version, process.versions.modules];

const modifiedMs = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newestSourceMs(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestSourceMs(path) : modifiedMs(path), modifiedMs(folder));
  }
  return newest;
}

/** `what` is said first: each may take half a minute, and prints nothing meanwhile. */
function run(what, command, args) {
  process.stderr.write(`prepare: ${what}\n`);
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (done.status !== 0) {
    process.stderr.write(`prepare: ${command} ${args.join(' ')} failed\n`);
    process.exit(1);
  }
}

const newest = Math.max(
  modifiedMs(join(root, 'tsconfig.json')),
  ...sourceFolders
    .map((folder) => join(root, folder))
    .filter(existsSync)
    .map(newestSourceMs),
);
// A build that says nothing of its Node was made by this one, as far as anybody knows.
const [release, modules] = existsSync(buildStamp)
  ? (readFileSync(buildStamp, 'utf8').match(/\S+/g) ?? thisNode)
  : thisNode;
const hasOtherBinaries = modules !== process.versions.modules;
const isOutdated =
  hasOtherBinaries ||
  modifiedMs(join(root, 'node_modules', '.package-lock.json')) < modifiedMs(join(root, 'package-lock.json'));
// An installation for production (`npm ci --omit=dev`) has no compiler.
const lacksCompiler = !['typescript', 'esbuild'].every((name) => existsSync(join(root, 'node_modules', name)));
// What another release built runs as well, only that it starts later.
const isOfOther = hasOtherBinaries || (release !== process.version && !lacksCompiler);
const isStale = modifiedMs(buildStamp) < newest || isOfOther;

if (isOutdated || (isStale && lacksCompiler)) {
  // Not `npm ci`: it begins by removing what is installed, which may be somebody else's where it is shared by a link.
  run('installing dependencies', 'npm', ['install', '--no-save', '--no-audit', '--no-fund', '--include=dev']);
}
if (isStale) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run('compiling', process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']);
  run('packing', process.execPath, [join(root, 'scripts', 'pack.js')]);
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, thisNode.join(' '));
}
