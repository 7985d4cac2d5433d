// The lint of dead files and exports, over small trees: what it finds, and what counts as a use.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const LINT = fileURLToPath(new URL('../../../scripts/dead-exports.js', import.meta.url));

type Tree = Readonly<Record<string, string>>;

const EXCEPTIONS = { files: { 'bin/orch.ts': 'the program' }, exports: {} };

function problemsOf(tree: Tree, exceptions: object = EXCEPTIONS): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'orch-dead-'));
  try {
    const files = { ...tree, 'scripts/dead-exports.json': JSON.stringify(exceptions) };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const { stdout, status, stderr } = spawnSync(process.execPath, [LINT, root], { encoding: 'utf8' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    if (stderr !== '' || (status === 0) !== (lines.length === 0)) throw new Error(`${status}: ${stdout}${stderr}`);
    return lines;
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('a use is an import by name, of a namespace member, when it is needed, and by address', (t) => {
  const tree = {
    'bin/orch.ts': [
      "import { a, type T } from '../api/a.ts';",
      "import * as all from '../api/b.ts';",
      "const { c } = await import('../api/c.ts');",
      "const d = (await import('../api/d.ts')).d;",
      "const e = new URL('../api/e.js', import.meta.url);",
      'console.log(a, all.b, c, d, e, {} as T);',
    ].join('\n'),
    'api/a.ts': 'export const a = 1;\nexport interface T { readonly t: U }\nexport type U = string;\n',
    'api/b.ts': 'export function b() {}\n',
    'api/c.ts': 'export const c = 1;\n',
    'api/d.ts': 'export async function d() {}\n',
    'api/e.ts': 'export class E {}\n',
  };
  t.deepEqual(problemsOf(tree), []);
});

test('a file that no program leads to is found, and one that only tests lead to', (t) => {
  const tree = {
    'bin/orch.ts': 'console.log(1);\n',
    'api/alone.ts': 'export const a = 1;\n',
    'api/tested.ts': 'export const b = 1;\n',
    'test/tested.test.ts': "import { b } from '../api/tested.ts';\nconsole.log(b);\n",
    'test/fixture.ts': 'export const c = 1;\n',
  };
  t.deepEqual(problemsOf(tree), [
    'api/alone.ts: no program leads to this file',
    'api/tested.ts: no program leads to this file',
    'test/fixture.ts: no program or test leads to this file',
  ]);
});

test('an export is found that nothing uses, that its own file uses, and that tests use, unless it is listed', (t) => {
  const tree = {
    'bin/orch.ts': "import { used } from '../api/a.ts';\nconsole.log(used);\n",
    'api/a.ts': [
      "export const used = 1, text = 'unused here';",
      'export const unused = 2; // unused',
      'export const own = 3;',
      'export const tested = own;',
      'export type Lonely = string;',
      '',
    ].join('\n'),
    'test/a.test.ts': "import { tested } from '../api/a.ts';\nconsole.log(tested);\n",
  };
  t.deepEqual(problemsOf(tree), [
    'api/a.ts: Lonely is exported and not used',
    'api/a.ts: own is exported and used in this file only',
    'api/a.ts: tested is exported and not used, but for tests',
    'api/a.ts: unused is exported and not used',
  ]);
  const listed = { ...EXCEPTIONS, exports: { 'api/a.ts#tested': 'a reason' } };
  t.is(problemsOf(tree, listed).length, 3);
});

test('a line for what is not there is found', (t) => {
  const tree = {
    'bin/orch.ts': "import { a } from '../api/a.ts';\nconsole.log(a);\n",
    'api/a.ts': 'export const a = 1;\n',
  };
  const exceptions = {
    files: { ...EXCEPTIONS.files, 'bin/gone.ts': '' },
    exports: { 'api/a.ts#gone': '' },
  };
  t.deepEqual(problemsOf(tree, exceptions), [
    'scripts/dead-exports.json: there is no api/a.ts#gone',
    'scripts/dead-exports.json: there is no bin/gone.ts',
  ]);
});
