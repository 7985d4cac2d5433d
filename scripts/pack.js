// Packs the server into files of which each thread loads one, many times faster than a thousand modules: most of a start was
// finding, reading and linking those. Each kind of thread has its own, for what others run is only more to read; beside each lies
// what V8 makes of it when it compiles it (rehearsal.js). `dist` keeps the modules too, for tests and for who embeds a part.
// Run after the compiler; the program that it makes of `dist/bin/orch.js` is the packed one.
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lineTable } from './line-table.js';
import { rehearse } from './rehearsal.js';
import { sourceRevision } from './source-revision.js';

const scripts = dirname(fileURLToPath(import.meta.url));
const root = dirname(scripts);
const packed = join(root, 'dist', 'packed');
/** Characters after which a line is broken: a stack is to be readable where nobody translates it. */
const LINE_LENGTH = 120;

/** What threads load by its address, each with what it begins with. */
const THREAD = ['runtime/threads/thread', 'actors/roster'];
const JOBS = [
  'runtime/jobs/job-thread',
  'rendering/job-functions',
  'actors/ingress/paths/openapi-worker',
  'actors/admission/check-worker',
];
/** The command, and what the rehearsal calls of it. */
const MAIN = ['bin/orch', 'bin/serve'];
/** Packages that stay outside: those with a binary, and one that finds the file of its threads by where it lies itself. */
const OUTSIDE = ['uWebSockets.js', 'uWebSockets.js-node24', 'classic-level/binding.js', 'piscina'];
const fileNameOf = (entry) => entry.slice(entry.lastIndexOf('/') + 1);

/**
 * Modules of Node's own that a start asks for and does not use, or not in every thread: each is compiled, and what it is made of as
 * well, when one of its exports is asked for. `laterOn` is as long as what it stands for: nothing moves from where the map says it is.
 */
const LATER =
  /(=\s*)require(\("(?:node:)?(?:assert|child_process|dns|fs\/promises|https?|http2|inspector(?:\/promises)?|net|readline|stream\/promises|tls)"\))/g;

/**
 * The global variables that work goes by: Node has functions to answer with them, which optimized code calls each time. Constants of the
 * program's function are read at once.
 */
const GLOBALS = 'const { Buffer, process } = globalThis;';

/** The load generator is no part of the server: its processes are started from their own files. */
const benchOutside = {
  name: 'bench-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/bench\// }, ({ path }) => ({ path: path.replace(/\.ts$/, '.js'), external: true }));
  },
};

/** LevelDB's package finds its binary by where it lies itself, too; the rest of it is packed. */
const bindingOutside = {
  name: 'binding-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      importer.includes('classic-level') ? { path: 'classic-level/binding.js', external: true } : undefined,
    );
  },
};

/** Leaves out of a program what `importer` loads when asked for and a thread of this kind never asks for. */
const without = (importer, isAsked) => ({
  name: 'without',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ path, importer: from, kind }) => {
      const isLeftOut = kind === 'dynamic-import' && from === join(root, importer) && !isAsked(path);
      return isLeftOut ? { path, external: true } : undefined;
    });
  },
});
const withActors = (actors) => without('actors/roster.ts', (path) => actors.includes(path.split('/')[1]));
const WITHOUT_COMMANDS = without('bin/orch.ts', (path) => path === './serve.ts');

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: OUTSIDE,
  logLevel: 'warning',
};

/** What each entry exports, by its path. */
async function exportsOf(entries) {
  const entryPoints = entries.map((entry) => `${entry}.ts`);
  const options = { format: 'esm', outdir: packed, write: false, metafile: true };
  const { metafile } = await build({ ...shared, ...options, entryPoints, plugins: [benchOutside, bindingOutside] });
  return new Map(
    Object.values(metafile.outputs)
      .filter(({ entryPoint }) => entryPoint !== undefined)
      .map((output) => [output.entryPoint.replace(/\.ts$/, ''), output.exports]),
  );
}

/** esbuild escapes what stands in texts, and leaves regular expressions as they are. */
function asciiOf(text) {
  return text.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Makes the program of a role: a script whose exports are functions to load its entries. */
async function packProgram(role, entries, plugins = []) {
  const program = join(packed, `${role}.cjs`);
  const loads = entries.map((entry) => `'${fileNameOf(entry)}': () => require('./${entry}.ts'),\n`);
  const contents = `module.exports = {\n${loads.join('')}};\n`;
  await build({
    ...shared,
    stdin: { contents, resolveDir: root, sourcefile: 'program.ts', loader: 'ts' },
    plugins: [benchOutside, bindingOutside, ...plugins],
    outfile: program,
    // A module that V8 has compiled cannot be kept before Node 22, a script can: see load-program.cjs.
    format: 'cjs',
    banner: {
      js: `(function (exports, require, module, programUrl, importOutside, laterOn) { 'use strict'; ${GLOBALS}`,
    },
    footer: { js: '})' },
    define: { 'import.meta.url': 'programUrl' },
    // What is left out is held in memory by no thread.
    minifyWhitespace: true,
    lineLimit: LINE_LENGTH,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  // Whatever the program imports from outside of it comes through the loader: a script's own imports need a flag of Node.
  const text = readFileSync(program, 'utf8');
  const outside = text.replaceAll(/\bimport\(/g, 'importOutside(').replaceAll(LATER, '$1laterOn$2');
  writeFileSync(program, asciiOf(outside));
  const sourceMap = JSON.parse(readFileSync(`${program}.map`, 'utf8'));
  const table = lineTable(sourceMap, (source) => relative(root, join(packed, source)));
  writeFileSync(join(packed, `${role}.lines`), table);
}

/** One for each kind of thread of the placement that a server has unless told otherwise, and one for threads of all others. */
async function packPrograms() {
  const { threads } = JSON.parse(readFileSync(join(root, 'config', 'placement.default.json'), 'utf8'));
  await packProgram('serve', MAIN, [WITHOUT_COMMANDS]);
  await packProgram('command', MAIN);
  await packProgram('job', JOBS);
  await packProgram('any', THREAD);
  for (const { actors } of threads) await packProgram(actors.join('-'), THREAD, [withActors(actors)]);
}

/** V8's flags, which are to be the same wherever the program is loaded: what V8 compiled under others is refused. */
async function packFlags() {
  const contents = "import { setV8Flags } from './bin/v8-flags.ts';\nsetV8Flags();\nexport { setV8Flags };\n";
  const stdin = { contents, resolveDir: root, sourcefile: 'flags.ts', loader: 'ts' };
  await build({ ...shared, stdin, outfile: join(packed, 'flags.js'), format: 'cjs' });
}

/** The file that an entry is loaded by. */
function writeEntry(entry, names) {
  const file = fileNameOf(entry);
  const lines = entry === 'bin/orch' ? ["require('./flags.js');"] : [];
  lines.push(`const module_ = require('./program.js').program['${file}']();`);
  for (const name of names) {
    lines.push(name === 'default' ? 'module.exports = module_.default;' : `exports.${name} = module_.${name};`);
  }
  writeFileSync(join(packed, `${file}.js`), `${lines.join('\n')}\n`);
}

rmSync(packed, { recursive: true, force: true });
writeFileSync(join(root, 'dist', 'build.json'), `${JSON.stringify(sourceRevision(root))}\n`);
const entries = [...MAIN, ...THREAD, ...JOBS];
const exported = await exportsOf(entries);
await packPrograms();
await packFlags();
writeFileSync(join(packed, 'package.json'), '{ "type": "commonjs" }\n');
copyFileSync(join(scripts, 'load-program.cjs'), join(packed, 'program.js'));
for (const entry of entries) writeEntry(entry, exported.get(entry));
await rehearse();
// By CommonJS, which a process needs no loader of modules for.
const command = join(root, 'dist', 'bin', 'orch.cjs');
writeFileSync(command, "#!/usr/bin/env node\nrequire('../packed/orch.js');\n");
chmodSync(command, 0o755);
writeFileSync(join(root, 'dist', 'bin', 'orch.js'), "#!/usr/bin/env node\nimport './orch.cjs';\n");
