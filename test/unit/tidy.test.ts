// The rules of the house that no linter knows: which folder may import which, who may spell a brand, what actors may not
// call, and how files are named and sized.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { functionLengths, switchesOver } from './code-shape.ts';
import { lineAt, ROOT, readText, type SourceFile, sourceFiles } from './source-tree.ts';

/** A folder, and those it may import besides itself. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  bin: ['actors', 'rendering', 'transport', 'storage', 'runtime', 'api', 'config', 'values', 'bench'],
  actors: ['rendering', 'transport', 'storage', 'runtime', 'api', 'config', 'values'],
  rendering: ['transport', 'storage', 'runtime', 'api', 'config', 'values'],
  transport: ['runtime', 'api', 'config', 'values'],
  storage: ['runtime', 'api', 'config', 'values'],
  runtime: ['api', 'config', 'values'],
  api: ['config', 'values'],
  config: ['values'],
  values: [],
};

const PRODUCT = Object.keys(FOLDERS).flatMap((folder) => sourceFiles(folder));
const BENCH = existsSync(join(ROOT, 'bench')) ? sourceFiles('bench') : [];
const OTHERS = [...sourceFiles('test'), ...BENCH];
const ALL = [...PRODUCT, ...OTHERS];

const folderOf = (path: string): string => path.slice(0, path.indexOf('/'));

/** Where in files a pattern is found, as `path:line: what`. */
function found(files: readonly SourceFile[], part: 'code' | 'bare', pattern: RegExp): string[] {
  return files.flatMap((file) =>
    [...file[part].matchAll(pattern)].map((match) => `${file.path}:${lineAt(file.text, match.index)}: ${match[0]}`),
  );
}

test('there is source to look at', (t) => {
  t.true(PRODUCT.length > 100);
  t.true(PRODUCT.every(({ path }) => existsSync(join(ROOT, path))));
});

test('the patterns of these tests find what they look for', (t) => {
  const of = (path: string): SourceFile[] => PRODUCT.filter((file) => file.path === path);
  t.true(found(of('config/dialect.ts'), 'code', BRAND).length >= 5);
  t.true(found(of('runtime/real-environment.ts'), 'bare', IMPURE).length >= 5);
  t.true(found(of('runtime/real-environment.ts'), 'code', FILES).length >= 1);
  t.true(PRODUCT.some(({ imports }) => imports.some(({ specifier }) => specifier === 'level')));
});

test('imports point one way between the top-level folders', (t) => {
  const wrong = PRODUCT.flatMap(({ path, imports }) =>
    imports
      .filter((one) => one.path !== undefined)
      .filter((one) => {
        const [from, to] = [folderOf(path), folderOf(one.path!)];
        return from !== to && !FOLDERS[from]!.includes(to);
      })
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
  t.deepEqual(wrong, []);
});

test('no file imports itself by way of others', (t) => {
  t.deepEqual(circles(new Map([...PRODUCT, ...BENCH].map(({ path, imports }) => [path, pathsOf(imports)]))), []);
  t.deepEqual(circles(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b'], d: ['a'], e: ['e'] }))), ['c b', 'e']);
});

function pathsOf(imports: SourceFile['imports']): string[] {
  return imports.flatMap(({ path }) => (path === undefined ? [] : [path]));
}

/** The groups of files each of which leads to all of its group (Tarjan's strongly connected components). */
function circles(importsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const open: string[] = [];
  const lowest = new Map<string, number>();
  const visit = (path: string): number => {
    const own = lowest.size;
    let low = own;
    lowest.set(path, own);
    open.push(path);
    for (const to of importsOf.get(path) ?? []) {
      if (!lowest.has(to)) low = Math.min(low, visit(to));
      else if (open.includes(to)) low = Math.min(low, lowest.get(to)!);
    }
    lowest.set(path, low);
    if (low < own) return low;
    const group = open.splice(open.indexOf(path));
    if (group.length > 1 || importsOf.get(path)?.includes(path)) found.push(group.reverse().join(' '));
    return low;
  };
  for (const path of importsOf.keys()) if (!lowest.has(path)) visit(path);
  return found;
}

/** Actors ask each other both ways: what holds among their folders is another test's. */
const BOTH_WAYS = new Set(['actors/']);

test('what lies side by side in a folder, files and folders, imports one way', (t) => {
  const files = [...PRODUCT, ...BENCH].map(({ path, imports }) => ({ path, to: pathsOf(imports) }));
  const parents = new Set(files.flatMap(({ path }) => foldersAbove(path)));
  const wrong = [...parents]
    .filter((parent) => !BOTH_WAYS.has(parent))
    .flatMap((parent) => circles(importsBeside(files, parent)).map((group) => `${parent}: ${group}`));
  t.deepEqual(wrong, []);
  const example = [
    { path: 'a/b/c.ts', to: ['a/d.ts', 'e.ts'] },
    { path: 'a/d.ts', to: ['a/b/f.ts'] },
  ];
  t.deepEqual(circles(importsBeside(example, 'a/')), ['d.ts b']);
});

/** The folders that a file lies in, each with its slash; the project's is empty. */
function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_, at) => `${parts.slice(0, at + 1).join('/')}/`)];
}

/** What each file or folder in `parent` imports of the others there. */
function importsBeside(
  files: readonly { readonly path: string; readonly to: readonly string[] }[],
  parent: string,
): ReadonlyMap<string, readonly string[]> {
  const nameOf = (path: string): string => path.slice(parent.length).split('/', 1)[0]!;
  const found = new Map<string, Set<string>>();
  for (const { path, to } of files.filter((file) => file.path.startsWith(parent))) {
    const name = nameOf(path);
    const others = found.get(name) ?? new Set();
    found.set(name, others);
    for (const other of to) if (other.startsWith(parent) && nameOf(other) !== name) others.add(nameOf(other));
  }
  return new Map([...found].map(([name, others]) => [name, [...others]]));
}

test('every import of ours is of a file that is there', (t) => {
  const missing = ALL.flatMap(({ path, imports }) =>
    imports
      .filter((one) => one.path !== undefined && !existsSync(join(ROOT, one.path.replace(/\.js$/, '.ts'))))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
  t.deepEqual(missing, []);
});

test('actors are known by their protocols alone', (t) => {
  const actors = new Set(PRODUCT.map(({ path }) => /^actors\/([^/]+)\/actor\.ts$/.exec(path)?.[1]));
  const folderIn = (path: string): string => /^actors\/([^/]+)\//.exec(path)?.[1] ?? '';
  const wrong = PRODUCT.filter(({ path }) => folderIn(path) !== '').flatMap(({ path, imports }) =>
    imports
      .filter(
        (one) => one.path !== undefined && actors.has(folderIn(one.path)) && folderIn(one.path) !== folderIn(path),
      )
      .filter((one) => !one.path!.endsWith('/protocol.ts'))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
  t.true(actors.has('hub'));
  t.deepEqual(wrong, []);
});

test('api, config and values do no I/O and know no clock and no chance', (t) => {
  const pure = PRODUCT.filter(({ path }) => ['api', 'config', 'values'].includes(folderOf(path)));
  const allowed = new Set(['node:buffer', 'node:crypto']);
  const wrong = pure.flatMap(({ path, imports }) =>
    imports
      .filter((one) => one.specifier.startsWith('node:') && !allowed.has(one.specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
  t.deepEqual([...wrong, ...found(pure, 'bare', IMPURE)], []);
});

/** Time, chance and disk: what actors take from their context. */
const IMPURE =
  /\bDate\.now\(|\bnew Date\(\)|\bset(?:Timeout|Interval|Immediate)\(|\bMath\.random\(|\brandomUUID\b|\brandomBytes\b|\bperformance\.now\(|\bprocess\.hrtime\b/g;
const FILES = /from '(?:node:)?(?:fs|fs\/promises|timers|timers\/promises|child_process)'/g;

test('actors take time, chance, timers and files from their context', (t) => {
  const actors = PRODUCT.filter(({ path }) => folderOf(path) === 'actors');
  t.deepEqual([...found(actors, 'bare', IMPURE), ...found(actors, 'code', FILES)], []);
});

/** What lays a view over a record's bytes, or is one. */
const VIEWS =
  /\b(?:valueView|bodyView|recordKeyBytes|valueStart)\b|\b(?:slab|record)s?\.(?:bytes|words)\b|\bslab\([^()]*\)\.(?:bytes|words)\b/g;

test('only the store and storage lay views over records: readers copy, or borrow one for a call', (t) => {
  const readers = PRODUCT.filter(({ path }) => !path.startsWith('storage/') && !path.startsWith('actors/store/'));
  t.deepEqual(found(readers, 'bare', VIEWS), []);
  t.true(found(PRODUCT, 'bare', VIEWS).length > 20);
});

/** Code that decides and does nothing else: folders, and files by their beginning. */
const DECIDERS: readonly string[] = [
  'actors/controllers/garbage/garbage-collector.ts',
  'actors/controllers/namespaces/namespace-contents.ts',
  'actors/controllers/namespaces/namespace-lifecycle.ts',
  'actors/controllers/garbage/owner',
  'actors/controllers/nodes/pod-garbage.ts',
  'actors/hub/watches/catch-up.ts',
  'actors/hub/watches/cohort',
  'actors/hub/frames/frames.ts',
  'actors/hub/lists/lists.ts',
  'actors/hub/caches/resource-cache',
  'actors/hub/selection.ts',
  'actors/scheduler/core/',
  'actors/scheduler/framework/',
  'actors/scheduler/nodes/',
  'actors/scheduler/objects/',
  'actors/scheduler/plugins/',
  'actors/scheduler/pods/',
  'actors/scheduler/profiles/',
  'actors/scheduler/topology/',
  'actors/store/commit-times.ts',
  'actors/store/log/history-window.ts',
  'actors/store/sequencing/pending-commits.ts',
  'actors/store/log/revision-log.ts',
  'actors/store/log/transaction-check.ts',
];
const DOES_MORE =
  /\bawait\b|\basync\b|\bPromise\b|\b[tT]imers?\b|\bActorContext\b|(?<!this)\.(?:ask|tell|then)\(|\bsetTimeout\b|from 'node:(?!buffer)/g;

test('deciders decide and do nothing else', (t) => {
  const deciders = PRODUCT.filter(({ path }) => DECIDERS.some((start) => path.startsWith(start)));
  for (const start of DECIDERS)
    t.true(
      deciders.some(({ path }) => path.startsWith(start)),
      `${start} is there`,
    );
  t.deepEqual(found(deciders, 'bare', DOES_MORE), []);
});

/** Who may spell a brand, and why. */
const BRAND_EXEMPT: Readonly<Record<string, string>> = {
  'config/dialect.ts': 'is the table of brands',
};
const BRAND_EXEMPT_FOLDERS: readonly string[] = ['config/options/'];
const BRAND = /orch\.io|k8s\.io|\bkubernetes|\bkube-|\bkubelet|orch-system|vnd\.orch|x-orch-/gi;

test('no brand is spelled but in the dialect table', (t) => {
  const files = PRODUCT.filter(
    ({ path }) => !(path in BRAND_EXEMPT) && !BRAND_EXEMPT_FOLDERS.some((folder) => path.startsWith(folder)),
  );
  t.deepEqual(found(files, 'code', BRAND), []);
});

test('files are named after what they own', (t) => {
  const vague = /(?:^|[-/])(?:utils?|helpers?|managers?|common|misc|shared-code)(?:[-./]|$)/;
  t.deepEqual(
    ALL.map(({ path }) => path).filter((path) => vague.test(path)),
    [],
  );
});

test('a file opens with lines that say what it is about', (t) => {
  const silent = PRODUCT.filter(({ text }) => !text.replace(/^#!.*\n/, '').startsWith('//')).map(({ path }) => path);
  t.deepEqual(silent, []);
});

const LINES_MAX = 400;
/** Longer files, and why. */
const LONG: Readonly<Record<string, string>> = {
  'api/schema/tables.ts': 'is generated',
};

test(`no file of the product is over ${LINES_MAX} lines`, (t) => {
  const long = PRODUCT.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX).map(({ path }) => path);
  t.deepEqual(long, Object.keys(LONG));
});

// In tests the linter wants a reason for each.
test('nothing of the product is of type any, and no check of the compiler is switched off', (t) => {
  const loose = /(?:[:<|&]\s*|\bas\s+)any\b(?!\s*[:(])|,\s*any\s*>/g;
  t.deepEqual(found(PRODUCT, 'bare', loose), []);
  const off = ALL.filter(({ text }) => /@ts-(?:ignore|nocheck)|biome-ignore-all/.test(text)).map(({ path }) => path);
  t.deepEqual(
    off.filter((path) => path !== 'test/unit/tidy.test.ts'),
    [],
  );
});

test('every dependency has a line that says why it is there, and no other has', (t) => {
  const { dependencies, devDependencies } = JSON.parse(readText('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const named = [...readText('docs/DEPENDENCIES.md').matchAll(/^- `([^`]+)`: \S/gm)].map(([, name]) => name);
  t.deepEqual(named, [...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})]);
});

test('packages are imported by the parts that own them', (t) => {
  const { dependencies = {} } = JSON.parse(readText('package.json')) as { dependencies?: Record<string, string> };
  const packages = new Set(
    PRODUCT.flatMap(({ imports }) => imports)
      .filter(({ specifier, path }) => path === undefined && !specifier.startsWith('node:'))
      .map(({ specifier }) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  );
  t.deepEqual([...packages].sort(), Object.keys(dependencies).sort());
});

test('who is told of what the store commits takes it in its flat form, and a place among its readers', (t) => {
  const told = PRODUCT.filter(({ path, code }) => /^actors\/\w+\//.test(path) && /case 'storeBatch'/.test(code));
  const actors = [...new Set(told.map(({ path }) => path.split('/', 2).join('/')))];
  t.true(actors.length >= 5);
  const facts = actors.map((actor) => PRODUCT.find(({ path }) => path === `${actor}/facts.ts`)!);
  t.deepEqual(
    facts.filter(({ code }) => !code.includes('flat: FEED_FORMS') || !code.includes("takes: ['reader']")),
    [],
  );
});

test('every switch over messages ends in a case for those there are not', (t) => {
  const actors = PRODUCT.filter(({ path }) => ['actors', 'runtime'].includes(folderOf(path)));
  const open = actors.flatMap((file) =>
    switchesOver(file.bare, /^[\w.]*\b(?:message|request|refusal|freshness)\.(?:type|verb|refused|kind)$/)
      .filter(({ body }) => !/\bdefault:\s*(?:return )?unreachable\(/.test(body))
      .map(({ at }) => `${file.path}:${lineAt(file.text, at)}`),
  );
  t.deepEqual(open, []);
  const handlers = actors.filter(({ bare }) => /^ {2}onMessage\([^;]*\{$/m.test(bare));
  t.true(handlers.length >= 9);
  t.deepEqual(
    handlers.filter(({ bare }) => !bare.includes('unreachable(')).map(({ path }) => path),
    [],
  );
});

const FUNCTION_LINES_MAX = 60;
/**
 * Functions that are longer, with their lines: what is here may shrink, and goes when it is short enough. Tests are not
 * counted: a suite is one function around all its tests.
 */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {};

test(`no function is over ${FUNCTION_LINES_MAX} lines, but for a list that only shrinks`, (t) => {
  const lengths = [...PRODUCT, ...OTHERS].filter(({ path }) => folderOf(path) !== 'test').flatMap(functionLengths);
  t.true(lengths.length > 4000, 'the scan finds functions');
  const long = lengths.filter(({ lines }) => lines > FUNCTION_LINES_MAX);
  const grown = long.filter(({ name, lines }) => lines > (LONG_FUNCTIONS[name] ?? FUNCTION_LINES_MAX));
  t.deepEqual(
    grown.map(({ name, lines }) => `${name} has ${lines} lines`),
    [],
  );
  const names = new Set(long.map(({ name }) => name));
  t.deepEqual(
    Object.keys(LONG_FUNCTIONS).filter((name) => !names.has(name)),
    [],
    'these are short enough now: take them off the list',
  );
});
