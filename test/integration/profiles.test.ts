// Profiles of a running server's threads, as `go tool pprof` and people fetch them.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { decodePprof } from '../../bench/profile/pprof-reader.ts';
import { type ServerProcess, sharedServer, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const PROFILED = sharedServer(test, { args: ['--contention-profiling', '--placement', 'wide'] });
const AT = '/debug/pprof/';
const THREADS: readonly string[] = ['front/0', 'front/1', 'write', 'store', 'control'];

/** Reads of the server until `taken` is there. */
async function beside<T>({ client }: ServerProcess, taken: Promise<T>): Promise<T> {
  let isTaken = false;
  const ended = taken.finally(() => {
    isTaken = true;
  });
  while (!isTaken) await client.get('/api/v1/namespaces');
  return ended;
}

const read = (bytes: Uint8Array) => decodePprof(gunzipSync(bytes));

// Before a profile of all allocations is taken, which ends what was followed. One allocation of 512 KB is sampled: a thread that
// holds little is left out by chance, and what is said here of all threads together has some thirty samples.
test.serial(
  'what a server holds that does nothing is named by who allocated it, also after a collection',
  async (t) => {
    const { client } = PROFILED();
    for (const query of ['', '?gc=1']) {
      const { status, bytes } = await client.get(`${AT}heap${query}`);
      t.is(status, 200);
      const { samples } = await read(bytes);
      const threads = new Set(samples.map(({ thread = '' }) => thread));
      t.true(threads.size > 1, `${query}: ${[...threads].join(' ')}`);
      for (const name of threads) t.true(THREADS.includes(name), `${query}: ${name}`);
      t.true(
        samples.some(({ stack }) => stack.length > 0),
        query,
      );
      const bytesHeld = samples.reduce((sum, { values }) => sum + values[1]!, 0);
      t.true(bytesHeld > 4 * 1024 * 1024, `${query}: ${bytesHeld}`);
    }
  },
);

for (const [name, types] of Object.entries({
  profile: ['samples/count', 'cpu/nanoseconds'],
  heap: ['inuse_objects/count', 'inuse_space/bytes'],
  allocs: ['alloc_objects/count', 'alloc_space/bytes'],
})) {
  test.serial(`the profile ${name} names functions of the server, and the threads they were on`, async (t) => {
    const server = PROFILED();
    // Samples are few where little is left after a second: the front's code is in one of the profiles, if not in the first.
    await eventually(
      async () => {
        const { status, bytes } = await beside(server, server.client.get(`${AT}${name}?seconds=1`));
        t.is(status, 200);
        const { valueTypes, samples } = await read(bytes);
        t.deepEqual(valueTypes, types);
        return samples;
      },
      (samples) =>
        samples.some(
          ({ stack, thread = '' }) =>
            thread.startsWith('front') && stack.some((line) => / (?:actors|runtime|transport)\/.+\.ts:\d+$/.test(line)),
        ),
    );
  });
}

test.serial(
  'one profile is taken at a time: who asks for another meanwhile is told, and each thread can be asked alone',
  async (t) => {
    const { client } = PROFILED();
    const first = client.get(`${AT}profile?seconds=2`);
    const refused = await client.get(`${AT}profile?seconds=2`);
    const codes = [(await first).status, refused.status].sort();
    t.deepEqual(codes, [200, 409]);
    const alone = await read((await client.get(`${AT}profile?seconds=1&thread=store`)).bytes);
    t.deepEqual([...new Set(alone.samples.map(({ thread }) => thread))], alone.samples.length === 0 ? [] : ['store']);
  },
);

test.serial('a profile ends when its client leaves, and others can be taken', async (t) => {
  const server = PROFILED();
  const { client, token, caPem: ca } = server;
  for (const name of ['profile', 'trace']) {
    let left: ClientRequest | undefined;
    const ask = (): void => {
      left = request(`${server.url}${AT}${name}?seconds=300`, { ca, headers: { authorization: `Bearer ${token}` } });
      left.once('error', () => {});
      // The look below was before it.
      left.once('response', ask);
      left.end();
    };
    ask();
    const look = async (): Promise<number> => (await client.get(`${AT}profile?thread=none`)).status;
    t.is(await eventually(look, (status) => status !== 400), 409);
    left!.destroy();
    t.is(await eventually(look, (status) => status !== 409), 400);
  }
});

test('the command is that of the server, with its options', async (t) => {
  const { text } = await PROFILED().client.get(`${AT}cmdline`);
  const [program, entry, command, ...options] = text.split('\0');
  t.is(program, process.execPath);
  t.regex(entry!, /orch\.cjs$/);
  t.is(command, 'up');
  t.true(options.includes('--contention-profiling'), text);
});

test('every actor is told of with what it waits for, as a profile and as text', async (t) => {
  const { client } = PROFILED();
  const { samples } = await read((await client.get(`${AT}goroutine`)).bytes);
  t.true(samples.some(({ stack }) => stack.some((line) => line.startsWith('store '))));
  const text = (await client.get(`${AT}goroutine?debug=2`)).text;
  t.regex(text, /^thread store:\n(?: {2}.*\n)* {2}store \[waits for messages\]: waiting=0 /m);
  const threads = await read((await client.get(`${AT}threadcreate`)).bytes);
  t.true(threads.samples.length > 1);
});

test('the memory of every thread is told as text, of one alone too', async (t) => {
  const { client } = PROFILED();
  const { text } = await client.get(`${AT}heap?debug=1`);
  for (const thread of ['front/0', 'store']) t.regex(text, new RegExp(`^thread ${thread}: used=[1-9][\\d.]*MiB `, 'm'));
  const alone = (await client.get(`${AT}heap?debug=1&thread=store`)).text;
  t.deepEqual(
    [...alone.matchAll(/^thread (\S+):/gm)].map(([, name]) => name),
    ['store'],
  );
});

test('with contention profiling, waits in mailboxes are measured', async (t) => {
  const { client } = PROFILED();
  for (const name of ['block', 'mutex']) {
    const { valueTypes, samples } = await read((await client.get(`${AT}${name}`)).bytes);
    t.deepEqual(valueTypes, ['contentions/count', 'delay/nanoseconds']);
    t.true(
      samples.some(({ stack, values }) => stack[0]!.startsWith('auth') && values[0]! > 0),
      name,
    );
  }
});

test.serial('a trace is JSON for timeline viewers, with the samples of every thread', async (t) => {
  const { client } = PROFILED();
  const { status: code, text } = await client.get(`${AT}trace?seconds=1`);
  t.is(code, 200, text);
  const events = JSON.parse(text) as { name: string; args: { data?: { cpuProfile: { samples: unknown[] } } } }[];
  t.true(events.filter(({ name }) => name === 'thread_name').length > 1);
  t.true(events.some(({ args }) => (args.data?.cpuProfile.samples.length ?? 0) > 0));
});

for (const [query, message] of Object.entries({
  'profile?seconds=0': 'seconds: Invalid value: "0": must be between 1 and 300, inclusive',
  'heap?seconds=1e9': 'seconds: Invalid value: "1e9": must be between 1 and 300, inclusive',
  'goroutine?debug=3': 'debug: Unsupported value: "3": supported values: "0", "1", "2"',
})) {
  test(`${query} is refused with what may be asked`, async (t) => {
    const { status: code, json } = await PROFILED().client.get(AT + query);
    t.deepEqual([code, (json as { message: string }).message], [400, message]);
  });
}

test('a thread that there is not is refused with those that there are', async (t) => {
  const { status: code, json } = await PROFILED().client.get(`${AT}goroutine?thread=x`);
  t.is(code, 400);
  t.regex((json as { message: string }).message, /^thread: Unsupported value: "x": supported values: .*"store"/);
});

test('there is an index, and nothing where there is no profile', async (t) => {
  const { client } = PROFILED();
  const unslashed = await client.get('/debug/pprof');
  t.deepEqual([unslashed.status, unslashed.headers.location], [302, AT]);
  const index = await client.get(AT);
  t.regex(index.text, /<a href="heap">/);
  t.is((await client.get(`${AT}nothing`)).status, 404);
});

test('without profiling there are no profiles, whoever asks', async (t) => {
  const server = await startServer(t, { args: ['--profiling=false'] });
  t.is((await server.client.get(`${AT}goroutine`)).status, 404);
  await server.stop();
});

test('profiles are for who may read the path', async (t) => {
  const { client } = PROFILED();
  t.is((await client.get(`${AT}goroutine`, { headers: { authorization: '' } })).status, 403);
});

test.serial('how much is logged is set while the server runs, on every thread', async (t) => {
  const { client } = PROFILED();
  const set = (body: string) =>
    client.request('PUT', '/debug/flags/v', { body, headers: { 'content-type': 'text/plain' } });
  const accessLines = (): number =>
    PROFILED()
      .stderr.split('\n')
      .filter((line) => line.includes('/version/quiet')).length;
  await client.get('/version/quiet');
  t.is(accessLines(), 0);
  const answer = await set('4');
  t.deepEqual([answer.status, answer.text], [200, 'successfully set klog.logging.verbosity to 4']);
  await client.get('/version/quiet');
  await eventually(
    async () => accessLines(),
    (lines) => lines === 1,
  );
  t.is((await set('0')).status, 200);
  await client.get('/version/quiet');
  await client.get('/version/quiet');
  t.is(accessLines(), 1);
  t.is((await set('much')).status, 400);
  t.is((await client.get('/debug/flags/v')).status, 406);
  t.is((await client.get('/debug/flags/')).status, 200);
});

/** Our names are a word, then the place in the source. */
async function ownFunctions(bytes: Uint8Array): Promise<readonly string[]> {
  const lines = (await read(bytes)).samples.flatMap(({ stack }) => stack);
  return lines
    .filter((line) => / (?:actors|runtime|transport)\/.+\.ts:\d+$/.test(line))
    .map((line) => line.split(' ')[0]!);
}

for (const name of ['profile', 'heap']) {
  test.serial(`go tool pprof opens the profile ${name} and names functions in it`, async (t) => {
    const run = promisify(execFile);
    const has = await run('go', ['version']).then(
      () => true,
      () => false,
    );
    const server = PROFILED();
    // Beside a busy machine little is done, and fewer samples are taken, in any two seconds.
    const { bytes, functions } = await eventually(
      async () => {
        const taken = await beside(server, server.client.get(`${AT}${name}?seconds=2`));
        t.is(taken.status, 200);
        return { bytes: taken.bytes, functions: await ownFunctions(taken.bytes) };
      },
      (taken) => taken.functions.length > 0,
    );
    if (!has) {
      t.log('there is no go here: only our own reader has opened it');
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'orch-pprof-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'taken'), bytes);
    const { stdout } = await run('go', ['tool', 'pprof', '-top', '-nodecount=200', join(folder, 'taken')], {
      env: { ...process.env, HOME: folder, PPROF_TMPDIR: folder },
    });
    t.regex(stdout, /flat%.*cum%/);
    t.true(
      functions.some((name) => stdout.includes(name)),
      stdout,
    );
  });
}
