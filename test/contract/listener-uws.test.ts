// The listener contract on uws, and what is peculiar to it: header limits of the binary, stalled clients, threads.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { chooseCiphers } from '../../transport/cipher-suites.ts';
import type { HttpResponse, RequestHandler } from '../../transport/http.ts';
import { prepareUws } from '../../transport/uws/binary.ts';
import { openUwsListener } from '../../transport/uws/listener.ts';
import type { UwsResponse } from '../../transport/uws/response.ts';
import { testOn } from '../server/listeners.ts';
import { eventually, RawClient } from './listener-client.ts';
import { HEADER_BYTES_MAX, listenerOptions } from './listener-fixture.ts';
import { http1Suite } from './listener-suite.ts';

const test = testOn('uws');

prepareUws(HEADER_BYTES_MAX);

http1Suite('uws', openUwsListener, false);
http1Suite('uws', openUwsListener, true);

for (const isTls of [false, true]) {
  let response: HttpResponse | undefined;
  const take: RequestHandler = (_, taken) => {
    response = taken;
    taken.start(200, [['Content-Type', 'application/octet-stream']]);
  };
  test.serial(`a stalled client${isTls ? ' with TLS' : ''} that was kept alive still gets everything`, async (t) => {
    const listener = await openUwsListener(await listenerOptions(isTls, take));
    const client = await RawClient.open(listener.port, isTls);
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    await eventually(() => response !== undefined);
    let written = 0;
    const chunk = new Uint8Array(100_000).fill(0x78);
    do written += chunk.length;
    while (response?.write(chunk) === true);
    for (let i = 0; i < 3; i++) {
      (response as UwsResponse).keepAlive();
      await new Promise((resolve) => setImmediate(resolve));
    }
    let drained = false;
    response?.onDrained(() => {
      drained = true;
      response?.end();
    });
    client.socket.resume();
    t.is((await client.answer()).body.length, written);
    t.true(drained);
    client.close();
    await listener.close();
  });
}

for (const isTls of [false, true]) {
  const name = `uws${isTls ? ' with TLS' : ''}`;
  test.serial(
    `${name}: a body without its length is no method of the next request, and ends the connection`,
    async (t) => {
      const methods: string[] = [];
      const listener = await openUwsListener(
        await listenerOptions(isTls, ({ method }, response) => {
          methods.push(method);
          response.respond(200, [], '');
        }),
      );
      const client = await RawClient.open(listener.port, isTls);
      client.send('DELETE /a HTTP/1.1\r\nHost: test\r\n\r\n');
      t.is((await client.answer()).status, 200);
      client.send('{"gracePeriodSeconds":0}NOSUCHVERB /b HTTP/1.1\r\nHost: test\r\n\r\n');
      const { status, body } = await client.answer();
      t.is(status, 400);
      t.like(JSON.parse(body.toString()), { kind: 'Status', reason: 'BadRequest', code: 400 });
      await client.untilClosed();
      t.deepEqual(methods, ['DELETE']);
      await listener.close();
    },
  );
}

test.serial('TLS 1.3 alone and suites that it lacks are refused', async (t) => {
  const options = await listenerOptions(true, () => {});
  const tls = options.tls!;
  for (const change of [{ minVersion: 'TLSv1.3' as const }, { ciphers: chooseCiphers(['TLS_AES_128_GCM_SHA256']) }]) {
    await t.throwsAsync(openUwsListener({ ...options, tls: { ...tls, ...change } }), { message: /uws listener/ });
  }
});

test.serial('two threads share one port, with the header limit of the process', async (t) => {
  const first = await startThread(0);
  const second = await startThread(first.port);
  t.is(second.port, first.port);
  const seen = new Set<string>();
  for (let asked = 0; seen.size < 2 && asked < ASKED_MAX; asked++) seen.add(await ask(first.port));
  t.deepEqual([...seen].sort(), ['1', '2']);
  for (const { worker } of [first, second]) {
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close');
    await exited;
  }
});

test.serial(
  'a thread ends in the middle of two hundred TLS handshakes, whose connections are all closed',
  async (t) => {
    for (const turns of [2, 3, 4, 6]) {
      // An abort rejects.
      const [before, after] = await storm(String(turns));
      t.is(before, 200, `after ${turns} turns`);
      t.is(after, 0, `after ${turns} turns`);
    }
  },
);

test.serial('so does one whose certificate was replaced before, whose connections take a turn more', async (t) => {
  for (const turns of [1, 2, 3, 4]) {
    const [before = -1, after] = await storm(String(turns), 'replaced');
    t.true(before >= 0, `after ${turns} turns`);
    t.is(after, 0, `after ${turns} turns`);
  }
});

/** How many connections were open when the listener was closed, and when it had been. */
async function storm(...args: readonly string[]): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [STORM, ...args]);
  return stdout.trim().split(' ').map(Number);
}

const STORM = fileURLToPath(new URL('./listener-storm.js', import.meta.url));

/** Connections after which both threads must have been given one: the kernel deals them out at random. */
const ASKED_MAX = 500;

let threads = 0;

function startThread(port: number): Promise<{ worker: Worker; port: number }> {
  const worker = new Worker(new URL('./listener-thread.js', import.meta.url), {
    workerData: { port, name: String(++threads), headerBytesMax: HEADER_BYTES_MAX },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', (listening: number) => resolve({ worker, port: listening }));
    worker.once('error', reject);
  });
}

/** The name of the thread that took a new connection, which was sent more headers than the binary's own limit. */
async function ask(port: number): Promise<string> {
  const client = await RawClient.open(port, false);
  client.send(`GET / HTTP/1.1\r\nHost: test\r\nX-Long: ${'v'.repeat(30_000)}\r\n\r\n`);
  const { body } = await client.answer();
  client.close();
  return body.toString();
}
