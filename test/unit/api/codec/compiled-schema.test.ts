// What the schema costs every thread that uses all of it.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const HEAP_BYTES_MAX = 25_000_000;

test('everything compiled from the schema takes at most 25 MB of a thread', (t) => {
  const script = fileURLToPath(new URL('./compiled-schema.js', import.meta.url));
  const said = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' });
  const { types, heapBytes } = JSON.parse(said) as { types: number; heapBytes: number };
  t.log(`${types} types, ${(heapBytes / 1e6).toFixed(1)} MB`);
  t.true(types > 600);
  t.true(heapBytes > 0 && heapBytes <= HEAP_BYTES_MAX, String(heapBytes));
});
