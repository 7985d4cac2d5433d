// What lies in a folder is written again under another key, while nobody else uses it. What is refused stays as it was.
import { join } from 'node:path';
import test from 'ava';
import { reencryptStore } from '../../../actors/store/encryption/reencryption.ts';
import { refusedWrite } from '../../../storage/files/write-refusal.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';
import { inspectStore } from '../../../storage/upkeep/inspection.ts';
import { encryption, keyed } from '../storage/encryption/encryption-world.ts';
import { type Files, IDENTITY, readFiles, scratchDirectory, smallStore, writeFiles } from './store-on-disk.ts';

/** LevelDB's own notes: nothing reads them. */
const NOT_DATA = /(?:^|\/)LO(?:G|G\.old|CK)$/;

function dataFiles(directory: string): Files {
  return new Map([...readFiles(directory)].filter(([name]) => !NOT_DATA.test(name)));
}

test('a damaged store is refused by a re-encryption, with its files as they were for a repair', async (t) => {
  const directory = scratchDirectory(t);
  const { files, logParts } = await smallStore(join(directory, 'made'));
  const [name, log] = [...files].filter(([file]) => file.endsWith('.log')).at(-1)!;
  const copy = join(directory, 'copy');
  const damaged = Buffer.from(log);
  // Of a record with others behind it: LevelDB drops those as well as it opens, and the file.
  damaged[logParts[0]!.end - 1]! ^= 1;
  writeFiles(copy, new Map([...files, [name, damaged]]));
  const before = dataFiles(copy);
  const found = inspectStore(copy);
  const error = await t.throwsAsync(
    reencryptStore({
      engine: new LevelEngine({ directory: copy, ...IDENTITY }),
      encryption: encryption([keyed('aesgcm', 'new', 1)]),
      media: 'protobuf',
      wallMs: () => 0,
    }),
  );
  t.regex(error!.message, / is damaged: /);
  t.deepEqual(dataFiles(copy), before);
  t.deepEqual(inspectStore(copy), found);
});

const podsUnderNewKey = () => encryption([keyed('aesgcm', 'new', 1), { kind: 'identity' }], { resource: 'pods' });

test('a re-encryption that the disk ends says what it had rewritten, and goes on from there', async (t) => {
  const directory = join(scratchDirectory(t), 'made');
  writeFiles(directory, (await smallStore(`${directory}-first`)).files);
  const parts = { encryption: podsUnderNewKey(), media: 'protobuf', wallMs: () => 0 } as const;
  const engine = new LevelEngine({ directory, ...IDENTITY });
  const commit = engine.commit.bind(engine);
  let commits = 0;
  engine.commit = async (batch) => {
    if (++commits > 1) throw refusedWrite(directory, new Error('ENOSPC'));
    await commit(batch);
  };
  const error = await t.throwsAsync(reencryptStore({ engine, ...parts }));
  t.regex(error!.message, /is full: nothing was written; 2 objects had been rewritten before, and stay so: /);
  const again = new LevelEngine({ directory, ...IDENTITY });
  const { rewritten } = await reencryptStore({
    ...parts,
    engine: again,
    encryption: podsUnderNewKey(),
  });
  t.is(rewritten, 0);
});
