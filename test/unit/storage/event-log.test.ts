import { crc32 } from 'node:zlib';
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { EventRecordWriter, liveDigestOf, readEventRecord } from '../../../storage/event-log.ts';
import { CREATED, DELETED, type RecordType, UPDATED } from '../../../storage/slab-record.ts';

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
  readonly previous: Uint8Array;
  readonly valueChecksum: number;
}

const SAMPLES: readonly Sample[] = [
  { revision: 2 ** 40, type: CREATED, key: 'core/pods/default/a', previous: new Uint8Array(), valueChecksum: 1 },
  {
    revision: 2 ** 40 + 1,
    type: UPDATED,
    key: 'core/größe//日本',
    previous: Buffer.from('before'),
    valueChecksum: 2 ** 32 - 1,
  },
  {
    revision: 2 ** 40 + 2,
    type: DELETED,
    key: 'core/pods/default/a',
    previous: Buffer.alloc(300, 7),
    valueChecksum: 0,
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

/** An object's states in one record: each but the first is the one before it with another beginning. */
function statesOf(beginnings: readonly string[], endBytes: number): Sample[] {
  const end = Buffer.alloc(endBytes, 'of an object that hardly changes ');
  return beginnings.map((beginning, index) => ({
    revision: 2 ** 40 + index,
    type: index === beginnings.length - 1 ? DELETED : UPDATED,
    key: SAMPLES[0]!.key,
    previous: Buffer.concat([Buffer.from(beginning), end]),
    valueChecksum: index,
  }));
}

test('of two values of one key that end alike, a record holds the end once', (t) => {
  const samples = statesOf(['first', 'then another, '], 5000);
  const { bytes } = recordOf(new EventRecordWriter(), samples);
  t.deepEqual(readEventRecord(bytes)!.events.map(comparable), samples.map(comparable));
  t.true(bytes.length < 5300, `${bytes.length} bytes`);
});

test('values that share an end come back whatever their lengths, with others of the key before and after them', (t) => {
  const random = new SeededRandom(17);
  const writer = new EventRecordWriter();
  for (let round = 0; round < 500; round++) {
    const beginnings = Array.from({ length: random.below(5) + 1 }, () => 'x'.repeat(random.below(4)) + random.below(3));
    const samples = statesOf(beginnings, random.below(200));
    if (random.below(2) === 0) samples.splice(random.below(samples.length), 0, SAMPLES[1]!);
    const { bytes } = recordOf(writer, samples);
    t.deepEqual(readEventRecord(bytes)!.events.map(comparable), samples.map(comparable));
  }
});

test('an event whose value ends as that of no event before it is not read', (t) => {
  const { bytes } = recordOf(new EventRecordWriter(), statesOf(['first', 'second'], 300));
  const whole = Buffer.from(bytes);
  const firstBytes = 20 + SAMPLES[0]!.key.length + 305;
  // The record without its first event, with the checksum that it then has.
  const cut = Buffer.concat([whole.subarray(0, 44), whole.subarray(44 + firstBytes)]);
  cut.writeUInt32LE(1, 32);
  cut.writeUInt32LE(crc32(cut.subarray(4)), 0);
  t.is(readEventRecord(cut), undefined);
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
