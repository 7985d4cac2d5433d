// What `npm pack` puts in: what the program reads where it is installed, and nothing that only its making needs. Method: a folder
// with one small file for each kind of ours.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import { ROOT } from './source-tree.ts';

const READ = [
  'LICENSE',
  'README.md',
  'api/schema/core_v1.proto',
  'bench/budgets.json',
  'bench/scheduling/plain.json',
  'config/placement.default.json',
  'dist/actors/hub/hub.js',
  'dist/bin/orch.cjs',
  'dist/packed/orch.js',
  'docs/OPTIONS.md',
  'packaging/orch.service',
];
const NOT_READ = [
  'actors/hub/hub.ts',
  'api/schema/schema.ts',
  'bench/scheduling/cases.ts',
  'dist/test/unit/tidy.test.js',
  'dist/unit/1-admission.test.js',
  'scripts/pack.js',
  'test/fixtures/a.json',
  'tsconfig.json',
];

test('the package has what the program reads, and neither tests nor sources', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const file of [...READ, ...NOT_READ]) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(told) as [{ files: { path: string }[] }];
  t.deepEqual(packed.files.map(({ path }) => path).sort(), [...READ, 'package.json'].sort());
});
