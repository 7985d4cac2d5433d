// Lists of objects that a webhook has converted: what was written for them goes out as it is.
import test from 'ava';
import type { ListItems } from '../../../rendering/list.ts';
import { listPieces } from '../../../rendering/list-pieces.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import type { Rendering } from '../../../rendering/rendering.ts';

const TARGET = { group: 'example.com', version: 'v2', kind: 'Thing' };
const ENVELOPE = {
  apiVersion: 'example.com/v2',
  listKind: 'ThingList',
  revision: 7,
  continueToken: '',
  remaining: undefined,
};

function listed(rendering: Partial<Rendering>, converted: readonly string[]): string {
  const renderer = new Renderer({ target: TARGET, shape: undefined, encoding: 'json', pretty: false, ...rendering }, 0);
  const items: ListItems = {
    places: new Uint32Array(2 * converted.length),
    slabs: [],
    areWhole: true,
    converted: converted.map((text) => Buffer.from(text)),
  };
  return Buffer.concat([...listPieces(ENVELOPE, items, renderer)]).toString();
}

test('a converted item is not read and written again on its way out', (t) => {
  // What no writer of ours would write shows that nobody did.
  const text = listed({}, ['{"kind":"Thing","n":1e0}', '{"kind":"Thing","n":2}']);
  t.true(text.endsWith('"items":[{"kind":"Thing","n":1e0},{"kind":"Thing","n":2}]}\n'), text);
});

test('an indented list of converted items is that of their values', (t) => {
  const text = listed({ pretty: true }, ['{"kind":"Thing","n":1}']);
  const { items, metadata } = JSON.parse(text) as { items: unknown[]; metadata: object };
  t.deepEqual(items, [{ kind: 'Thing', n: 1 }]);
  t.deepEqual(metadata, { continue: '', resourceVersion: '7' });
});
