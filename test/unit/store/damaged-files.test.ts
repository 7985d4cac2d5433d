// How the files of a small store can lose or change a byte (one in some; with more effort every one), by the real engine on real
// files. A start gives everything or refuses; what the files say without the engine agrees with it; a repair saves what is
// whole. ORCH_EVERY_BIT=1 flips each bit of each byte of both stores, and repairs more often: some minutes.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { FoundFiles } from '../../../storage/level/found-files.ts';
import { openLevelDatabase } from '../../../storage/level/level-database.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';
import { sealed, VALUES } from '../../../storage/level/level-layout.ts';
import { inspectStore } from '../../../storage/upkeep/inspection.ts';
import { inspectForRepair, repairStore } from '../../../storage/upkeep/repair.ts';
import { strideOf } from '../../server/effort.ts';
import {
  type Files,
  IDENTITY,
  oftenOpenedStore,
  readFiles,
  type SmallStore,
  scratchDirectory,
  smallStore,
  startOn,
  storeIn,
  writeFiles,
} from './store-on-disk.ts';

const EVERY_BIT = process.env.ORCH_EVERY_BIT === '1';
/** A repair writes and syncs a new store: some cases of many. */
const REPAIR_EACH = EVERY_BIT ? 5 : strideOf(13);
/** Odd, so that every bit of a byte has its turn. */
const byteEach = (stride: number): number => (EVERY_BIT ? 1 : strideOf(stride));
const EVERY_BIT_MS_MAX = 1_200_000;
/** The names of all files. */
const ALL = /^/;
/** LevelDB's own notes: nothing reads them. */
const NOT_DATA = /(?:^|\/)LO(?:G|G\.old|CK)$/;

interface Damage {
  readonly what: string;
  readonly file: string;
  readonly at: number;
  readonly files: Files;
}

function* damagesOf(files: Files, only = ALL, stride = byteEach(5)): Generator<Damage> {
  for (const [file, bytes] of files) {
    if (NOT_DATA.test(file) || !only.test(file)) continue;
    const damage = (what: string, at: number, changed: Buffer | undefined): Damage => {
      const copy = new Map(files);
      if (changed === undefined) copy.delete(file);
      else copy.set(file, changed);
      return { what: `${file}: ${what} ${at}`, file, at, files: copy };
    };
    yield damage('deleted', 0, undefined);
    for (let at = 0; at < bytes.length; at += stride) {
      for (const bit of EVERY_BIT ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8]) {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= 1 << bit;
        yield damage(`bit ${bit} flipped at`, at, flipped);
      }
      yield damage('cut at', at, bytes.subarray(0, at));
    }
  }
}

function dataFiles(directory: string): Files {
  return new Map([...readFiles(directory)].filter(([name]) => !NOT_DATA.test(name)));
}

function differ(a: Files, b: Files): boolean {
  return a.size !== b.size || [...a].some(([name, bytes]) => b.get(name)?.equals(bytes) !== true);
}

/** A directory that is damaged in one way after another; what a start left as it was is not written again. */
class DamagedCopy {
  readonly #directory: string;
  readonly #store: SmallStore;
  /** What lies in the directory; undefined when that is not known. */
  #present: Files | undefined;

  constructor(directory: string, store: SmallStore) {
    this.#directory = directory;
    this.#store = store;
  }

  /** What is wrong with how a start and an inspection take a damage; empty when nothing is. */
  async faults({ what, files }: Damage): Promise<string[]> {
    const { model } = this.#store;
    const found: string[] = [];
    this.#place(files);
    const before = new Map([...files].filter(([name]) => !NOT_DATA.test(name)));
    const { problems, objects } = inspectStore(this.#directory);
    if (problems.length === 0 && objects.size !== model.current.size) found.push(`${what}: sound with ${objects.size}`);
    if (differ(before, dataFiles(this.#directory))) found.push(`${what}: the inspection changed the files`);
    const outcome = await startOn(this.#directory, model);
    if (outcome.kind === 'wrong') found.push(`${what}: ${outcome.what}`);
    if (outcome.kind === 'refused') {
      if (!/ is damaged: /.test(outcome.message)) found.push(`${what}: refused with "${outcome.message}"`);
      if (problems.length === 0) found.push(`${what}: refused (${outcome.message}) and sound`);
      if (differ(before, dataFiles(this.#directory))) found.push(`${what}: the refused start changed the files`);
      else this.#present = before;
    }
    return found;
  }

  #place(files: Files): void {
    const present = this.#present;
    this.#present = undefined;
    if (present === undefined) rmSync(this.#directory, { recursive: true, force: true });
    for (const name of present?.keys() ?? []) if (!files.has(name)) rmSync(join(this.#directory, name));
    const isMissing = ([name, bytes]: readonly [string, Buffer]) => present?.get(name)?.equals(bytes) !== true;
    writeFiles(this.#directory, new Map([...files].filter(isMissing)));
  }
}

/** What is wrong with a repair after a damage; empty when nothing is. */
async function repairFaults(
  directory: string,
  { what, files, file, at }: Damage,
  store: SmallStore,
): Promise<string[]> {
  rmSync(directory, { recursive: true, force: true });
  writeFiles(directory, files);
  const { model } = store;
  const found = inspectForRepair(directory);
  if (found.problems.length === 0) {
    const outcome = await startOn(directory, model);
    return outcome.kind === 'whole' ? [] : [`${what}: said to be sound, and a start is ${JSON.stringify(outcome)}`];
  }
  const { revision, keptIn } = await repairStore(directory, found, IDENTITY, 5000);
  const wrong: string[] = [];
  const expect = (holds: boolean, says: string): void => {
    if (!holds) wrong.push(`${what}: ${says}`);
  };
  expect(revision > model.revision, `goes on from ${revision}`);
  const { problems } = inspectStore(directory);
  expect(problems.length === 0, `the repaired store is not sound: ${problems.join('; ')}`);
  const again = await storeIn(directory);
  expect(typeof again !== 'string', `the repaired store is refused: ${String(again)}`);
  if (typeof again === 'string') return wrong;
  expect(again.revision === revision && again.compactedRevision === revision - 1, `is at ${again.revision}`);
  const listed = new Map(found.findings.map((finding) => [finding.key, finding]));
  const hit = file.endsWith('.log') ? store.logParts.find(({ end }) => at < end) : undefined;
  for (const [key, version] of model.current) {
    const kept = again.objects.get(key);
    if (kept?.revision === version.revision) {
      expect(kept.data === version.data, `${key} says ${kept.data}`);
      continue;
    }
    // Only what was hit may be missing or older; what is named as lost is named with what was kept of it.
    const isHit = file.endsWith('.ldb') || what.includes('cut') || what.includes('deleted') || hit?.keys.includes(key);
    expect(isHit === true, `${key} is lost`);
    expect(!found.isComplete, `${key} is lost, and nothing is said to be`);
    const finding = listed.get(key);
    if (finding !== undefined) expect(finding.keptRevision === kept?.revision, `${key} is kept at ${kept?.revision}`);
  }
  const unnamed = [...model.current.keys()].filter(
    (key) => !again.objects.has(key) && listed.get(key)?.isLost !== true,
  );
  expect(found.unnamed <= unnamed.length, `${found.unnamed} are said to be lost without a name, not ${unnamed.length}`);
  for (const [name, bytes] of files) {
    if (NOT_DATA.test(name)) continue;
    expect(readFiles(keptIn).get(name)?.equals(bytes) === true, `${name} is not kept`);
  }
  return wrong;
}

const STORES: readonly (readonly [name: string, make: typeof smallStore, only: RegExp, stride: number])[] = [
  ['a small store', smallStore, ALL, byteEach(5)],
  ['a store whose tables were merged', oftenOpenedStore, EVERY_BIT ? ALL : /MANIFEST|CURRENT/, byteEach(3)],
];

for (const [name, make, only, stride] of STORES) {
  test(`any damage to ${name} is refused, or the store is read whole`, async (t) => {
    if (EVERY_BIT) t.timeout(EVERY_BIT_MS_MAX);
    const directory = scratchDirectory(t);
    const store = await make(join(directory, 'made'));
    const copy = new DamagedCopy(join(directory, 'copy'), store);
    const wrong: string[] = [];
    let cases = 0;
    for (const damage of damagesOf(store.files, only, stride)) {
      wrong.push(...(await copy.faults(damage)));
      cases++;
    }
    t.log(`${cases} damages`);
    t.deepEqual(wrong, []);
    t.true(cases > 200);
  });

  test(`a repair of ${name} saves what is whole, says what is lost, and keeps what it found`, async (t) => {
    if (EVERY_BIT) t.timeout(EVERY_BIT_MS_MAX);
    const directory = scratchDirectory(t);
    const store = await make(join(directory, 'made'));
    const copy = join(directory, 'copy');
    const wrong: string[] = [];
    let number = 0;
    let repairs = 0;
    for (const damage of damagesOf(store.files)) {
      const isChosen = number++ % REPAIR_EACH === 0 || damage.what.includes('deleted');
      if (!isChosen) continue;
      wrong.push(...(await repairFaults(copy, damage, store)));
      repairs++;
    }
    t.log(`${repairs} repairs`);
    t.deepEqual(wrong, []);
    t.true(repairs > 50);
  });
}

test('where the manifest alone is damaged, a repair makes a store that starts with everything', async (t) => {
  const directory = scratchDirectory(t);
  const made = join(directory, 'made');
  const { model } = await smallStore(made);
  const engine = new LevelEngine({ directory: made, ...IDENTITY });
  await engine.open();
  // What the tables are made into is an edit of the manifest of its own.
  await engine.reclaim();
  await engine.close();
  const files = readFiles(made);
  const [name, manifest] = [...files].find(([file]) => file.includes('MANIFEST'))!;
  const copy = join(directory, 'copy');
  let soundButForIt = 0;
  for (let length = 1; length < manifest.length; length++) {
    rmSync(copy, { recursive: true, force: true });
    writeFiles(copy, new Map([...files, [name, manifest.subarray(0, length)]]));
    if (inspectStore(copy).problems.length === 0 || inspectStore(copy, 'all').problems.length > 0) continue;
    soundButForIt++;
    const found = inspectForRepair(copy);
    t.true(found.isComplete);
    t.not(found.problems.length, 0, `cut at ${length}`);
    await repairStore(copy, found, IDENTITY, 5000);
    const state = await storeIn(copy);
    t.true(typeof state !== 'string' && state.objects.size === model.current.size, JSON.stringify(state));
  }
  t.not(soundButForIt, 0);
});

for (const deleted of ['store/', 'head'] as const) {
  test(`without ${deleted} a store is not taken for a new one, unless nothing is missing`, async (t) => {
    const directory = scratchDirectory(t);
    const { files, model } = await smallStore(join(directory, 'made'));
    const copy = join(directory, 'copy');
    writeFiles(copy, new Map([...files].filter(([name]) => !name.startsWith(deleted))));
    const outcome = await startOn(copy, model);
    t.is(outcome.kind, deleted === 'head' ? 'whole' : 'refused');
  });
}

test('a database that a start which ended while it put back left under another name is found by the next one', async (t) => {
  const directory = scratchDirectory(t);
  const { model } = await smallStore(join(directory, 'made'));
  renameSync(join(directory, 'made', 'store'), join(directory, 'made', 'store.as-found'));
  t.is((await startOn(join(directory, 'made'), model)).kind, 'whole');
});

test('a database that a process left under another name is found by a repair, be it the damaged one or the new', async (t) => {
  const directory = scratchDirectory(t);
  for (const name of ['store.as-found', 'store.repaired']) {
    const { model } = await smallStore(join(directory, name));
    renameSync(join(directory, name, 'store'), join(directory, name, name));
    t.deepEqual(inspectForRepair(join(directory, name)).problems, []);
    t.is((await startOn(join(directory, name), model)).kind, 'whole');
  }
});

test('a start that was cut short takes nothing from what a check and a repair find', async (t) => {
  const directory = scratchDirectory(t);
  const { files, logParts, model } = await smallStore(join(directory, 'made'));
  const damaged = new Map(files);
  const name = [...files.keys()]
    .filter((file) => file.endsWith('.log'))
    .sort()
    .at(-1)!;
  const log = Buffer.from(files.get(name)!);
  // Of a record with others behind it: LevelDB drops those as well.
  log[logParts[0]!.end - 1]! ^= 1;
  damaged.set(name, log);
  const copy = join(directory, 'copy');
  writeFiles(copy, damaged);
  const before = inspectStore(copy);
  t.not(before.problems.length, 0);
  const database = join(copy, 'store');
  new FoundFiles(database);
  const opened = openLevelDatabase(database);
  await opened.open();
  await opened.close();
  t.deepEqual(inspectStore(copy), before);
  t.is((await startOn(copy, model)).kind, 'refused');
  t.deepEqual(inspectStore(copy), before);
  const found = inspectForRepair(copy);
  t.is(found.objects.size, before.objects.size);
  t.false(existsSync(join(copy, 'store.as-found')));
});

test('where a repair was cut short no start makes a new store, though nothing says that there was one', async (t) => {
  const directory = scratchDirectory(t);
  const { model } = await smallStore(directory);
  renameSync(join(directory, 'store'), join(directory, 'store.repaired'));
  rmSync(join(directory, 'head'));
  const outcome = await startOn(directory, model);
  t.is(outcome.kind, 'refused');
  t.regex(outcome.kind === 'refused' ? outcome.message : '', /a repair that was not finished: run it again/);
});

test('the store of a later release is neither damaged nor repaired, but left to that release', async (t) => {
  const directory = scratchDirectory(t);
  await smallStore(directory);
  const database = openLevelDatabase(join(directory, 'store'));
  await database.open();
  await database.put('m/format', sealed(Buffer.from(JSON.stringify({ ...IDENTITY, format: 99 }))), { sync: true });
  await database.close();
  const before = dataFiles(directory);
  const refusal = {
    code: 'StoreUnusable',
    message: `the store in ${directory} is of a newer release (run that, or restore a snapshot that was taken before the update): it has format 99, this release reads format 3`,
  };
  for (const choice of ['manifest', 'all'] as const) t.throws(() => inspectStore(directory, choice), refusal);
  t.throws(() => inspectForRepair(directory), refusal);
  t.false(differ(before, dataFiles(directory)));
});

test('what is lost by name is not counted once more among the objects of which nothing is left', async (t) => {
  const directory = scratchDirectory(t);
  const { model } = await smallStore(directory);
  const database = openLevelDatabase(join(directory, 'store'));
  await database.open();
  for (const key of model.current.keys()) await database.del(`${IDENTITY.prefix}${VALUES}${key}`, { sync: true });
  await database.close();
  const { findings, unnamed } = inspectForRepair(directory);
  const lost = findings.filter(({ isLost }) => isLost).map(({ key }) => key);
  t.deepEqual(lost.sort(), [...model.current.keys()].sort());
  t.true(findings.some(({ isLost, keptRevision }) => isLost && keptRevision === undefined));
  t.is(unnamed, 0);
});
