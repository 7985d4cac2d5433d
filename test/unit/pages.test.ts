// Goal: what README, ARCHITECTURE and the pages of docs/ name is there: files, folders, links, options, workloads, targets. A reader
// who follows a page is never led to something that was renamed.
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, posix } from 'node:path';
import test from 'ava';
import { usage as benchUsage } from '../../bench/options.ts';
import { OPTIONS } from '../../config/options.ts';
import { ROOT, readText, sourceFiles } from './source-tree.ts';

const PAGES = ['README.md', 'ARCHITECTURE.md', ...readdirSync(`${ROOT}docs`).filter(isPage).map(inDocs)];
function isPage(name: string): boolean {
  return name.endsWith('.md');
}
function inDocs(name: string): string {
  return `docs/${name}`;
}

const FOLDERS = [
  'actors',
  'api',
  'bench',
  'bin',
  'config',
  'docs',
  'rendering',
  'runtime',
  'scripts',
  'storage',
  'test',
];
const FILES = [...FOLDERS, 'transport', 'values', 'packaging'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => posix.join(folder, name)),
);

/** A heading as GitHub makes an anchor of it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

test('every link of a page leads to a file, and to a heading of it', (t) => {
  for (const page of PAGES) {
    for (const [, link] of readText(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (link!.startsWith('https://')) continue;
      const [path = '', anchor] = link!.split('#');
      const target = path === '' ? page : posix.join(dirname(page), path);
      t.true(existsSync(`${ROOT}${target}`), `${page}: ${link}`);
      if (anchor === undefined) continue;
      const headings = [...readText(target).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
      t.true(headings.includes(anchor), `${page}: ${link}`);
    }
  }
});

test('every page of docs is linked from the README or from ARCHITECTURE', (t) => {
  const linked = readText('README.md') + readText('ARCHITECTURE.md');
  for (const page of PAGES.slice(2)) t.true(linked.includes(`(${page})`), page);
});

test('the table of folders in ARCHITECTURE names every folder in those whose insides it lists, and no other', (t) => {
  for (const folder of ['bin', 'runtime', 'storage', 'transport']) {
    const [, row = ''] = new RegExp(`^\\| \`${folder}/\` +\\|([^|]+)\\|`, 'm').exec(readText('ARCHITECTURE.md'))!;
    const named = [...row.matchAll(/`([^`]+)`/g)].flatMap(([, names]) => names!.split(' '));
    const inside = readdirSync(`${ROOT}${folder}`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    t.deepEqual(named.toSorted(), inside.map(({ name }) => name).toSorted(), folder);
  }
});

/** Files that readers or the build make, and packages that are called like one. */
const NO_FILES = ['pod.yaml', 'program.ts', 'scheduler.yaml', 'spare-gpus.mjs', 'uWebSockets.js'];

test('every source file that a page names is there', (t) => {
  for (const page of PAGES) {
    for (const [, code] of readText(page).matchAll(/`([^`\n]+)`/g)) {
      for (const [name] of code!.matchAll(/[\w./<>*-]+\.(?:ts|js|mjs|cjs|json|py|c|yaml)(?![\w.])/g)) {
        const path = name.replace(/^(?:\.\.?\/)+/, '').replace(/^dist\/(.*)\.js$/, '$1.ts');
        if (/[<*]/.test(path) || NO_FILES.includes(basename(path))) continue;
        t.true(existsSync(`${ROOT}${path}`) || FILES.some((file) => file.endsWith(`/${path}`)), `${page}: ${name}`);
      }
    }
  }
});

/** Files that are not in the repository, and examples of names. */
const NOT_HERE = ['SPEC.md', 'program.js', 'hub.js', 'placement.wide.json', 'profile.proto', 'kv.proto', 'rpc.proto'];

test('every file that a comment of the source names is there', (t) => {
  const product = [...FOLDERS, 'transport', 'values'].filter((folder) => folder !== 'docs' && folder !== 'test');
  for (const { path, text } of product.flatMap(sourceFiles)) {
    for (const [, comment] of text.matchAll(/(?:^|\s)(?:\/\/|\/?\*\*?) (.*)/gm)) {
      for (const [name] of comment!.matchAll(/[\w./-]+\.(?:ts|js|md|json|proto)(?![\w.])/g)) {
        const file = name.replace(/^(?:\.{0,2}\/)+/, '').replace(/^dist\/(.*)\.js$/, '$1.ts');
        if (NOT_HERE.includes(basename(file)) || /^(?:Node|uWebSockets)\.js$/.test(file)) continue;
        t.true(existsSync(`${ROOT}${file}`) || FILES.some((other) => other.endsWith(`/${file}`)), `${path}: ${name}`);
      }
    }
  }
});

/** Of the project's own commands that have a syntax of their own. */
const COMMAND_OPTIONS = ['effects', 'once', 'log-file', 'pod', 'to', 'help'];
/** Of `npm run simulate`, `crash`, `fuzz`, `soak`, `clients`, `audit-load` and `differential`. */
const RUN_OPTIONS = [
  ...['seeds', 'first', 'jobs', 'servers', 'seed', 'shrink', 'drop-unsynced', 'inputs', 'target', 'replay', 'minutes'],
  ...['events', 'original', 'cases', 'types', 'case', 'custom', 'requests', 'stories', 'owners'],
];
/** Of kubectl, kubemark, the original's controller manager, etcd, etcdctl, useradd, systemctl and V8. */
const OTHERS_OPTIONS = [
  ...['from-literal', 'image', 'raw', 'name', 'morph', 'kubelet-port', 'service-account-private-key-file', 'prefix'],
  ...[
    'max-request-bytes',
    'system',
    'now',
    'no-parallel-scavenge',
    'max-old-space-size',
    'leader-elect',
    'kubeconfig',
    'root-ca-file',
  ],
  'cluster-signing-cert-file',
  ...['as', 'as-group', 'as-uid'],
];

test('every option that a page names is there', (t) => {
  const known = new Set([
    ...OPTIONS.flatMap(({ name, aliases = [], formerNames = [] }) => [name, ...aliases, ...formerNames]),
    ...[...benchUsage([]).matchAll(/^ +--(\S+)/gm)].map(([, name]) => name!),
    ...[...COMMAND_OPTIONS, ...RUN_OPTIONS, ...OTHERS_OPTIONS],
  ]);
  for (const page of PAGES) {
    for (const [, name = '', star] of readText(page).matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)(\*?)/g)) {
      const isThere = star === '*' ? [...known].some((each) => each.startsWith(name)) : known.has(name);
      t.true(isThere, `${page}: --${name}`);
    }
  }
});

test('the tables of workloads and of fuzzed targets have a row for each there is, and no other', async (t) => {
  const rowsOf = (page: string, title: string): readonly string[] => {
    const table = new RegExp(`^\\| ${title} +\\|.*\n\\|[- |]+\n((?:\\|.*\n)+)`, 'm').exec(readText(page))![1]!;
    const cells = [...table.matchAll(/^\| ([^|]+)\|/gm)].map(([, cell]) => cell!);
    return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  };
  const workloads = sourceFiles('bench').flatMap(({ text }) =>
    [...text.matchAll(/^ {2}name: '([\w-]+)',\n {2}summary:/gm)].map(([, name]) => name!),
  );
  t.deepEqual(rowsOf('docs/TUNING.md', 'Workload').toSorted(), workloads.toSorted());
  // Asked for here: what it loads waits for others, and tests have to be declared at once.
  const { SOCKET_TARGETS, TARGETS } = await import('../fuzz/targets.ts');
  const targets = [...TARGETS, ...SOCKET_TARGETS].map(({ name }) => name);
  t.deepEqual(rowsOf('docs/RELIABILITY.md', 'Target').toSorted(), targets.toSorted());
});
