// Packs the server into one file, which its threads load many times faster than a thousand modules: most of a start was
// finding, reading and linking those. `dist` keeps the modules beside it, for tests and for who embeds a part. Run after the
// compiler; the program that it makes of `dist/bin/orch.js` is the packed one.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lineTable } from './line-table.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packed = join(root, 'dist', 'packed');
const PROGRAM = 'program';
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
];
const fileNameOf = (entry) => entry.slice(entry.lastIndexOf('/') + 1);

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
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  plugins: [benchOutside],
  // What is left out is held in memory by no thread.
  minifyWhitespace: true,
  lineLimit: LINE_LENGTH,
  logLevel: 'warning',
};

/** What each entry exports, by its path. */
async function exportsOfEntries() {
  const entryPoints = ENTRIES.map((entry) => `${entry}.ts`);
  const { metafile } = await build({ ...shared, entryPoints, outdir: packed, write: false, metafile: true });
  return new Map(
    Object.values(metafile.outputs)
      .filter(({ entryPoint }) => entryPoint !== undefined)
      .map((output) => [output.entryPoint.replace(/\.ts$/, ''), output.exports]),
  );
}

async function packProgram() {
  const contents = ENTRIES.map((entry, i) => `export const load${i} = () => import('./${entry}.ts');\n`).join('');
  const stdin = { contents, resolveDir: root, sourcefile: `${PROGRAM}.ts`, loader: 'ts' };
  const outfile = join(packed, `${PROGRAM}.js`);
  await build({ ...shared, stdin, outfile, sourcemap: 'linked', sourcesContent: false });
  const sourceMap = JSON.parse(readFileSync(`${outfile}.map`, 'utf8'));
  const table = lineTable(sourceMap, (source) => relative(root, join(packed, source)));
  writeFileSync(join(packed, `${PROGRAM}.lines.json`), JSON.stringify(table));
}

const exported = await exportsOfEntries();
await packProgram();
for (const [i, entry] of ENTRIES.entries()) {
  const lines = [`import { load${i} as load } from './${PROGRAM}.js';`, 'const module = await load();'];
  for (const name of exported.get(entry)) {
    lines.push(name === 'default' ? 'export default module.default;' : `export const ${name} = module.${name};`);
  }
  writeFileSync(join(packed, `${fileNameOf(entry)}.js`), `${lines.join('\n')}\n`);
}
const command = join(root, 'dist', 'bin', 'orch.js');
writeFileSync(command, "#!/usr/bin/env node\nimport '../packed/orch.js';\n");
chmodSync(command, 0o755);
