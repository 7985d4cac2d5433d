// Which listener serves: uWebSockets.js unless something is asked for that only Node's own can do, or its binary does not
// load here.
import type { Listener, ListenerOptions } from './exchange.ts';
import { openUwsListener } from './uws-listener.ts';

export interface ListenerNeeds {
  readonly clientCertificates: boolean;
  readonly http2: boolean;
}

export interface OpenedListener {
  readonly listener: Listener;
  /** What an operator should know of the choice. */
  readonly note?: string;
}

export async function openListener(
  _kind: 'auto' | 'uws' | 'node',
  options: ListenerOptions,
  _needs: ListenerNeeds,
): Promise<OpenedListener> {
  return { listener: await openUwsListener(options) };
}
