// What readers get of a record: copies and values of their own, and a view that is good for one call.
import test from 'ava';
import fc from 'fast-check';
import { encodeStored, encodeWithRest } from '../../../api/codec/stored-object.ts';
import {
  copyItem,
  copyOfBody,
  copyValue,
  decodeRecord,
  itemLength,
  lending,
  metadataApart,
  textFrom,
  withBody,
} from '../../../storage/records/record-reading.ts';
import { Records } from '../hub/records.ts';
import { encodedRecord } from './encoded-record.ts';
import { entry, fieldsOf, stringsOf, textLike } from './managed-objects.ts';

const NOTHING = undefined;

function sample() {
  const records = new Records();
  const { offset } = records.write({ namespace: 'default', name: 'a', text: 'é' }, 7);
  const { slab } = records;
  return { slab, offset, body: copyOfBody(slab, offset) };
}

test('a body is lent as it lies, with its newline, and copies of it are the reader`s own', (t) => {
  const { slab, offset, body } = sample();
  t.is(body.at(-1), 0x0a);
  const seen = withBody(slab, offset, (lent, a, b, c) => [lent.toString(), a, b, c], 1, 2, 3);
  t.deepEqual(seen, [body.toString(), 1, 2, 3]);
  t.true(withBody(slab, offset, (lent) => lent.buffer === slab.memory, NOTHING, NOTHING, NOTHING));
  t.deepEqual(decodeRecord(slab, offset), JSON.parse(body.toString()));
  slab.bytes.fill(0xff);
  t.is((JSON.parse(body.toString()) as { data: { text: string } }).data.text, 'é');
});

test('values and items are copied to where they are to go, and say where they end', (t) => {
  const { slab, offset, body } = sample();
  const target = Buffer.alloc(body.length + 10, '.');
  t.is(copyValue(slab, offset, target, 4), 4 + body.length - 1);
  t.is(target.toString('utf8', 4, 4 + body.length - 1), body.toString().trimEnd());
  const end = copyItem(slab, offset, target, 1);
  t.is(end, 1 + itemLength(slab, offset));
  target[0] = 0x7b;
  const { kind: _kind, apiVersion: _version, ...item } = JSON.parse(body.toString()) as Record<string, unknown>;
  t.deepEqual(JSON.parse(target.toString('utf8', 0, end)), item);
});

test.serial('under test a view that is kept beyond its call shows it, also after a throw', (t) => {
  const { slab, offset, body } = sample();
  const kept: Buffer[] = [];
  const keep = (lent: Buffer, fails: boolean): void => {
    kept.push(lent);
    t.deepEqual(lent, body);
    if (fails) throw new Error('on purpose');
  };
  lending.wipes = true;
  try {
    withBody(slab, offset, keep, false, NOTHING, NOTHING);
    t.throws(() => withBody(slab, offset, keep, true, NOTHING, NOTHING));
  } finally {
    lending.wipes = false;
  }
  for (const view of kept) t.is(view.toString(), '?'.repeat(body.length));
});

const HOSTILE = ['"managedFields":[', ',"managedFields":[', '}', ']},"spec":{}', '"metadata":{', '\\', 'é😀'];

test('whatever an object says, its metadata is read apart from the rest, and is written with it as the whole would be', (t) => {
  const text = textLike(HOSTILE);
  const managed = fc.array(
    fc.tuple(fieldsOf(text), text).map(([each, manager]) => entry(each, manager)),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(
      stringsOf(text),
      stringsOf(text),
      managed,
      stringsOf(text),
      text,
      (labels, annotations, fields, spec, name) => {
        const metadata = { name: `n${name}`, uid: 'u', labels, annotations };
        const object = { metadata: { ...metadata, managedFields: fields }, spec, status: { a: [spec] } };
        const {
          slab,
          place: { offset },
        } = encodedRecord(object);
        const apart = metadataApart(slab, offset)!;
        const { resourceVersion, ...read } = apart.object.metadata;
        t.is(resourceVersion, '0');
        t.deepEqual(read, metadata);

        const marked = { ...apart.object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' };
        const whole = { ...object, metadata: { ...marked, managedFields: fields } };
        t.deepEqual(
          encodeWithRest(marked, textFrom(slab, offset, apart.end), 'v1', 'Pod'),
          encodeStored(whole, 'v1', 'Pod'),
        );
      },
    ),
  );
});

test('metadata is not read apart where no managedFields end it', (t) => {
  const { slab, place } = encodedRecord({
    metadata: { name: 'a' },
    spec: { metadata: { managedFields: [entry({})] } },
  });
  t.is(metadataApart(slab, place.offset), undefined);
});
