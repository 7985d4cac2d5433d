// Deals the unit tests into a few groups that each run in one process: most of these files are over before a process of their
// own has loaded what they test. A file by itself runs under ava as it is.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GROUPS = 8;
/** Modules that wait for something as they are loaded. Once they are there a group declares all its tests at once, as ava wants it. */
const WAITED_FOR = ['test/unit/source-tree', 'test/unit/transport/outgoing/made-pairs'];

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');
const units = join(dist, 'test', 'unit');
const grouped = join(dist, 'unit');

const files = readdirSync(units, { recursive: true })
  .filter((path) => path.endsWith('.test.js'))
  .sort()
  .map((path) => ({ path, bytes: statSync(join(units, path)).size }));
const total = files.reduce((sum, { bytes }) => sum + bytes, 0);

// Neighbours stay together: they load the same.
const groups = Array.from({ length: GROUPS }, () => []);
let before = 0;
for (const { path, bytes } of files) {
  groups[Math.floor((before / total) * GROUPS)].push(path);
  before += bytes;
}

rmSync(grouped, { recursive: true, force: true });
mkdirSync(grouped, { recursive: true });
for (const [index, paths] of groups.entries()) {
  const folders = [...new Set(paths.map((path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : 'house')))];
  const imports = paths.map((path) => `import '../test/unit/${path}';\n`);
  const group = `${index + 1}-${folders.join('-')}`;
  writeFileSync(join(grouped, `${group}.js`), imports.join(''));
  const first = WAITED_FOR.map((path) => `await import('../${path}.js');\n`);
  writeFileSync(join(grouped, `${group}.test.js`), [...first, `await import('./${group}.js');\n`].join(''));
}
