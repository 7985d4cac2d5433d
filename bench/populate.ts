// Fills a server before a load. Part of a workload's preparation, never of its figures.
import type { Bench, Target } from './bench.ts';
import type { LoadResult, RequestTemplate } from './load-protocol.ts';

/** Runs a request so many times, `{seq}` counting from 0. Throws unless every one succeeds. */
export async function repeat(
  bench: Bench,
  target: Target,
  request: RequestTemplate,
  count: number,
): Promise<LoadResult> {
  const result = await bench.load({
    type: 'requests',
    endpoint: target.endpoint,
    connections: Math.min(bench.connections, count),
    request,
    objects: count,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: bench.wholeCount(count),
    ...(target.pid === undefined ? {} : { serverPid: target.pid }),
  });
  const done = result.operations;
  if (done < count) throw new Error(`only ${done} of ${count} requests succeeded: ${result.firstError ?? 'no answer'}`);
  return result;
}
