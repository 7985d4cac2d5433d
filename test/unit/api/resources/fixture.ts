// Reads the reference tables under test/fixtures/registry: one JSON object a line, spelled in the `orch` dialect.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The rows of `test/fixtures/registry/<name>.jsonl`. */
export function fixture<Row>(name: string): readonly Row[] {
  const text = readFileSync(join(process.cwd(), 'test/fixtures/registry', `${name}.jsonl`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}
