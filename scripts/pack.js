// Packs the server into one file, which its threads load many times faster than a thousand modules: most of a start was
// finding, reading and linking those. Beside it lies what V8 makes of it when it compiles it. `dist` keeps the modules too,
// for tests and for who embeds a part. Run after the compiler; the program that it makes of `dist/bin/orch.js` is the packed one.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lineTable } from './line-table.js';

const scripts = dirname(fileURLToPath(import.meta.url));
const root = dirname(scripts);
const packed = join(root, 'dist', 'packed');
const program = join(packed, 'program.cjs');
/** Characters after which a line is broken: a stack is to be readable where nobody translates it. */
const LINE_LENGTH = 120;

/** What is loaded by its address: the command, and what threads begin with. */
const ENTRIES = [
  'bin/orch',
  'runtime/thread',
  'runtime/job-thread',
  'actors/roster',
  'rendering/job-functions',
  'actors/ingress/paths/openapi-worker',
  'actors/admission/check-worker',
];
/** What a start evaluates, and what does nothing when it is evaluated without one. */
const WARM = ['bin/serve', 'actors/roster'];
const fileNameOf = (entry) => entry.slice(entry.lastIndexOf('/') + 1);
const importOf = (entry) => `import('./${entry}.ts')`;

/** The load generator is no part of the server: its processes are started from their own files. */
const benchOutside = {
  name: 'bench-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/bench\// }, ({ path }) => ({ path: path.replace(/\.ts$/, '.js'), external: true }));
  },
};

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  plugins: [benchOutside],
  logLevel: 'warning',
};

/** What each entry exports, by its path. */
async function exportsOfEntries() {
  const entryPoints = ENTRIES.map((entry) => `${entry}.ts`);
  const options = { format: 'esm', outdir: packed, write: false, metafile: true };
  const { metafile } = await build({ ...shared, ...options, entryPoints });
  return new Map(
    Object.values(metafile.outputs)
      .filter(({ entryPoint }) => entryPoint !== undefined)
      .map((output) => [output.entryPoint.replace(/\.ts$/, ''), output.exports]),
  );
}

async function packProgram() {
  const loads = ENTRIES.map((entry, i) => `export const load${i} = () => ${importOf(entry)};\n`);
  const warm = `export const warm = () => Promise.all([${WARM.map(importOf).join(', ')}]);\n`;
  const stdin = { contents: loads.join('') + warm, resolveDir: root, sourcefile: 'program.ts', loader: 'ts' };
  await build({
    ...shared,
    stdin,
    outfile: program,
    // A module that V8 has compiled cannot be kept before Node 22, a script can: see program.js.
    format: 'cjs',
    define: { 'import.meta.url': 'programUrl' },
    // What is left out is held in memory by no thread.
    minifyWhitespace: true,
    lineLimit: LINE_LENGTH,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  // Whatever the program imports from outside of it comes through the loader: a script's own imports need a flag of Node.
  const text = readFileSync(program, 'utf8');
  writeFileSync(program, text.replaceAll(/\bimport\(/g, 'loader('));
  const sourceMap = JSON.parse(readFileSync(`${program}.map`, 'utf8'));
  const table = lineTable(sourceMap, (source) => relative(root, join(packed, source)));
  writeFileSync(join(packed, 'program.lines.json'), JSON.stringify(table));
}

const exported = await exportsOfEntries();
await packProgram();
copyFileSync(join(scripts, 'program.js'), join(packed, 'program.js'));
for (const [i, entry] of ENTRIES.entries()) {
  const lines = ["import { program } from './program.js';", `const module = await program.load${i}();`];
  for (const name of exported.get(entry)) {
    lines.push(name === 'default' ? 'export default module.default;' : `export const ${name} = module.${name};`);
  }
  writeFileSync(join(packed, `${fileNameOf(entry)}.js`), `${lines.join('\n')}\n`);
}
const { status } = spawnSync(process.execPath, [join(packed, 'program.js'), 'warm'], { stdio: ['ignore', 2, 2] });
if (status !== 0) throw new Error('the packed program cannot be evaluated');
const command = join(root, 'dist', 'bin', 'orch.js');
writeFileSync(command, "#!/usr/bin/env node\nimport '../packed/orch.js';\n");
chmodSync(command, 0o755);
