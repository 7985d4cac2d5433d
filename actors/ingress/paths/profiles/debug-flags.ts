// Settings that can be changed while the server runs, below /debug/flags/: how much is logged, on every thread, until it ends.

import type { Ref } from '../../../../runtime/actor.ts';
import { levelAt } from '../../../../runtime/logging/log-options.ts';
import type { ThreadProtocol } from '../../../../runtime/threads/thread-actor.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { headersFor, sendText } from '../../reads/answers.ts';

const FLAGS_PATH = '/debug/flags';
const VERBOSITY_PATH = `${FLAGS_PATH}/v`;
const ANSWER_MS = 30_000;
/** Of a body that is a number. */
const BYTES_MAX = 64;

export class DebugFlags {
  readonly #threads: readonly Ref<ThreadProtocol>[];

  constructor(threads: readonly Ref<ThreadProtocol>[]) {
    this.#threads = threads;
  }

  /** Answers a request of any method below the path. Resolves false where there is no such flag. */
  async serve(exchange: Exchange, path: string, verb: string): Promise<boolean> {
    if (path === FLAGS_PATH || path === `${FLAGS_PATH}/`) {
      const page = `<!doctype html><title>${FLAGS_PATH}/</title>\n<h1>${FLAGS_PATH}/</h1>\n<p>PUT a value to set it</p>\n<ul><li>v</li></ul>\n`;
      exchange.answer(200, headersFor('text/html; charset=utf-8'), page);
      return true;
    }
    if (path !== VERBOSITY_PATH) return false;
    if (verb === 'put') await this.#setVerbosity(exchange);
    else sendText(exchange, 406, 'unsupported http method');
    return true;
  }

  async #setVerbosity(exchange: Exchange): Promise<void> {
    const body = (await exchange.body) ?? new Uint8Array();
    const text = body.byteLength > BYTES_MAX ? '' : Buffer.from(body).toString('utf8');
    if (!/^[+-]?\d{1,9}$/.test(text)) {
      sendText(exchange, 400, `failed set klog.logging.verbosity ${text}: it is no whole number`);
      return;
    }
    const message = { type: 'setLogLevel', level: levelAt(Math.max(0, Number(text))) } as const;
    await Promise.all(this.#threads.map((thread) => thread.ask(message, { deadlineMs: ANSWER_MS })));
    sendText(exchange, 200, `successfully set klog.logging.verbosity to ${text}`);
  }
}

/** Whether a path is below that of the flags. */
export function isFlagPath(path: string): boolean {
  return path === FLAGS_PATH || path.startsWith(`${FLAGS_PATH}/`);
}
