// Which signals a server hears: those that end it, and those that are to change nothing.
import { isatty } from 'node:tty';

export interface HeardSignals {
  readonly ending: readonly NodeJS.Signals[];
  readonly ignored: readonly NodeJS.Signals[];
}

/**
 * `outlivesHangUp`: who rotates the files of a log says so by a hang-up, and `nohup` asks to outlive one, which Node forgets as it
 * starts. SIGUSR1 would have Node open its debugger, by which any user of the machine may do what the server may.
 */
export function heardSignals(outlivesHangUp: boolean): HeardSignals {
  return outlivesHangUp
    ? { ending: ['SIGINT', 'SIGTERM'], ignored: ['SIGUSR1', 'SIGHUP'] }
    : { ending: ['SIGINT', 'SIGTERM', 'SIGHUP'], ignored: ['SIGUSR1'] };
}

/** Whether somebody sits before the process: a hang-up then says that they have left. */
export function hasTerminal(): boolean {
  return [0, 1, 2].some((stream) => isatty(stream));
}

export function ignoreSignals(signals: readonly NodeJS.Signals[]): void {
  for (const signal of signals) process.on(signal, () => {});
}

/**
 * Who asks once is heard twice where a program stands between: `timeout` sends its signal to the server and then to all of its group, and
 * wrappers pass on what the terminal has sent to everybody.
 */
const SAME_WISH_MS = 250;

/** Calls `end` at the first of these signals, and `endNow` at each that is another wish than that one. */
export function onEnding(
  signals: readonly NodeJS.Signals[],
  end: (signal: NodeJS.Signals) => void,
  endNow: (signal: NodeJS.Signals) => void,
): void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      end(signal);
    } else if (nowMs - firstMs > SAME_WISH_MS) endNow(signal);
  };
  for (const signal of signals) process.on(signal, hear);
}

/** Ends the process as if nobody had caught the signal. */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Ends a process that has done what the signal asked for. An exit puts the terminal back as it was, and Node aborts where that has gone. */
export function exitAfter(signal: NodeJS.Signals): void {
  if (signal === 'SIGHUP') endBy(signal);
  else process.exit(0);
}
