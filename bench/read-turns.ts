// The same read of several servers, or by several users, in slices that take turns: what one costs beside the other, whatever else
// the machine does meanwhile.
import type { Bench, Target } from './bench.ts';
import { cpuEach, median } from './figures/slices.ts';
import type { LoadResult } from './load-protocol.ts';
import { configMap, createRequest, leastAnswer, PATHS } from './objects.ts';
import { repeat } from './populate.ts';

const OBJECTS = 100;
const BYTES = 800;
const SECONDS = 1;
/** Before anything is measured: what a server has not compiled yet says nothing of what a request costs. */
const WARM_UP_SECONDS = 4;

/** Makes what `readInTurns` reads. */
export async function addReadObjects(bench: Bench, target: Target): Promise<void> {
  await repeat(bench, target, createRequest(PATHS.configMaps, configMap(`${target.prefix}-{seq}`, BYTES)), OBJECTS);
}

/** The slices of each of the targets. Who goes first changes, so that a machine that gets busier or idler is no advantage. */
export async function readInTurns(bench: Bench, targets: readonly Target[], rounds: number): Promise<LoadResult[][]> {
  const slices = targets.map((): LoadResult[] => []);
  for (const target of targets) await slice(bench, target, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    const order = [...targets.keys()];
    for (const index of round % 2 === 0 ? order : order.toReversed())
      slices[index]!.push(await slice(bench, targets[index]!, SECONDS));
  }
  return slices;
}

/** CPU of a read over that of the other's in the same round: the median. */
export function medianCpuRatio(of: readonly LoadResult[], base: readonly LoadResult[]): number {
  return median(of.map((one, i) => cpuEach(one) / cpuEach(base[i]!)));
}

function slice(bench: Bench, { endpoint, pid, prefix }: Target, seconds: number): Promise<LoadResult> {
  return bench.load({
    type: 'requests',
    endpoint,
    connections: bench.connections,
    request: { method: 'GET', path: `${PATHS.configMaps}/${prefix}-{object}` },
    objects: OBJECTS,
    objectChoice: 'shared',
    answerBytesMin: leastAnswer(BYTES),
    capturesVersion: false,
    bounds: bench.bounds(seconds),
    ...(pid === undefined ? {} : { serverPid: pid }),
  });
}
