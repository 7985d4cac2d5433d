// Our reader of LevelDB's files beside LevelDB itself.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { openLevelDatabase } from '../../../storage/level-database.ts';
import { crc32c, masked } from '../../../storage/leveldb/crc32c.ts';
import type { Entry } from '../../../storage/leveldb/damage.ts';
import { readDatabaseFiles, tableDamages } from '../../../storage/leveldb/database-files.ts';
import { readLogFile } from '../../../storage/leveldb/log-file.ts';
import { uncompress } from '../../../storage/leveldb/snappy.ts';
import { readTableFile } from '../../../storage/leveldb/table-file.ts';
import { scratchDirectory } from '../store/store-on-disk.ts';

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
  const unwritten = readLogFile(Buffer.concat([file, Buffer.alloc(5000)]));
  t.deepEqual([unwritten.damages, unwritten.isTorn, unwritten.records.length], [[], true, records.length]);
});
