// Posts bodies to a collector of traces: one at a time is all there are, over a connection that is kept, within a time.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { USUAL_SUITES } from '../tls/usual-suites.ts';
import { onUnaskedSwitch } from './unasked-switch.ts';

export interface OtlpTarget {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs: number;
}

/** Resolves when the collector has said yes; rejects with an Error without anything secret in it. */
export function otlpClient({ url, headers, timeoutMs }: OtlpTarget): (body: string) => Promise<void> {
  const isTls = url.startsWith('https:');
  const agent = isTls ? new TlsAgent({ keepAlive: true, ciphers: USUAL_SUITES }) : new PlainAgent({ keepAlive: true });
  const begin = isTls ? tlsRequest : plainRequest;
  return (body) =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const request = begin(url, {
        method: 'POST',
        agent,
        signal,
        headers: {
          ...Object.fromEntries(headers),
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        },
      });
      request.on('error', reject);
      onUnaskedSwitch(request, () => reject(new Error('it went over to another protocol')));
      request.on('response', (response) => {
        const { statusCode = 0 } = response;
        response.on('error', reject);
        response.on('end', () => {
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new Error(`it answered ${statusCode}`));
        });
        response.resume();
      });
      request.end(body);
    });
}
