// Compiles api/schema/*.proto into api/schema/tables.ts. Needs a build of scripts/schema in dist.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileSchema } from '../dist/scripts/schema/compile.js';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'api', 'schema');
const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.proto') && name !== 'options.proto')
  .map((name) => ({ path: `api/schema/${name}`, text: readFileSync(join(folder, name), 'utf8') }));
writeFileSync(join(folder, 'tables.ts'), compileSchema(sources));
