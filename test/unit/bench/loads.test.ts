// Goal: the load generator counts what really happened, over real sockets, and everything a bench starts ends with it.
// Method: small bounded loads against the bare listener and the bare engine, each in its own process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { Bench, type Target } from '../../../bench/bench.ts';
import { floorFigures } from '../../../bench/figures/report.ts';
import { withBareListener } from '../../../bench/floors/floors.ts';
import type { Endpoint, RequestJob, WatchJob } from '../../../bench/load-protocol.ts';
import { configMap } from '../../../bench/objects.ts';
import { asUsers, staticUsers } from '../../../bench/static-users.ts';

const WATCHERS = 2;

function benchFor(t: ExecutionContext): Bench {
  const bench = new Bench({});
  t.teardown(() => bench.close());
  return bench;
}

function requests(endpoint: Endpoint, count: number): RequestJob {
  return {
    type: 'requests',
    endpoint,
    connections: 4,
    request: { method: 'GET', path: '/bytes?n=1000' },
    objects: 1,
    objectChoice: 'shared',
    capturesVersion: false,
    bounds: { seconds: 3600, count, warmupSeconds: 0 },
  };
}

function watches(endpoint: Endpoint, watchers: number, count: number): WatchJob {
  return {
    type: 'watch',
    endpoint,
    watchPath: '/watch',
    watchers,
    sampleEvery: 2,
    firstEventOnly: false,
    write: { method: 'PUT', path: '/publish?frame=900', body: configMap('w', 400) },
    writers: 3,
    windowWrites: 8,
    drainSeconds: 3600,
    bounds: { seconds: 3600, count, warmupSeconds: 0 },
  };
}

test('a load bounded by its count does exactly so many requests', async (t) => {
  const bench = benchFor(t);
  const result = await withBareListener(bench, ({ endpoint, pid }) =>
    bench.load({ ...requests(endpoint, 500), serverPid: pid }),
  );
  t.is(result.operations, 500);
  t.is(result.bodyBytes, 500_000);
  t.is(result.errors, 0);
  t.true(result.latency.p50Ms > 0 && result.latency.p99Ms >= result.latency.p50Ms);
  t.is(floorFigures('x', result).cpuSecondsPer1000 === null, process.platform !== 'linux');
});

test('a load that waits between its requests does all of them', async (t) => {
  const bench = benchFor(t);
  const result = await withBareListener(bench, ({ endpoint }) => bench.load({ ...requests(endpoint, 20), pauseMs: 1 }));
  t.is(result.operations, 20);
  t.is(result.errors, 0);
});

test('users of a bench are known by their tokens, and ask by the number of their object', async (t) => {
  const bench = benchFor(t);
  const [file, mode] = staticUsers(bench, { mouse: 2, elephant: 1 });
  t.is(mode, 'authorization-mode=AlwaysAllow');
  const lines = readFileSync(file!.replace('token-auth-file=', ''), 'utf8').trimEnd().split('\n');
  t.deepEqual(
    lines.map((line) => line.split(',').slice(0, 2)),
    [
      ['bench-mouse-00000000', 'mouse-0'],
      ['bench-mouse-00000001', 'mouse-1'],
      ['bench-elephant-00000000', 'elephant-0'],
    ],
  );
  const target = { endpoint: { host: 'h', port: 1, tls: { ca: 'a', cert: 'c', key: 'k' } } } as Target;
  t.deepEqual(asUsers(target, 'mouse').endpoint, {
    host: 'h',
    port: 1,
    tls: { ca: 'a' },
    authorization: 'Bearer bench-mouse-{object}',
  });
});

test('a body far larger than a read arrives whole', async (t) => {
  const bench = benchFor(t);
  const result = await withBareListener(bench, ({ endpoint }) =>
    bench.load({ ...requests(endpoint, 8), request: { method: 'GET', path: '/bytes?n=3000000' } }),
  );
  t.is(result.operations, 8);
  t.is(result.bodyBytes, 24_000_000);
});

test('every watcher sees every write, and the frames have the size asked for', async (t) => {
  const bench = benchFor(t);
  const result = await withBareListener(bench, ({ endpoint }) => bench.load(watches(endpoint, 6, 50)));
  t.is(result.writes, 50);
  t.is(result.operations, 300);
  t.is(result.errors, 0);
  t.true(result.bodyBytes >= 300 * 900);
});

test('every event of a steady writer arrives', async (t) => {
  const bench = benchFor(t);
  const result = await withBareListener(bench, ({ endpoint }) =>
    bench.load({ ...watches(endpoint, 2, 20), writesPerSecond: 200 }),
  );
  t.is(result.operations, 40);
  t.is(result.errors, 0);
});

test('a writer whose idle connection the server closes gets another', async (t) => {
  const watching: Socket[] = [];
  const writing = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const text = bytes.toString();
      if (text.startsWith('GET')) {
        watching.push(socket);
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        return;
      }
      const event = `${text.slice(text.indexOf('{'))}\n`;
      // Done only when the writers of the others know that they are closed: the next write may be one of theirs.
      const others = [...writing].filter((other) => other !== socket);
      const closed = others.map((other) => once(other, 'close'));
      for (const other of others) other.end();
      void Promise.all(closed).then(() => {
        socket.write(response('200 OK', '{}'));
        for (const watcher of watching) watcher.write(`${event.length.toString(16)}\r\n${event}\r\n`);
      });
    });
    socket.on('close', () => writing.delete(socket));
    if (watching.length === WATCHERS) {
      connections++;
      writing.add(socket);
    }
  });
  const endpoint = await listening(t, server);
  const job = { ...watches(endpoint, WATCHERS, 20), windowWrites: 1, writesPerSecond: 200 };
  const result = await benchFor(t).load(job);
  t.is(result.firstError, undefined);
  t.is(result.operations, 20 * WATCHERS);
  t.true(connections > job.writers);
});

test('a load ends with the reason when the server turns most requests away', async (t) => {
  const server = createServer((socket) => answerAll(socket, '403 Forbidden', 'not you'));
  const endpoint = await listening(t, server);
  const error = await t.throwsAsync(benchFor(t).load(requests(endpoint, 100_000)));
  t.regex(error.message, /403 not you/);
});

test('a request that is never answered is an error of its load', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    if (connections > 1) answerAll(socket, '200 OK', '{}');
    else socket.on('error', () => {}).resume();
  });
  const endpoint = await listening(t, server);
  const bounds = { seconds: 0.1, count: 1_000_000, warmupSeconds: 0 };
  const result = await benchFor(t).load({ ...requests(endpoint, 1), bounds, drainSeconds: 0.1 });
  t.true(result.errors > 0);
  t.regex(result.firstError ?? '', /^\d+ requests were never answered$/);
});

test('what is still under way when the time is up is waited for, and not counted', async (t) => {
  let [asked, answered, seconds] = [0, 0, 0.1];
  const server = createServer((socket) => {
    let isFirst = true;
    socket.on('error', () => {});
    const answer = (): void => {
      answered += 1;
      socket.write(response('200 OK', '{}'));
    };
    socket.on('data', () => {
      asked += 1;
      // The second of a connection comes back long after the load's time.
      if (isFirst) answer();
      else setTimeout(answer, 3000 * seconds);
      isFirst = false;
    });
  });
  const endpoint = await listening(t, server);
  // Other tests may keep this thread for as long as a load takes: then nothing was answered within its time.
  for (let operations = 0; operations === 0; seconds *= 4) {
    [asked, answered] = [0, 0];
    const bounds = { seconds, count: 1_000_000, warmupSeconds: 0 };
    const result = await benchFor(t).load({ ...requests(endpoint, 1), bounds, drainSeconds: 3600 });
    operations = result.operations;
    t.is(result.errors, 0);
    t.is(answered, asked);
    t.true(operations < asked, `${operations} of ${asked}`);
  }
});

test('an answer that holds less than what was asked for is an error', async (t) => {
  const server = createServer((socket) => answerAll(socket, '200 OK', '{}'));
  const endpoint = await listening(t, server);
  const job = { ...requests(endpoint, 1000), answerBytesMin: 400 };
  const error = await t.throwsAsync(benchFor(t).load(job));
  t.regex(error.message, /an answer of 2 bytes holds less than the 400 that were asked for/);
  const paged = await benchFor(t).load({ ...job, bounds: { ...job.bounds, count: 8 }, pageLimit: 1 });
  t.is(paged.errors, 8);
});

test('watches that are never answered are errors, also where nothing is written', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  const endpoint = await listening(t, server);
  const bounds = { seconds: 0.1, count: 10, warmupSeconds: 0 };
  const result = await benchFor(t).load({ ...watches(endpoint, 3, 1), bounds, writesPerSecond: 0 });
  t.is(result.errors, 3);
  t.is(result.firstError, '3 watches were never answered');
});

test('a load ends with the reason when the server goes away', async (t) => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  const endpoint = await listening(t, server);
  const error = await t.throwsAsync(benchFor(t).load(requests(endpoint, 100)));
  t.regex(error.message, /connection was lost/);
});

test('a list in pages is one operation: each page asks for the next, and the last ends it', async (t) => {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const token = /continue=(\S*)/.exec(bytes.toString())![1]!;
      asked.push(decodeURIComponent(token));
      const next = { '': 'a+b', 'a+b': 'c' }[asked.at(-1)!] ?? '';
      socket.write(response('200 OK', `{"kind":"L","metadata":{"continue":"${next}"},"items":[{"continue":"x"}]}`));
    });
  });
  const endpoint = await listening(t, server);
  const job = {
    ...requests(endpoint, 2),
    request: { method: 'GET', path: '/pods' },
    connections: 1,
    pageLimit: 1,
  } as const;
  const { operations, bodyBytes } = await benchFor(t).load(job);
  t.is(operations, 2);
  t.deepEqual(asked, ['', 'a+b', 'c', '', 'a+b', 'c']);
  t.is(bodyBytes, 2 * (3 * 66 + 4));
});

test('a load that cannot connect says so', async (t) => {
  const server = createServer();
  const endpoint = await listening(t, server);
  server.close();
  await once(server, 'close');
  const error = await t.throwsAsync(benchFor(t).load(requests(endpoint, 100)));
  t.regex(error.message, /ECONNREFUSED/);
});

test('a version is sent back as it came', async (t) => {
  const versions: string[] = [];
  let version = 100;
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      versions.push(/"v":"(\d*)"/.exec(bytes.toString())?.[1] ?? 'none');
      version += 1;
      socket.write(
        response('200 OK', `{"metadata":{"resourceVersion":"${version}"},"items":[{"resourceVersion":"9"}]}`),
      );
    });
  });
  const endpoint = await listening(t, server);
  const request = { method: 'PUT', path: '/', body: '{"v":{version}}' } as const;
  const job = {
    ...requests(endpoint, 4),
    connections: 1,
    request,
    objectChoice: 'owned',
    capturesVersion: true,
  } as const;
  await benchFor(t).load(job);
  t.deepEqual(versions, ['', '101', '102', '103']);
});

test('an interrupted bench ends its processes and leaves no files', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const program = fileURLToPath(new URL('../../../bench/run.js', import.meta.url));
  // One that does not end by itself before this process sees that it has begun.
  const child = spawn(process.execPath, [program, 'create', '--seconds', '600', '--floor', 'no'], {
    env: { ...process.env, TMPDIR: directory },
    stdio: 'ignore',
  });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  // The server writes its certificate.
  const isBegun = () => readdirSync(directory, { recursive: true }).some((path) => String(path).endsWith('.crt'));
  await until(() => isBegun() || child.exitCode !== null);
  child.kill('SIGINT');
  t.deepEqual((await ended)[0], 130);
  t.deepEqual(readdirSync(directory), []);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function response(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function answerAll(socket: Socket, status: string, body: string): void {
  socket.on('error', () => {});
  socket.on('data', () => socket.write(response(status, body)));
}

async function listening(t: ExecutionContext, server: ReturnType<typeof createServer>): Promise<Endpoint> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { host: '127.0.0.1', port: address.port };
}
