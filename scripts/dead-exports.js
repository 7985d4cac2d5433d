// Finds what nothing uses: files that no program leads to, and exports that no other file imports. Part of `npm run lint`.
// What only tests import counts as unused, unless a line in `scripts/dead-exports.json` says why it is there. Reads source as
// text: it runs before anything is compiled, and needs nothing but Node.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blank } from './source-text.js';

/** The repository, or the folder that is given. */
const ROOT = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const PRODUCT = ['actors', 'api', 'bin', 'config', 'rendering', 'runtime', 'storage', 'transport', 'values'];
const TOOLS = ['bench'];
const TESTS = ['test'];
/** What only tests run, although it stands beside what it stands in for. */
const SIMULATION = 'runtime/simulation/';
/** `files`: programs, which nothing imports; `exports`: `file#name`. Each with the reason. */
const EXCEPTIONS = JSON.parse(readFileSync(join(ROOT, 'scripts/dead-exports.json'), 'utf8'));

const DECLARED =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|class|const|let|interface|type) +([A-Za-z_$][\w$]*)/gm;
const TYPE_KINDS = new Set(['interface', 'type']);
const LISTED = /^export (?:type )?\{([^}]*)\}(?: from ('[^']*'))?/gm;
const IMPORTED = /^import (type )?([^;'"]*?) from '([^']+)'/gm;
const LOADED = /(?:const \{([^}]*)\} = await )?import\('(\.[^']+)'\)(?:\)\.([\w$]+))?/g;
const BY_ADDRESS = /new URL\('(\.[^']+)\.js', import\.meta\.url\)/g;

/** The names in `a, type b, c as d`, by what they are called where they come from. */
function namesIn(list) {
  return list
    .split(',')
    .map((one) => one.trim().replace(/^type /, ''))
    .filter((one) => one !== '')
    .map((one) => one.split(/ as |: /)[0].trim());
}

function sourcesIn(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => posix.join(folder, name.split(sep).join('/')));
}

/** What a file offers and what it takes: `uses` is file → names, `*` for all of them. */
function scan(path) {
  const { code, bare } = blank(readFileSync(join(ROOT, path), 'utf8'));
  const resolve = (specifier) => posix.join(posix.dirname(path), specifier);
  const offered = new Map([...bare.matchAll(DECLARED)].map(([, kind, name]) => [name, TYPE_KINDS.has(kind)]));
  const uses = new Map();
  const use = (file, names) => uses.set(file, [...(uses.get(file) ?? []), ...names]);
  for (const [, list, from] of code.matchAll(LISTED)) {
    for (const one of list.split(',').map((part) => part.trim())) {
      const name = one
        .replace(/^type /, '')
        .split(' as ')
        .at(-1)
        .trim();
      if (name !== '') offered.set(name, one.startsWith('type '));
    }
    if (from !== undefined) use(resolve(from.slice(1, -1)), namesIn(list));
  }
  for (const [, , clause, specifier] of code.matchAll(IMPORTED)) {
    if (!specifier.startsWith('.')) continue;
    const star = /^\* as ([\w$]+)$/.exec(clause.trim());
    const names = star ? membersOf(bare, star[1]) : namesIn((/\{([^}]*)\}/.exec(clause) ?? ['', ''])[1]);
    use(resolve(specifier), names);
  }
  for (const [, list, specifier, member] of code.matchAll(LOADED)) {
    use(resolve(specifier), list !== undefined ? namesIn(list) : member !== undefined ? [member] : ['*']);
  }
  for (const [, address] of code.matchAll(BY_ADDRESS)) use(`${resolve(address)}.ts`, ['*']);
  // Its own address is given to a thread, which loads it.
  if (/Url: import\.meta\.url/.test(code)) use(path, ['*']);
  return { path, offered, uses, bare };
}

function membersOf(bare, name) {
  return [...bare.matchAll(new RegExp(`\\b${name}\\.([\\w$]+)`, 'g'))].map(([, member]) => member);
}

const files = new Map([...PRODUCT, ...TOOLS, ...TESTS].flatMap(sourcesIn).map((path) => [path, scan(path)]));
const isTest = (path) => path.startsWith('test/') || path.startsWith(SIMULATION);
/** Tests make tests live; only the product and its tools make the product live. */
const counts = (user, file) => isTest(file) || !isTest(user);

const used = new Map([...files.keys()].map((path) => [path, new Set()]));
const byTests = new Map([...files.keys()].map((path) => [path, new Set()]));
for (const { path, uses } of files.values()) {
  for (const [file, names] of uses) {
    const users = counts(path, file) ? used : byTests;
    for (const name of names) users.get(file)?.add(name);
  }
}

function reached() {
  const seen = new Set();
  const open = [...files.keys()].filter((path) => path.endsWith('.test.ts') || path in EXCEPTIONS.files);
  while (open.length > 0) {
    const path = open.pop();
    if (seen.has(path) || !files.has(path)) continue;
    seen.add(path);
    for (const file of files.get(path).uses.keys()) if (counts(path, file)) open.push(file);
  }
  return seen;
}

const problems = [];
const live = reached();
for (const { path, offered, bare } of files.values()) {
  if (!live.has(path)) problems.push(`${path}: no program${isTest(path) ? ' or test' : ''} leads to this file`);
  if (used.get(path).has('*') || !live.has(path)) continue;
  for (const [name, isType] of offered) {
    if (used.get(path).has(name) || `${path}#${name}` in EXCEPTIONS.exports) continue;
    const isUsedHere =
      [...bare.matchAll(new RegExp(`(?<![\\w$]|(?<!\\.)\\.)${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))].length > 1;
    // A type that describes what the file offers is part of it.
    if (isType && isUsedHere) continue;
    const isTested = !isTest(path) && byTests.get(path)?.has(name);
    const by = isUsedHere ? 'used in this file only' : 'not used';
    problems.push(`${path}: ${name} is exported and ${by}${isTested ? ', but for tests' : ''}`);
  }
}
for (const path of Object.keys(EXCEPTIONS.files)) {
  if (!existsSync(join(ROOT, path))) problems.push(`scripts/dead-exports.json: there is no ${path}`);
}
for (const one of Object.keys(EXCEPTIONS.exports)) {
  const [path, name] = one.split('#');
  if (!files.get(path)?.offered.has(name)) problems.push(`scripts/dead-exports.json: there is no ${one}`);
}
for (const problem of problems.sort()) console.log(problem);
if (problems.length > 0) process.exit(1);
