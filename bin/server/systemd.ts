// Tells systemd how the service is (sd_notify): that it is ready, that it stops, and again and again that its threads answer.
// Node has no datagrams on Unix sockets, so systemd's own `systemd-notify` carries each message. Without NOTIFY_SOCKET in the
// environment nobody asked, and nothing is done.
import { execFile } from 'node:child_process';

/** What the environment of a service says (sd_notify(3), sd_watchdog_enabled(3)). */
export interface ServiceEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

export interface Systemd {
  /** The server can be used. `threadsAnswer` resolves when every thread has; from now on it is asked for the watchdog. */
  ready(status: string, threadsAnswer: () => Promise<unknown>): void;
  stopping(): void;
}

const MESSAGE_TIMEOUT_MS = 5000;
/** The watchdog hears twice in its time, as its manual advises. */
const PINGS_PER_WATCHDOG = 2;

/** `say` is told, once, of messages that could not be carried. */
export function systemd(
  environment: ServiceEnvironment,
  say: (line: string) => void,
  send: (message: readonly string[]) => Promise<void> = carry,
): Systemd {
  if ((environment.NOTIFY_SOCKET ?? '') === '') return { ready: () => {}, stopping: () => {} };
  let isUnheard = false;
  let pulse: NodeJS.Timeout | undefined;
  let isStopping = false;
  const tell = (...message: string[]): void => {
    send(message).catch((error: unknown) => {
      if (!isUnheard) say(`systemd was not told ${message[0]}: ${(error as Error).message.split('\n', 1)[0]}`);
      isUnheard = true;
    });
  };
  return {
    ready(status, threadsAnswer) {
      // A start that is broken off may be through all the same.
      if (isStopping) return;
      tell('READY=1', `STATUS=${status}`);
      const periodMs = watchdogMs(environment) / PINGS_PER_WATCHDOG;
      if (periodMs === 0) return;
      let isAsking = false;
      pulse = setInterval(() => {
        // A thread that hangs never answers: then nothing is said, and the watchdog does its work.
        if (isAsking) return;
        isAsking = true;
        threadsAnswer().then(
          () => {
            isAsking = false;
            if (pulse !== undefined) tell('WATCHDOG=1');
          },
          () => {
            isAsking = false;
          },
        );
      }, periodMs);
      pulse.unref();
    },
    stopping() {
      isStopping = true;
      clearInterval(pulse);
      pulse = undefined;
      tell('STOPPING=1');
    },
  };
}

/** The time within which the watchdog wants to hear from this process; 0 for no watchdog. */
function watchdogMs({ WATCHDOG_USEC = '', WATCHDOG_PID = '' }: ServiceEnvironment): number {
  if (WATCHDOG_PID !== '' && WATCHDOG_PID !== String(process.pid)) return 0;
  const microseconds = Number(WATCHDOG_USEC);
  return Number.isSafeInteger(microseconds) && microseconds > 0 ? microseconds / 1000 : 0;
}

function carry(message: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    // The sender is a child: without its parent's number the message would be the child's own.
    const args = [`--pid=${process.pid}`, ...message];
    execFile('systemd-notify', args, { timeout: MESSAGE_TIMEOUT_MS }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
