import { crc32 } from 'node:zlib';
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { EarlierForms, EventRecordWriter, liveDigestOf, readEventRecord } from '../../../storage/records/event-log.ts';
import { CREATED, DELETED, type RecordType, UPDATED } from '../../../storage/records/slab-record.ts';

const HEAD = {
  previousChecksum: 0xfedcba98,
  firstRevision: 2 ** 40,
  lastRevision: 2 ** 40 + 2,
  wallMs: 1_795_000_000_123,
  liveObjects: 12,
  liveDigest: 0x89abcdef,
};

interface Sample {
  readonly revision: number;
  readonly type: RecordType;
  readonly key: string;
  readonly previous: Buffer;
  readonly valueChecksum: number;
  readonly isDelta: boolean;
}

const SAMPLES: readonly Sample[] = [
  {
    revision: 2 ** 40,
    type: CREATED,
    key: 'core/pods/default/a',
    previous: Buffer.alloc(0),
    valueChecksum: 1,
    isDelta: false,
  },
  {
    revision: 2 ** 40 + 1,
    type: UPDATED,
    key: 'core/größe//日本',
    previous: Buffer.from('before'),
    valueChecksum: 2 ** 32 - 1,
    isDelta: false,
  },
  {
    revision: 2 ** 40 + 2,
    type: DELETED,
    key: 'core/pods/default/a',
    previous: Buffer.alloc(300, 7),
    valueChecksum: 0,
    isDelta: false,
  },
];

function recordOf(writer: EventRecordWriter, samples: readonly Sample[]): { bytes: Buffer; checksum: number } {
  writer.begin();
  for (const { revision, type, key, previous, valueChecksum } of samples) {
    writer.add(revision, type, key, previous.length === 0 ? undefined : previous, valueChecksum);
  }
  return writer.finish(HEAD);
}

function comparable(sample: Sample): unknown {
  return { ...sample, previous: Buffer.from(sample.previous).toString('hex') };
}

test('a record comes back as it was written', (t) => {
  const { bytes, checksum } = recordOf(new EventRecordWriter(), SAMPLES);
  const { events, ...head } = readEventRecord(bytes)!;
  t.deepEqual(head, { ...HEAD, checksum });
  t.deepEqual(events.map(comparable), SAMPLES.map(comparable));
});

test('a writer used again writes only the new batch', (t) => {
  const writer = new EventRecordWriter();
  recordOf(writer, SAMPLES);
  const { bytes } = recordOf(writer, SAMPLES.slice(0, 1));
  t.deepEqual(readEventRecord(bytes)!.events.map(comparable), SAMPLES.slice(0, 1).map(comparable));
  t.deepEqual(Buffer.from(bytes), Buffer.from(recordOf(new EventRecordWriter(), SAMPLES.slice(0, 1)).bytes));
});

test('a record grows to whatever its events need', (t) => {
  const samples = [1, 70_000, 10, 3_000_000].map((size, index) => ({
    ...SAMPLES[1]!,
    previous: Buffer.alloc(size, index + 1),
  }));
  const { bytes } = recordOf(new EventRecordWriter(), samples);
  t.deepEqual(readEventRecord(bytes)!.events.map(comparable), samples.map(comparable));
});

test('keys longer than 64 KiB are kept whole', (t) => {
  const samples = [65_535, 65_536, 200_000].map((length) => ({
    ...SAMPLES[0]!,
    key: `r/clusterroles//${'n'.repeat(length)}`,
  }));
  const { bytes } = recordOf(new EventRecordWriter(), samples);
  t.deepEqual(
    readEventRecord(bytes)?.events.map(({ key, type }) => [key, type]),
    samples.map(({ key, type }) => [key, type]),
  );
});

/** A record of format 2, in which the second of two values of a key ended as the first one did. */
function sharingRecord(first: Buffer, ownBytes: Buffer, shared: number): Buffer {
  const sharing = Buffer.alloc(4 + ownBytes.length);
  sharing.writeUInt32LE(shared);
  ownBytes.copy(sharing, 4);
  const samples = [first, sharing].map((previous) => ({ ...SAMPLES[1]!, previous }));
  const bytes = Buffer.from(recordOf(new EventRecordWriter(), samples).bytes);
  const firstBytes = 20 + Buffer.byteLength(SAMPLES[1]!.key) + first.length;
  bytes[44 + firstBytes + 8]! |= 0x80;
  return withChecksum(bytes);
}

function withChecksum(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

test('values of format 2 that share an end are read', (t) => {
  const first = Buffer.alloc(300, 'of an object that hardly changes ');
  const { events } = readEventRecord(sharingRecord(first, Buffer.from('then another, '), 250))!;
  const second = Buffer.concat([Buffer.from('then another, '), first.subarray(50)]);
  t.deepEqual(
    events.map(({ previous, isDelta }) => [previous.toString(), isDelta]),
    [first, second].map((value) => [value.toString(), false]),
  );
});

test('an event whose value ends as that of no event before it, or beyond that, is not read', (t) => {
  const first = Buffer.alloc(300, 'x');
  t.not(readEventRecord(sharingRecord(first, Buffer.alloc(0), 300)), undefined);
  t.is(readEventRecord(sharingRecord(first, Buffer.alloc(0), 301)), undefined);
  const whole = sharingRecord(first, Buffer.from('y'), 200);
  const firstBytes = 20 + Buffer.byteLength(SAMPLES[1]!.key) + first.length;
  const cut = Buffer.concat([whole.subarray(0, 44), whole.subarray(44 + firstBytes)]);
  cut.writeUInt32LE(1, 32);
  t.is(readEventRecord(withChecksum(cut)), undefined);
});

/** A stored form as far as the log looks at it: it begins with its checksum. */
function formOf(text: string): Buffer {
  const form = Buffer.concat([Buffer.alloc(4), Buffer.from(text)]);
  form.writeUInt32LE(crc32(form.subarray(4)), 0);
  return form;
}

/** The record of an object's life: created as the first form, updated to each of the others. */
function lifeOf(key: string, forms: readonly Buffer[]): Buffer {
  const writer = new EventRecordWriter();
  writer.begin();
  for (const [index, form] of forms.entries()) {
    const type = index === 0 ? CREATED : UPDATED;
    writer.add(2 ** 40 + index, type, key, forms[index - 1], form.readUInt32LE(), form);
  }
  return Buffer.from(writer.finish(HEAD).bytes);
}

test('what updates replaced is told by what they wrote, back to the creation', (t) => {
  const random = new SeededRandom(17);
  const spec = 'an object that hardly changes '.repeat(100);
  for (let round = 0; round < 200; round++) {
    const forms = Array.from({ length: random.below(6) + 2 }, (_, index) =>
      formOf(`${'rev '.repeat(random.below(3))}${index} ${spec} ${random.below(1000)}`),
    );
    const bytes = lifeOf('core/pods/default/a', forms);
    t.true(bytes.length < 1000, `${bytes.length} bytes`);
    const earlier = new EarlierForms(new Map([['core/pods/default/a', forms.at(-1)!]]));
    const replaced = readEventRecord(bytes)!
      .events.toReversed()
      .map((event) => earlier.replacedBy(event)?.toString());
    t.deepEqual(replaced, ['', ...forms.slice(0, -1).map((form) => form.toString())].reverse());
  }
});

test('nothing is told by a value that is not the one an event wrote, nor what came before', (t) => {
  const spec = 'an object that hardly changes '.repeat(100);
  const forms = ['one', 'two', 'three'].map((name) => formOf(`${spec}${name}`));
  const { events } = readEventRecord(lifeOf('a', forms))!;
  for (const last of [undefined, forms[1]!, formOf(`${spec}other`)]) {
    const earlier = new EarlierForms(new Map(last === undefined ? [] : [['a', last]]));
    t.deepEqual(
      events.toReversed().map((event) => earlier.replacedBy(event)?.length),
      [undefined, undefined, 0],
    );
  }
});

test('an encrypted value tells earlier ones once it is decrypted', (t) => {
  const forms = ['one', 'two'].map((name) => formOf(`${'an object that hardly changes '.repeat(100)}${name}`));
  const sealed = formOf('what nobody can read');
  const writer = new EventRecordWriter();
  writer.begin();
  writer.add(2, UPDATED, 'a', forms[0], forms[1]!.readUInt32LE(), forms[1]);
  writer.add(3, UPDATED, 'a', sealed, 5);
  const [update, next] = readEventRecord(writer.finish(HEAD).bytes)!.events;
  const earlier = new EarlierForms(new Map());
  t.deepEqual(earlier.replacedBy(next!), sealed);
  earlier.opened('a', forms[1]!);
  t.deepEqual(earlier.replacedBy(update!), forms[0]);
});

test('any changed bit of a record is noticed', (t) => {
  const bytes = Buffer.from(recordOf(new EventRecordWriter(), SAMPLES).bytes);
  let unnoticed = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >>> 3]! ^= 1 << (bit & 7);
    if (readEventRecord(bytes) !== undefined) unnoticed++;
    bytes[bit >>> 3]! ^= 1 << (bit & 7);
  }
  t.is(unnoticed, 0);
});

test('a record that was cut short or grew is noticed', (t) => {
  const { bytes } = recordOf(new EventRecordWriter(), SAMPLES);
  for (let length = 0; length < bytes.length; length++) {
    t.is(readEventRecord(bytes.subarray(0, length)), undefined, `cut at ${length}`);
  }
  t.is(readEventRecord(Buffer.concat([bytes, Buffer.alloc(1)])), undefined);
});

test('records say which one they follow: the same events after another record have another checksum', (t) => {
  const writer = new EventRecordWriter();
  writer.begin();
  const one = writer.finish(HEAD).checksum;
  writer.begin();
  t.not(writer.finish({ ...HEAD, previousChecksum: one }).checksum, one);
});

test('the digest of live objects tells keys and revisions apart', (t) => {
  const random = new SeededRandom(11);
  const seen = new Set<number>();
  const count = 20_000;
  for (let index = 0; index < count; index++) {
    seen.add(liveDigestOf(random.below(2 ** 32), random.below(2 ** 20)));
  }
  // By the birthday bound a 32-bit digest of 20,000 has 0.05 collisions.
  t.true(seen.size >= count - 3, `${count - seen.size} collisions`);
  t.not(liveDigestOf(5, 7), liveDigestOf(5, 7 + 2 ** 32));
  t.not(liveDigestOf(5, 7), liveDigestOf(7, 5));
});
