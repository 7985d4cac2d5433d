// What shares bytes with what: only renderings that say the same.
import test from 'ava';
import { type Rendering, renderingKey } from '../../../rendering/rendering.ts';
import { renderingOf } from './representations.ts';

const SHAPE = {
  kind: 'Table',
  metaGroup: 'meta.orch.io',
  version: 'v1',
  includeObject: 'Metadata',
  dialect: 'orch',
} as const;
const TARGET = { group: 'example.com', version: 'v1', kind: 'Thing' };
const withForm = (key: string): Rendering =>
  renderingOf({ ...TARGET, form: { key } } as unknown as Rendering['target']);

test('renderings that differ in anything have keys that differ', (t) => {
  const renderings: readonly Rendering[] = [
    renderingOf(TARGET),
    renderingOf({ ...TARGET, group: 'example.org' }),
    renderingOf({ ...TARGET, version: 'v2' }),
    renderingOf({ ...TARGET, kind: 'Other' }),
    withForm('one'),
    withForm('two'),
    renderingOf(TARGET, { pretty: true }),
    renderingOf(TARGET, { encoding: 'yaml' }),
    renderingOf(TARGET, { encoding: 'protobuf' }),
    renderingOf(TARGET, { shape: SHAPE }),
    renderingOf(TARGET, { shape: { ...SHAPE, kind: 'PartialObjectMetadata' } }),
    renderingOf(TARGET, { shape: { ...SHAPE, metaGroup: 'meta.other.io' } }),
    renderingOf(TARGET, { shape: { ...SHAPE, version: 'v1beta1' } }),
    renderingOf(TARGET, { shape: { ...SHAPE, includeObject: 'Object' } }),
  ];
  t.is(new Set(renderings.map(renderingKey)).size, renderings.length);
  t.is(renderingKey(renderingOf({ ...TARGET }, { shape: { ...SHAPE } })), renderingKey(renderings[9]!));
});
