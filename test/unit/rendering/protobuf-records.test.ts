// Records as messages: what an independent route reads of them, and that they are made once.
import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import { decodedCount } from '../../../storage/forms/stored-json.ts';
import { fromWire } from '../../server/kubernetes-messages.ts';
import { Records } from '../hub/records.ts';
import { renderingOf } from './representations.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const WHOLE = renderingOf(CONFIG_MAP, { encoding: 'protobuf' });
const META = {
  kind: 'PartialObjectMetadata',
  metaGroup: 'meta.orch.io',
  version: 'v1',
  includeObject: 'Metadata',
  dialect: 'orch',
} as const;
const PARTIAL = renderingOf(CONFIG_MAP, { encoding: 'protobuf', shape: META });

const newRecords = (): Records => new Records(undefined, 'ConfigMap');

test.serial('a record is decoded once for whole messages and partial metadata alike', (t) => {
  const records = newRecords();
  const { offset } = records.write({ namespace: 'ä', name: 'x', labels: { l: 'v' }, text: 'é' }, 77);
  const messages = new ProtobufRecords(DIALECTS.orch);
  const metadata = { name: 'x', namespace: 'ä', resourceVersion: '77', labels: { l: 'v' } };
  const before = decodedCount();
  for (let i = 0; i < 3; i++) {
    t.deepEqual(fromWire('ConfigMap', messages.of(WHOLE).bytes(records.slab, offset)), {
      metadata,
      data: { text: 'é' },
    });
    const partial = messages.of(PARTIAL).bytes(records.slab, offset);
    t.deepEqual(fromWire('PartialObjectMetadata', partial), { metadata });
    // A reader passes over what it does not know, and would not miss it.
    t.false(partial.includes('é'));
  }
  t.is(decodedCount() - before, 1);
  t.is(messages.of(WHOLE), messages.of(WHOLE));
});

test('an object can be shown under another version, which is not kept', (t) => {
  const records = newRecords();
  const { offset } = records.write({ namespace: 'a', name: 'x', text: 't' }, 5);
  const messages = new ProtobufRecords(DIALECTS.orch).of(WHOLE);
  const versionOf = (bytes: Buffer): unknown =>
    (fromWire('ConfigMap', bytes).metadata as { resourceVersion: string }).resourceVersion;
  t.is(versionOf(messages.bytes(records.slab, offset, 9)), '9');
  t.is(versionOf(messages.bytes(records.slab, offset)), '5');
});

test('a place that is used again gives what is there now', (t) => {
  const records = newRecords();
  const { offset } = records.write({ namespace: 'a', name: 'x', text: 'before' }, 5);
  const all = new ProtobufRecords(DIALECTS.orch);
  const messages = all.of(WHOLE);
  const text = (): unknown =>
    (fromWire('ConfigMap', messages.bytes(records.slab, offset)).data as { text: string }).text;
  t.is(text(), 'before');
  records.end = offset;
  records.write({ namespace: 'a', name: 'y', text: 'after' }, 6);
  t.is(text(), 'after');
  // A move keeps the revision: the reader has to be told.
  records.end = offset;
  records.write({ namespace: 'a', name: 'z', text: 'moved' }, 6);
  all.forget(records.slab, offset);
  t.is(text(), 'moved');
  t.true(all.keptBytes > 0);
  all.clear();
  t.is(all.keptBytes, 0);
  t.is(text(), 'moved');
});

test('without room nothing is kept, and everything still comes', (t) => {
  const records = newRecords();
  const { offset } = records.write({ namespace: 'a', name: 'x', text: 't' }, 5);
  const messages = new ProtobufRecords(DIALECTS.orch, 0).of(WHOLE);
  for (let i = 1; i <= 2; i++) {
    t.deepEqual(fromWire('ConfigMap', messages.bytes(records.slab, offset)).data, { text: 't' });
    t.is(messages.encodedCount, i);
  }
});

test('Tables and kinds without a message have none', (t) => {
  const messages = new ProtobufRecords(DIALECTS.orch);
  t.throws(() => messages.of(renderingOf(CONFIG_MAP, { encoding: 'protobuf', shape: { ...META, kind: 'Table' } })), {
    instanceOf: RangeError,
  });
  t.throws(() => messages.of(renderingOf({ group: 'example.com', version: 'v1', kind: 'Widget' })), {
    instanceOf: RangeError,
  });
});
