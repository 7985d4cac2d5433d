// A process of its own that opens the store on a directory and writes, until it is killed or done. Says each acknowledged write on
// its standard output, in one write call a line, so that the line is out before the next step: `ack <revision> <key> <size>`.
// Arguments: directory, number of writers, seed, number of writes of each.
import { writeSync } from 'node:fs';
import type { StoreProtocol } from '../../actors/store/protocol.ts';
import { STORE_SETTINGS } from '../../actors/store/settings.ts';
import { storeActor } from '../../actors/store/store.ts';
import { planOfOneThread } from '../../runtime/placement/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { startInProcess } from '../../runtime/threads/in-process.ts';
import { LevelEngine } from '../../storage/level/level-engine.ts';
import { MessageWriter } from '../unit/store/store-model.ts';
import { HISTORY_EVENTS_MAX, writtenValue } from './written-value.ts';

const [directory, writers, seed, writesEach] = process.argv.slice(2) as [string, string, string, string];
const random = new SeededRandom(Number(seed));
const KEYS = 200;

const kinds = [{ ...storeActor, settings: { ...STORE_SETTINGS, historyEventsMax: HISTORY_EVENTS_MAX } }];
const running = await startInProcess({
  actors: kinds,
  plan: planOfOneThread(kinds),
  options: {
    engine: () => new LevelEngine({ directory, prefix: '/registry', dialect: 'orch' }),
    media: 'protobuf',
    compactionIntervalMs: 0,
    healthcheckTimeoutMs: 2000,
    historyBytesMax: 64 * 1024 * 1024,
  },
  environment: realEnvironment,
});
const store = running.ref<StoreProtocol>('store');
await Promise.all(Array.from({ length: Number(writers) }, () => write()));
await running.stop();

async function write(): Promise<void> {
  for (let left = Number(writesEach); left > 0; left--) {
    const key = `core/configmaps/default/c${random.below(KEYS)}`;
    const size = random.below(20) === 0 ? random.below(100_000) : random.below(1000);
    const writer = new MessageWriter();
    const isRemoval = random.below(6) === 0;
    writer.transaction([isRemoval ? writer.remove(key, -1) : writer.put(key, -1, writtenValue(key, size))]);
    const { transactions, payload } = writer;
    const { results } = await store.ask({ type: 'commit', transactions, payload }, { deadlineMs: 60_000 });
    const [result] = results;
    if (result?.ok) say(`ack ${result.revision} ${key} ${isRemoval ? -1 : size}`);
  }
}

/** Returns when the line is out, whole; a reader that is slow holds this process up. */
function say(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
