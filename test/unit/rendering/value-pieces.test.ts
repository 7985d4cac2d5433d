// Values that are not stored, written piece by piece.
import test from 'ava';
import { Renderer } from '../../../rendering/renderer.ts';
import { valueListItems, valueListPieces, valuePieces } from '../../../rendering/value-pieces.ts';
import { renderingOf } from './representations.ts';

test('a list in pieces is the JSON of the whole, with a piece for what came together', (t) => {
  const item = (bytes: number) => ({ metadata: { name: 'ä' }, data: { text: 'x'.repeat(bytes) } });
  for (const sizes of [[], [1], [1, 2, 3], [200_000, 1, 300_000], Array.from({ length: 40 }, () => 10_000)]) {
    const list = { kind: 'ConfigMapList', metadata: {}, items: sizes.map(item) };
    const [first, ...others] = list.items.map((one) => JSON.stringify(one));
    const texts = first === undefined ? [] : [first, ...(others.length === 0 ? [] : [others.join(',')])];
    const held = { ...list, items: texts.map((text) => Buffer.from(text)) };
    const pieces = [...valueListPieces(held)];
    t.is(Buffer.concat(pieces).toString('utf8'), `${JSON.stringify(list)}\n`);
    t.is(pieces.length, texts.length + 1);
    t.deepEqual(valueListItems(held), list.items);
  }
});

test('a large value in pieces is the whole of it, and a line end where it is not indented', (t) => {
  const value = {
    kind: 'ConfigMap',
    data: Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, 'v'])),
  };
  const json = Buffer.from(JSON.stringify(value));
  for (const pretty of [false, true]) {
    const renderer = new Renderer(renderingOf({ group: '', version: 'v1', kind: 'ConfigMap' }, { pretty }), 0);
    for (const isRendered of [false, true]) {
      const pieces = [...valuePieces(json, renderer, isRendered)];
      t.true(pieces.length > 3);
      const expected = pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;
      t.true(Buffer.concat(pieces).equals(Buffer.from(expected)));
    }
  }
});
