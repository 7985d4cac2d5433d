// Goal: docs/OPTIONS.md says what the tables say. `npm run docs` renews it.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { OPTIONS } from '../../../config/options.ts';
import { optionsDocument } from '../../../config/options-document.ts';

test('docs/OPTIONS.md is what the option tables make it', (t) => {
  t.is(readFileSync('docs/OPTIONS.md', 'utf8'), optionsDocument());
});

test('the document has a row for every option', (t) => {
  const rows = optionsDocument()
    .split('\n')
    .filter((line) => line.startsWith('| `-'));
  t.is(rows.length, OPTIONS.length);
});
