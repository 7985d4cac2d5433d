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

test('a list of the metadata of converted items has no more of them', (t) => {
  const shape = {
    kind: 'PartialObjectMetadataList',
    metaGroup: 'meta.orch.io',
    version: 'v1',
    includeObject: 'Metadata',
    dialect: 'orch',
  } as const;
  const text = listed({ shape }, ['{"kind":"Thing","metadata":{"name":"a"},"spec":{"secret":1}}']);
  t.deepEqual((JSON.parse(text) as { items: unknown }).items, [
    { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: 'a' } },
  ]);
});

test('the items of a custom list say what they are in YAML, too', (t) => {
  const text = listed({ encoding: 'yaml' }, ['{"kind":"Thing","size":1}', '{"kind":"Thing","size":2}']);
  t.true(text.includes('items:\n- kind: Thing\n  size: 1\n- kind: Thing\n  size: 2\n'), text);
});
