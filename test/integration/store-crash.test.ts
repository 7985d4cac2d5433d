// The store's promise, kept by a real process on a real disk: what was acknowledged survives kill -9, and an
// acknowledgement comes after the sync of the log that holds it.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { DELETED } from '../../storage/records/slab-record.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { seedFor } from '../server/seed.ts';
import { type Version, versionAt } from '../unit/store/store-model.ts';
import { type RecoveredStore, recoveredStore } from './recovered-store.ts';
import { HISTORY_EVENTS_MAX, writtenValue } from './written-value.ts';

const WRITER = fileURLToPath(new URL('./store-writer.js', import.meta.url));
const ROUNDS = 5;
const TRACED_BATCHES = 40;

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** -1 for a removal. */
  readonly size: number;
}

function freshDirectory(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'store-crash-'));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

function startWriter(
  t: ExecutionContext,
  command: readonly string[],
): { child: ChildProcessByStdio<null, Readable, null>; lines: AsyncIterable<string> } {
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout }) };
}

function acknowledged(line: string): Acknowledged | undefined {
  const match = /^ack (\d+) (\S+) (-?\d+)$/.exec(line);
  return match === null ? undefined : { revision: Number(match[1]), key: match[2]!, size: Number(match[3]) };
}

/** Lets a process write until so many writes were acknowledged, and kills it in the middle of the next. */
async function killedAfter(
  t: ExecutionContext,
  directory: string,
  acks: number,
  seed: number,
): Promise<Acknowledged[]> {
  const { child, lines } = startWriter(t, [process.execPath, WRITER, directory, '8', String(seed), 'Infinity']);
  const exit = once(child, 'exit');
  const found: Acknowledged[] = [];
  for await (const line of lines) {
    const ack = acknowledged(line);
    if (ack !== undefined) found.push(ack);
    // What is still in the pipe was acknowledged too, and is read to the end.
    if (found.length === acks) child.kill('SIGKILL');
  }
  await exit;
  t.is(child.signalCode, 'SIGKILL');
  return found;
}

type Recovered = RecoveredStore<Version>;

const recovered = (directory: string): Promise<Recovered> => recoveredStore(directory, versionAt);

/** Every event's predecessor is the event before it of the same key, and the last one is what is current. */
function checkHistory(t: ExecutionContext, { revision, compactedRevision, current, events }: Recovered): void {
  t.deepEqual(
    events.map(({ version }) => version.revision),
    Array.from({ length: revision - compactedRevision }, (_, index) => compactedRevision + 1 + index),
  );
  const last = new Map<string, Version>();
  for (const { version, previous } of events) {
    const before = last.get(version.key);
    if (before !== undefined) t.deepEqual(previous, before.type === DELETED ? undefined : before);
    last.set(version.key, version);
  }
  for (const [key, version] of last) t.deepEqual(current.get(key), version.type === DELETED ? undefined : version);
}

/**
 * What every revision did, of all rounds so far: what was acknowledged, and what a round that was killed committed and could not
 * acknowledge, as the window shows it. A window is far longer than what one round leaves unacknowledged, so no revision is missing.
 */
type Ledger = Map<number, Acknowledged>;

function checkAcknowledged(t: ExecutionContext, acks: readonly Acknowledged[], state: Recovered): void {
  const byRevision = new Map(state.events.map(({ version }) => [version.revision, version]));
  for (const { revision, key, size } of acks) {
    if (revision <= state.compactedRevision) continue;
    const version = byRevision.get(revision);
    const isThere =
      version?.key === key && (size < 0 ? version.type === DELETED : version.data === writtenValue(key, size));
    t.true(isThere, `revision ${revision} of ${key} was acknowledged`);
  }
}

function note(ledger: Ledger, acks: readonly Acknowledged[], { events }: Recovered): void {
  for (const { version } of events) {
    const { revision, key, type, data } = version;
    ledger.set(revision, { revision, key, size: type === DELETED ? -1 : Number(data.split(' ')[1]) });
  }
  for (const ack of acks) ledger.set(ack.revision, ack);
}

/** What is there is what the revisions made, all of them: also of those that were compacted away nothing is lost or back. */
function checkCurrent(t: ExecutionContext, ledger: Ledger, { revision, current }: Recovered): void {
  const expected = new Map<string, Acknowledged>();
  for (let at = 1; at <= revision; at++) {
    const change = ledger.get(at);
    if (change === undefined) t.fail(`nobody knows what revision ${at} did`);
    else if (change.size < 0) expected.delete(change.key);
    else expected.set(change.key, change);
  }
  t.deepEqual([...current.keys()].sort(), [...expected.keys()].sort());
  for (const [key, change] of expected) {
    const version = current.get(key);
    const isIt = version?.revision === change.revision && version.data === writtenValue(key, change.size);
    t.true(isIt, `${key} is not as revision ${change.revision} left it`);
  }
}

test('what was acknowledged is there after kill -9 at any moment, and history has no gap', async (t) => {
  const directory = freshDirectory(t);
  const seed = seedFor(t);
  const random = new SeededRandom(seed);
  const acks: Acknowledged[] = [];
  const ledger: Ledger = new Map();
  let compacted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // The first round fills the window, so that the others are killed while the oldest is compacted away.
    const writes = (round === 0 ? HISTORY_EVENTS_MAX : 0) + 1 + random.below(1500);
    acks.push(...(await killedAfter(t, directory, writes, seed + round)));
    const state = await recovered(directory);
    t.true(state.revision >= Math.max(...acks.map(({ revision }) => revision)));
    t.is(new Set(acks.map(({ revision }) => revision)).size, acks.length, 'no revision was given twice');
    checkHistory(t, state);
    checkAcknowledged(t, acks, state);
    note(ledger, acks, state);
    checkCurrent(t, ledger, state);
    compacted = state.compactedRevision;
  }
  t.true(compacted > 0, 'nothing was compacted');
});

interface Traced {
  readonly call: string;
  /** The path or pipe of the file descriptor. */
  readonly file: string;
  readonly text: string;
}

/** The calls of a trace in the order in which they returned: a call that others interrupt is told in two lines. */
function returnedCalls(trace: string): Traced[] {
  const begun = new Map<string, Traced>();
  const returned: Traced[] = [];
  for (const line of trace.split('\n')) {
    const resumed = /^(\d+) +<\.\.\. (\w+) resumed>.*= (-?\d+)/.exec(line);
    if (resumed !== null) {
      const call = begun.get(resumed[1]!);
      if (call !== undefined && Number(resumed[3]) >= 0) returned.push(call);
      begun.delete(resumed[1]!);
      continue;
    }
    const match = /^(\d+) +(\w+)\(\d+<([^>]*)>(?:, "((?:[^"\\]|\\.)*)")?/.exec(line);
    if (match === null) continue;
    const call = { call: match[2]!, file: match[3]!, text: match[4] ?? '' };
    if (line.includes('<unfinished ...>')) begun.set(match[1]!, call);
    else if (!line.includes(' = -1 ')) returned.push(call);
  }
  return returned;
}

const SYNCS: ReadonlySet<string> = new Set(['fdatasync', 'fsync']);

testNeeding(test, ['strace'])(
  'every acknowledgement comes after the log that holds the write was synced',
  async (t) => {
    const directory = freshDirectory(t);
    const traceFile = join(directory, 'trace');
    const data = join(directory, 'data');
    const tracer = ['strace', '-f', '-y', '-s', '40', '-e', 'trace=fdatasync,fsync,write,pwrite64', '-o', traceFile];
    // One writer: each batch holds one write, and what lies between two acknowledgements belongs to the second.
    const { child, lines } = startWriter(t, [
      ...tracer,
      process.execPath,
      WRITER,
      data,
      '1',
      '1',
      String(TRACED_BATCHES),
    ]);
    const exit = once(child, 'exit');
    let acks = 0;
    for await (const line of lines) if (acknowledged(line) !== undefined) acks++;
    await exit;
    t.is(child.exitCode, 0);
    let checked = 0;
    let unsynced: string | undefined;
    let written = 0;
    for (const { call, file, text } of returnedCalls(readFileSync(traceFile, 'utf8'))) {
      if (/\/store\/\d+\.log$/.test(file)) {
        if (SYNCS.has(call)) {
          if (unsynced === file) unsynced = undefined;
        } else {
          unsynced = file;
          written++;
        }
      } else if (text.startsWith('ack ')) {
        t.true(written > 0, `${text} follows no write to the log`);
        t.is(unsynced, undefined, `${text} was said before the log was synced`);
        written = 0;
        checked++;
      }
    }
    t.is(checked, acks);
    t.true(checked >= 20, `${checked} acknowledgements in the trace`);
  },
);
