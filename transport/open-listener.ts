// Chooses the listener: uws where it can do what is asked and its binary can be loaded, node otherwise. Each is loaded
// only when chosen.
import { messageOf } from '../runtime/errors.ts';
import type { Listener, ListenerOptions } from './http.ts';
import { reasonBeforeUws } from './tls/listener-limits.ts';
import { loadUws, prepareUws, uwsHeaderBytesMax } from './uws/binary.ts';

export type ListenerKind = 'auto' | 'uws' | 'node';

export interface OpenedListener {
  readonly listener: Listener;
  /** Why the listener is not the fast one, or not as configured: for the log. */
  readonly note?: string;
}

export type OpenListener = typeof openListener;

/**
 * Opens a listener. `auto` takes `node` for what uws cannot do, or not as well (tls/listener-limits.ts), or where the uws binary cannot be
 * loaded, and says so in `note`. Rejects with an OrchError BadConfiguration when the address or the TLS material cannot be
 * used, or when `uws` was named and cannot be loaded.
 */
export async function openListener(kind: ListenerKind, options: ListenerOptions): Promise<OpenedListener> {
  if (kind === 'node') return { listener: await openNode(options) };
  if (kind === 'auto') {
    const reason = reasonBeforeUws(options) ?? (await loadFailure(options));
    if (reason !== undefined) {
      return { listener: await openNode(options), note: `serving with the slower node listener: ${reason}` };
    }
  }
  const { openUwsListener } = await import('./uws/listener.ts');
  const listener = await openUwsListener(options);
  const headerBytesMax = uwsHeaderBytesMax();
  if (headerBytesMax === options.headerBytesMax) return { listener };
  return {
    listener,
    note: `headers are limited to ${headerBytesMax} bytes: the limit was not set at the process's start`,
  };
}

async function loadFailure(options: ListenerOptions): Promise<string | undefined> {
  prepareUws(options.headerBytesMax);
  try {
    await loadUws();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function openNode(options: ListenerOptions): Promise<Listener> {
  const { openNodeListener } = await import('./node/listener.ts');
  return openNodeListener(options);
}
