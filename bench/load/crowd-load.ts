// Very many requests at once, each a stream of an HTTP/2 connection: all are sent before the first is answered. Counts what becomes of
// them; none may be without an answer in the end.
import type { ClientHttp2Session } from 'node:http2';
import type { CrowdJob, LoadResult } from '../load-protocol.ts';
import { digitsOf } from '../request-template.ts';
import { openSession } from './http2-watches.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { Measurement } from './measurement.ts';

const REFUSED = 429;

interface Counts {
  good: number;
  refused: number;
  firstError: string | undefined;
}

/** Runs the job. Rejects when a connection cannot be opened. */
export async function runCrowdLoad(job: CrowdJob): Promise<LoadResult> {
  const { requests, streamsEach, bounds, serverPid } = job;
  const sessions: ClientHttp2Session[] = [];
  try {
    for (let opened = 0; opened * streamsEach < requests; opened++) sessions.push(await openSession(job.endpoint));
    const measurement = new Measurement(serverPid);
    const latency = new LatencyHistogram();
    const counts: Counts = { good: 0, refused: 0, firstError: undefined };
    measurement.begin(performance.now());
    const asking = Array.from({ length: requests }, (_, number) =>
      ask(sessions[Math.floor(number / streamsEach)]!, job, number, latency, counts),
    );
    await Promise.race([Promise.all(asking), expired(bounds.seconds)]);
    const { good, refused, firstError } = counts;
    return {
      ...{ operations: good, writes: good, refused, bodyBytes: 0, errors: requests - good - refused },
      ...(firstError === undefined ? {} : { firstError }),
      latency: latency.summary(),
      ...measurement.end(performance.now()),
    };
  } finally {
    for (const session of sessions) session.destroy();
  }
}

function expired(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000).unref();
  });
}

/** Resolves when the stream is over, whatever it came to. */
function ask(
  session: ClientHttp2Session,
  { request, endpoint }: CrowdJob,
  number: number,
  latency: LatencyHistogram,
  counts: Counts,
): Promise<void> {
  const filled = (text: string): string => text.replaceAll(/\{(?:seq|object)\}/g, digitsOf(number));
  const sentMs = performance.now();
  const stream = session.request({
    ':method': request.method,
    ':path': filled(request.path),
    'content-type': request.contentType ?? 'application/json',
    ...(endpoint.authorization === undefined ? {} : { authorization: filled(endpoint.authorization) }),
  });
  return new Promise((resolve) => {
    let status = 0;
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
    });
    stream.on('error', (error) => {
      counts.firstError ??= error.message;
    });
    stream.on('close', () => {
      if (status >= 200 && status < 300) {
        counts.good++;
        latency.record(performance.now() - sentMs);
      } else if (status === REFUSED) counts.refused++;
      else counts.firstError ??= `answered ${status}`;
      resolve();
    });
    stream.resume();
    stream.end(request.body === undefined ? undefined : filled(request.body));
  });
}
