// What the log says of a request that took long: where its time went, as the original's traces have it. A request that was fast
// costs two readings of the clock.
import type { Logger } from 'pino';
import type { Exchange } from '../exchange/exchange.ts';

/** From so long on a request is worth a line. */
const SLOW_MS = 500;
const AGENT_CHARACTERS_MAX = 200;

/** Logs `exchange` if it took long. Watches and the like are meant to. */
export function logIfSlow(log: Logger, exchange: Exchange, latencyMs: number): void {
  if (latencyMs < SLOW_MS || exchange.longRunning) return;
  const { requestNumber, requestId, path, code, request, startedMs, admittedMs, begunMs } = exchange;
  const trace = `Trace[${requestNumber}]:`;
  const agent = request.header('user-agent').slice(0, AGENT_CHARACTERS_MAX);
  const name = `${exchange.verb.slice(0, 1).toUpperCase()}${exchange.verb.slice(1)}`;
  const steps: readonly (readonly [what: string, atMs: number | undefined])[] = [
    ['The user is known and may', admittedMs],
    ['Let through', begunMs],
  ];
  const lines: string[] = [];
  let lastMs = startedMs;
  for (const [what, atMs] of steps) {
    if (atMs === undefined) continue;
    lines.push(`${trace} ---${JSON.stringify(what)} ${Math.round(atMs - lastMs)}ms`);
    lastMs = atMs;
  }
  const restMs = Math.round(startedMs + latencyMs - lastMs);
  const total = Math.round(latencyMs);
  lines.push(`${trace} [${total}ms] [${restMs}ms] END`);
  log.info(
    { requestId, requestNumber, code, stack: lines.join('\n') },
    `${trace} "${name}" url:${path},user-agent:${agent} (total time: ${total}ms):`,
  );
}
