// Goal: systemd is told what it asks about, and nothing else. Method: the messages, with an environment and an answer of our own.
import test from 'ava';
import { type ServiceEnvironment, systemd } from '../../../bin/server/systemd.ts';
import { eventually } from '../../integration/objects.ts';

interface Told {
  readonly messages: string[];
  readonly said: string[];
}

function started(environment: ServiceEnvironment, threadsAnswer: () => Promise<unknown>, fails = false) {
  const told: Told = { messages: [], said: [] };
  const send = async (message: readonly string[]): Promise<void> => {
    told.messages.push(message.join(' '));
    if (fails) throw new Error('no such program\nat all');
  };
  const manager = systemd(environment, (line) => told.said.push(line), send);
  manager.ready('serving x', threadsAnswer);
  return { ...told, manager };
}

const answer = async (): Promise<void> => {};

test('without a service manager nothing is said', (t) => {
  const { messages, manager } = started({ WATCHDOG_USEC: '1000' }, answer);
  manager.stopping();
  t.deepEqual(messages, []);
});

test('a service manager hears that the server is ready, and that it stops', (t) => {
  const { messages, manager } = started({ NOTIFY_SOCKET: '/run/notify' }, answer);
  manager.stopping();
  t.deepEqual(messages, ['READY=1 STATUS=serving x', 'STOPPING=1']);
});

test('a server that is stopped while it starts is not said to be ready', (t) => {
  const { messages, manager } = started({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '10000' }, answer);
  manager.stopping();
  manager.ready('serving x', answer);
  t.deepEqual(messages, ['READY=1 STATUS=serving x', 'STOPPING=1']);
});

test('the watchdog hears again and again, until the server stops', async (t) => {
  const ours = { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '10000', WATCHDOG_PID: String(process.pid) };
  const { messages, manager } = started(ours, answer);
  await eventually(
    async () => messages.length,
    (count) => count > 4,
  );
  t.is(messages[1], 'WATCHDOG=1');
  manager.stopping();
  const count = messages.length;
  t.is(messages[count - 1], 'STOPPING=1');
  // One more turn of every timer that was due.
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(messages.length, count);
});

test('the watchdog hears nothing while a thread does not answer', async (t) => {
  let asked = 0;
  let release = (): void => {};
  const hang = async (): Promise<void> => {
    asked += 1;
    if (asked === 2) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
  };
  const { messages, manager } = started({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '10000' }, hang);
  await eventually(
    async () => asked,
    (times) => times === 2,
  );
  const count = messages.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(asked, 2);
  t.is(messages.length, count);
  release();
  await eventually(
    async () => messages.length,
    (now) => now > count,
  );
  manager.stopping();
});

test('a watchdog of another process is not ours, nor is one without a time', async (t) => {
  for (const more of [{ WATCHDOG_PID: '1' }, { WATCHDOG_USEC: '0' }, { WATCHDOG_USEC: 'x' }]) {
    const { messages } = started({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '1000', ...more }, answer);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.deepEqual(messages, ['READY=1 STATUS=serving x']);
  }
});

test('messages that could not be carried are told once, in one line', async (t) => {
  const { said, manager } = started({ NOTIFY_SOCKET: '/run/notify' }, answer, true);
  manager.stopping();
  await eventually(
    async () => said.length,
    (count) => count > 0,
  );
  t.deepEqual(said, ['systemd was not told READY=1: no such program']);
});
