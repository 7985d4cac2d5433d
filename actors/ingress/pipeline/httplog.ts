// The line of each request at `-v 3`, as the original's file of this name writes it, so that what reads its logs reads ours, and
// `--vmodule httplog=3` shows these lines alone. A request whose line nobody wants costs one comparison.
import type { Logger } from 'pino';
import { isSensitive } from '../../../runtime/logging/sanitized.ts';
import type { HttpRequest } from '../../../transport/http.ts';
import { formatDurationMs } from '../../../values/duration.ts';
import { decodePercent } from '../../../values/percent.ts';
import type { Exchange, LoggedArrival } from '../exchange/exchange.ts';

const LEVEL = 'debug';
const USER_AGENT_LENGTH_MAX = 1024;
const AUDIT_ID_LENGTH_MAX = 64;
/** Further digits are those of a clock that counts in binary fractions. */
const MICROS_IN_MS = 1000;
const SWITCHING_PROTOCOLS = 101;
/** From where a name can begin: a text without any is passed over once. A semicolon parts parameters for some. */
const PARAMETER = /(?<![^=&;])([^=&;]+)=[^&;]*/g;
const CUT = '[redacted]';

/** To be kept with the request; undefined: its line is not wanted. */
export function loggedArrival(log: Logger, request: HttpRequest): LoggedArrival | undefined {
  if (!log.isLevelEnabled(LEVEL)) return undefined;
  const { path, query, remoteAddress } = request;
  return {
    uri: query === '' ? path : `${path}?${query.replaceAll(PARAMETER, withoutSecret)}`,
    userAgent: request.header('user-agent').slice(0, USER_AGENT_LENGTH_MAX),
    address: remoteAddress,
  };
}

/** Logs the request, which is over. */
export function logRequest(log: Logger, exchange: Exchange, latencyMs: number): void {
  const { arrival, audit, code, request, requestNumber, user } = exchange;
  if (arrival === undefined) return;
  log[LEVEL](
    {
      verb: request.method,
      URI: arrival.uri,
      latency: formatDurationMs(Math.round(latencyMs * MICROS_IN_MS) / MICROS_IN_MS),
      userAgent: arrival.userAgent,
      ...(audit === undefined ? undefined : { 'audit-ID': audit.id.slice(0, AUDIT_ID_LENGTH_MAX) }),
      srcIP: arrival.address,
      ...(code === SWITCHING_PROTOCOLS ? { hijacked: true } : { resp: code }),
      user: user.name,
      requestNumber,
    },
    'HTTP',
  );
}

function withoutSecret(parameter: string, name: string): string {
  return isSensitive(decodePercent(name) ?? name) ? `${name}=${CUT}` : parameter;
}
