import test from 'ava';
import { HeartbeatMonitor, heartbeatMemory } from '../../../runtime/threads/heartbeat.ts';

const INTERVAL_MS = 1000;
const HANG_TIMEOUT_MS = 30_000;

/** A monitor of two threads, of which the first turns, and the check at which the second is given up. */
function givenUpAt(cpuMsPerCheck: number, checksMax: number): number | undefined {
  const memory = heartbeatMemory(2);
  const counters = new Int32Array(memory);
  const monitor = new HeartbeatMonitor(memory, INTERVAL_MS, HANG_TIMEOUT_MS);
  counters[1] = 7;
  monitor.check([0, 1], 1_000_000);
  for (let check = 1; check <= checksMax; check++) {
    counters[0]!++;
    const silent = monitor.check([0, 1], 1_000_000 + check * cpuMsPerCheck);
    if (silent.length === 0) continue;
    if (silent.includes(0)) throw new Error('the thread that turns was given up');
    return check;
  }
  return undefined;
}

const CASES: readonly (readonly [what: string, cpuMsPerCheck: number, expected: number | undefined])[] = [
  ['a thread that spins is given up after the timeout', 1000, 30],
  ['one beside others that are busy too is not given up before', 2000, 30],
  ['a thread on a machine ten times overloaded is given up when it has had as much time', 120, 250],
  ['a thread that waits for ever is given up at last', 1, 300],
];

for (const [what, cpuMsPerCheck, expected] of CASES) {
  test(what, (t) => {
    t.is(givenUpAt(cpuMsPerCheck, 400), expected);
  });
}
