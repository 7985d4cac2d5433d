// Goal: what is said of a place in the packed program leads to the line that was written. Method: every place that the
// compiled program's own map knows is looked up by Node's reader of maps too.
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import test from 'ava';
import { inSources, sourceOf } from '../../../runtime/packed-sources.ts';

const PACKED = new URL('../../../packed/', import.meta.url);
const program = new URL('command.cjs', PACKED);
const lines = readFileSync(program, 'utf8').split('\n');
const payload = JSON.parse(readFileSync(new URL('command.cjs.map', PACKED), 'utf8')) as SourceMapPayload;
const map = new SourceMap(payload);

function known(line: number, column: number): string {
  const entry = map.findEntry(line - 1, column - 1) as { originalSource?: string; originalLine?: number };
  return `${entry.originalSource?.replace('../../', '')}:${entry.originalLine! + 1}`;
}

test('places in the packed program are told as the reader of its map tells them', (t) => {
  let looked = 0;
  for (let line = 1; line <= lines.length; line += 97) {
    for (let column = 1; column <= lines[line - 1]!.length; column += 13) {
      const source = sourceOf(program.href, line, column);
      if (source === undefined) continue;
      t.is(`${source.file}:${source.line}`, known(line, column), `${line}:${column}`);
      looked += 1;
    }
  }
  t.true(looked > 1000);
});

test('a stack names the sources in place of the packed program, and is left alone elsewhere', (t) => {
  const index = lines.findIndex((text) => text.includes('unknown command'));
  const column = lines[index]!.indexOf('unknown command') + 1;
  const place = known(index + 1, column);
  t.regex(place, /^bin\/orch\.ts:\d+$/);
  t.is(
    inSources(`Error: x\n    at main (${program.href}:${index + 1}:${column})`),
    `Error: x\n    at main (${place}:1)`,
  );
  const other = 'Error: x\n    at main (file:///srv/other.js:1:2)';
  t.is(inSources(other), other);
  const missing = 'Error: x\n    at main (file:///srv/packed/command.cjs:99999999:2)';
  t.is(inSources(missing), missing);
});
