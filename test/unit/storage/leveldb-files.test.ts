// Our reader of LevelDB's files beside LevelDB itself.
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { type LevelDatabase, openLevelDatabase } from '../../../storage/level/level-database.ts';
import { crc32c, masked } from '../../../storage/leveldb/crc32c.ts';
import type { Entry } from '../../../storage/leveldb/damage.ts';
import { readDatabaseFiles, tableDamages } from '../../../storage/leveldb/database-files.ts';
import { readLogFile } from '../../../storage/leveldb/log-file.ts';
import { uncompress } from '../../../storage/leveldb/snappy.ts';
import { readTableFile, verifyTableFile } from '../../../storage/leveldb/table-file.ts';
import { scratchDirectory } from '../store/store-on-disk.ts';

/** Of a log. */
const BLOCK_BYTES = 32 * 1024;
const TABLE_FOOTER_BYTES = 48;

test('CRC-32C has the published values', (t) => {
  // RFC 3720, appendix B.4.
  const cases: readonly (readonly [bytes: Buffer, crc: number])[] = [
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
    [Buffer.from('123456789'), 0xe3069283],
  ];
  for (const [bytes, crc] of cases) {
    t.is(crc32c(bytes, 0, bytes.length), crc);
    for (let at = 0; at <= bytes.length; at++) {
      t.is(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at)), crc, `in two parts at ${at}`);
    }
  }
  t.not(masked(0), 0);
});

const SNAPPY: readonly (readonly [what: string, source: readonly number[], target: string | undefined])[] = [
  ['nothing', [0], ''],
  ['a literal', [3, 2 << 2, 97, 98, 99], 'abc'],
  ['a literal with a length of its own', [3, 60 << 2, 2, 97, 98, 99], 'abc'],
  ['a short copy that overlaps itself', [6, 0, 97, 1 | (1 << 2), 1], 'aaaaaa'],
  ['a copy', [4, 1 << 2, 97, 98, 2 | (1 << 2), 2, 0], 'abab'],
  ['a far copy', [4, 1 << 2, 97, 98, 3 | (1 << 2), 2, 0, 0, 0], 'abab'],
  ['less than it claims', [4, 2 << 2, 97, 98, 99], undefined],
  ['more than it claims', [2, 2 << 2, 97, 98, 99], undefined],
  ['a literal past the end', [3, 2 << 2, 97], undefined],
  ['a length past the end', [3, 61 << 2, 1], undefined],
  ['a copy of what is not there', [5, 0, 97, 1, 9], undefined],
  ['a copy of nothing', [5, 0, 97, 1, 0], undefined],
  ['a copy past the end', [5, 0, 97, 2 | (3 << 2), 1], undefined],
  ['a size that cannot be', [0xff, 0xff, 0xff, 0xff, 0x0f, 0], undefined],
  ['a size that does not end', [0xff, 0xff], undefined],
];

for (const [what, source, target] of SNAPPY) {
  test(`uncompressing ${what} gives ${target === undefined ? 'nothing' : `"${target}"`}`, (t) => {
    t.is(uncompress(Buffer.from(source))?.toString(), target);
  });
}

/** Values of all sizes, overwritten and removed, in several tables and a log. */
async function filledDatabase(directory: string): Promise<ReadonlyMap<string, string>> {
  const random = new SeededRandom(77);
  const expected = new Map<string, string>();
  for (let session = 0; session < 3; session++) {
    const database = openLevelDatabase(directory);
    await database.open();
    for (let write = 0; write < 150; write++) {
      const key = `key/${random.below(200)}/größe`;
      if (random.below(4) === 0) {
        expected.delete(key);
        await database.del(key);
        continue;
      }
      const length = random.below(20) === 0 ? 70_000 + random.below(50_000) : random.below(600);
      const text = random.below(2) === 0 ? 'ab'.repeat(length) : Buffer.from(random.bytes(length)).toString('base64');
      expected.set(key, text);
      await database.put(key, Buffer.from(text));
    }
    await database.close();
  }
  return expected;
}

function texts(values: ReadonlyMap<string, Buffer>): Map<string, string> {
  return new Map([...values].map(([key, value]) => [key, value.toString()]));
}

function sorted(values: ReadonlyMap<string, string>): [string, string][] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** As texts that hold every byte: assertions take buffers apart byte by byte. */
function linesOf(entries: readonly Entry[]): string[] {
  return entries.map(({ key, sequence, value }) => `${key} ${sequence} ${value?.toString('latin1')}`);
}

test('the files of a database say what LevelDB says', async (t) => {
  const directory = scratchDirectory(t);
  const expected = await filledDatabase(directory);
  t.true(readdirSync(directory).filter((name) => name.endsWith('.ldb')).length >= 2);
  t.true(readdirSync(directory).some((name) => name.endsWith('.log')));
  t.deepEqual(tableDamages(directory), []);
  const { values, damages } = readDatabaseFiles(directory, 'manifest');
  t.deepEqual(damages, []);
  t.deepEqual(sorted(texts(values)), sorted(expected));
  t.deepEqual(sorted(texts(readDatabaseFiles(directory, 'all').values)), sorted(expected));
});

test('a table without its index or footer still gives all its entries, and says what is wrong', async (t) => {
  const directory = scratchDirectory(t);
  await filledDatabase(directory);
  for (const name of readdirSync(directory).filter((one) => one.endsWith('.ldb'))) {
    const file = readFileSync(join(directory, name));
    const whole = readTableFile(file);
    t.deepEqual(whole.damages, []);
    t.true(whole.entries.length > 10);
    for (const fromEnd of [1, 60]) {
      const damaged = Buffer.from(file);
      damaged[file.length - fromEnd]! ^= 1;
      const found = readTableFile(damaged);
      t.is(found.damages.length, 1);
      t.deepEqual(linesOf(found.entries), linesOf(whole.entries));
    }
    const cut = readTableFile(file.subarray(0, file.length - 48));
    t.deepEqual([cut.damages.length, cut.entries.length], [1, whole.entries.length]);
  }
});

test('a damaged block of a table costs its own entries and no other', async (t) => {
  const directory = scratchDirectory(t);
  await filledDatabase(directory);
  const name = readdirSync(directory).find((one) => one.endsWith('.ldb'))!;
  const file = readFileSync(join(directory, name));
  const whole = readTableFile(file).entries;
  file[100]! ^= 0x40;
  writeFileSync(join(directory, name), file);
  const { entries, damages } = readTableFile(file);
  t.deepEqual(damages, [{ offset: 0, what: 'a block does not match its checksum' }]);
  t.true(entries.length > 0 && entries.length < whole.length);
  t.deepEqual(linesOf(entries), linesOf(whole.slice(-entries.length)));
  t.deepEqual(tableDamages(directory), [`${name}: at byte 0, a block does not match its checksum`]);
});

test('any byte of a table that changed is told, also of the filter, which holds no data and hides some', async (t) => {
  const directory = scratchDirectory(t);
  for (const key of ['a', 'b']) {
    const database = openLevelDatabase(directory);
    await database.open();
    await database.put(key, Buffer.from('value'));
    await database.close();
  }
  const file = readFileSync(join(directory, readdirSync(directory).find((name) => name.endsWith('.ldb'))!));
  t.deepEqual(verifyTableFile(file), []);
  const said = new Set<string>();
  for (let at = 0; at < file.length - TABLE_FOOTER_BYTES; at++) {
    const damaged = Buffer.from(file);
    damaged[at]! ^= 1;
    const damages = verifyTableFile(damaged);
    t.is(damages.length, 1, `byte ${at}`);
    said.add(damages[0]!.what);
  }
  t.deepEqual(
    [...said],
    [
      'a block does not match its checksum',
      'the filter does not match its checksum',
      'the index does not match its checksum',
    ],
  );
  for (let bytes = 0; bytes < file.length; bytes++) t.is(verifyTableFile(file.subarray(0, bytes)).length, 1);
});

// The byte flipped may be the record's own, of its length, or of its type: where the next one begins is not believed.
for (const at of [4, 5, 6, 10])
  test(`a record of a log whose byte ${at} changed costs itself and no other`, async (t) => {
    const directory = scratchDirectory(t);
    await filledDatabase(directory);
    const name = readdirSync(directory).find((one) => one.endsWith('.log'))!;
    const file = readFileSync(join(directory, name));
    const whole = readLogFile(file);
    t.deepEqual([whole.damages.length, whole.isTorn], [0, false]);
    // Records that span blocks are among them.
    t.true(whole.records.some(({ length }) => length > 64 * 1024));
    file[at]! ^= 0x42;
    const { records, damages } = readLogFile(file);
    t.deepEqual(damages, [{ offset: 0, what: 'a record does not match its checksum' }]);
    const inLatin1 = (record: Buffer) => record.toString('latin1');
    t.deepEqual(records.map(inLatin1), whole.records.slice(1).map(inLatin1));
  });

test('a record over several blocks is lost with any of its pieces, and nothing else is: no record is made of what is left', async (t) => {
  const directory = scratchDirectory(t);
  await filledDatabase(directory);
  const name = readdirSync(directory).find((one) => one.endsWith('.log'))!;
  const file = readFileSync(join(directory, name));
  const whole = readLogFile(file);
  const index = whole.records.findIndex(({ length }) => length > 2 * BLOCK_BYTES);
  const start = whole.starts[index]!;
  const end = whole.starts[index + 1]!;
  const firstBlock = start - (start % BLOCK_BYTES);
  let pieces = 0;
  for (let at = start; at < end; at = firstBlock + ++pieces * BLOCK_BYTES) {
    const damaged = Buffer.from(file);
    damaged[at + 10]! ^= 0x42;
    const { records, damages } = readLogFile(damaged);
    t.deepEqual(damages, [{ offset: at, what: 'a record does not match its checksum' }]);
    const others = whole.records.filter((_, other) => other !== index);
    t.is(records.length, others.length);
    t.true(records.every((record, other) => record.equals(others[other]!)));
  }
  t.true(pieces >= 3);
});

test('a log is read whatever room its records leave at the end of a block', async (t) => {
  const directory = scratchDirectory(t);
  const database = openLevelDatabase(directory);
  await database.open();
  const name = readdirSync(directory).find((one) => one.endsWith('.log'))!;
  /** Of a record whose value is longer than a byte can say: its piece's header, the batch's, type and key, two lengths. */
  const headBytes = 7 + 12 + 2 + 'a'.length + 3;
  for (let room = 0; room <= 9; room++) {
    await database.put('a', Buffer.from('small'));
    const left = BLOCK_BYTES - (statSync(join(directory, name)).size % BLOCK_BYTES);
    await database.put('a', Buffer.alloc(left - room - headBytes, room));
    t.is((statSync(join(directory, name)).size + room) % BLOCK_BYTES, 0);
  }
  await database.close();
  const { records, damages, end } = readLogFile(readFileSync(join(directory, name)));
  t.deepEqual([records.length, damages, end], [20, [], statSync(join(directory, name)).size]);
});

test('of a key written twice in one batch the last value counts', async (t) => {
  const directory = scratchDirectory(t);
  const database = openLevelDatabase(directory);
  await database.open();
  const put = (key: string, value: string) => ({ type: 'put' as const, key, value: Buffer.from(value) });
  await database.batch([put('a', 'first'), put('b', 'gone'), put('a', 'last'), { type: 'del', key: 'b' }]);
  await database.close();
  t.deepEqual(sorted(texts(readDatabaseFiles(directory, 'manifest').values)), [['a', 'last']]);
});

test('files that the manifest does not name any more count for nothing, whatever lies in them', async (t) => {
  const directory = scratchDirectory(t);
  const kept = scratchDirectory(t);
  const reopened = async (use: (database: LevelDatabase) => Promise<void>): Promise<void> => {
    const database = openLevelDatabase(directory);
    await database.open();
    await use(database);
    await database.close();
    for (const name of readdirSync(directory).filter((one) => /\.(?:log|ldb)$/.test(one)))
      copyFileSync(join(directory, name), join(kept, name));
  };
  await reopened((database) => database.put('gone', Buffer.from('one')));
  // As it is opened its log becomes a table; the next is larger than the one before.
  await reopened((database) => database.put('there', Buffer.alloc(5000, 'x')));
  const old = readdirSync(kept);
  await reopened((database) => database.del('gone'));
  t.deepEqual(tableDamages(directory), []);
  await reopened((database) => database.compactRange('a', 'z'));
  t.deepEqual([old.length, readdirSync(directory).filter((name) => old.includes(name))], [3, []]);
  for (const name of old) copyFileSync(join(kept, name), join(directory, name));
  t.deepEqual(tableDamages(directory), []);
  const { values, damages } = readDatabaseFiles(directory, 'manifest');
  t.deepEqual([[...values.keys()], damages], [['there'], []]);
});

test('a log that was being written is no damage: what is whole in it counts', async (t) => {
  const directory = scratchDirectory(t);
  await filledDatabase(directory);
  const name = readdirSync(directory).find((one) => one.endsWith('.log'))!;
  const file = readFileSync(join(directory, name));
  const { records } = readLogFile(file);
  for (const bytes of [1, 6, 8]) {
    const torn = readLogFile(file.subarray(0, file.length - bytes));
    t.deepEqual([torn.damages, torn.isTorn, torn.records.length], [[], true, records.length - 1]);
  }
  // Nor was this one being written: it has all its bytes, and one of them is another.
  const changed = Buffer.from(file);
  changed[file.length - 1]! ^= 1;
  t.deepEqual([readLogFile(changed).damages.length, readLogFile(changed).isTorn], [1, false]);
  const unwritten = readLogFile(Buffer.concat([file, Buffer.alloc(5000)]));
  t.deepEqual([unwritten.damages, unwritten.isTorn, unwritten.records.length], [[], true, records.length]);
});
