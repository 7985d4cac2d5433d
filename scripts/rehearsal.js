// Runs the packed server for a moment and sends it requests of the usual kinds, so that what V8 compiles for a start and for the
// first requests lies beside the program (load-program.cjs) and is not compiled anew in every thread at every start. Each kind of
// thread gets its own: what others run is only more to read.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../dist/bench/server/free-port.js';

const scripts = dirname(fileURLToPath(import.meta.url));
const LIMIT_MS = 30_000;

const JSON_TYPE = 'application/json';
const label = { metadata: { labels: { rehearsed: 'yes' } } };
const PATCHES = ['application/merge-patch+json', 'application/strategic-merge-patch+json'];

const spec = { containers: [{ name: 'main', image: 'registry/image:1', resources: { requests: { cpu: '100m' } } }] };
/** A path of each type that clients write most, and what is beyond its metadata. */
const TYPES = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'value'.repeat(100) } },
  pods: { apiVersion: 'v1', kind: 'Pod', spec },
};

/** A server with its folder, until it has ended. Resolves with whether it ended as asked; rejects with what went wrong before. */
async function run(args, whenReady) {
  const server = spawn(process.execPath, [join(scripts, 'rehearsed-server.cjs'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const limit = setTimeout(() => server.kill('SIGKILL'), LIMIT_MS);
  try {
    for await (const line of createInterface(server.stdout)) {
      if (!line.startsWith('ready in')) continue;
      await whenReady();
      server.kill('SIGTERM');
    }
    return (await ended) === 0;
  } finally {
    server.kill('SIGKILL');
    await ended;
    clearTimeout(limit);
  }
}

/** Sends requests, one after the other, to a server whose folder is `data`. */
function clientOf(port, data) {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const authorization = `Bearer ${readFileSync(join(data, 'admin.token'), 'utf8').trim()}`;
  const send = (method, path, body, type = JSON_TYPE) =>
    new Promise((resolve, reject) => {
      const headers = { authorization, accept: JSON_TYPE, ...(body !== undefined && { 'content-type': type }) };
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.once('end', () => {
          if (answer.statusCode >= 300)
            reject(new Error(`${method} ${path}: ${answer.statusCode} ${Buffer.concat(parts)}`));
          else resolve(Buffer.concat(parts).toString());
        });
      });
      sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { send, close: () => agent.destroy() };
}

/** What a client does with objects of a type, from its first look to the last. */
async function useType(send, plural, object) {
  const all = `/api/v1/namespaces/default/${plural}`;
  const named = (name) => ({ ...object, metadata: { name, labels: { app: 'rehearsal' } } });
  const watched = send('GET', `${all}?watch=1&timeoutSeconds=1`);
  watched.catch(() => {}); // Awaited below, unless something else has failed before.
  for (const name of ['one', 'two', 'three']) await send('POST', all, named(name));
  const one = `${all}/one`;
  const current = JSON.parse(await send('GET', one));
  await send('GET', `${all}?limit=2`);
  await send('GET', `${all}?labelSelector=app%3Drehearsal`);
  await send('GET', all);
  // Of no version: the scheduler may have said something of a pod meanwhile.
  const { resourceVersion: _, ...metadata } = current.metadata;
  await send('PUT', one, { ...current, metadata: { ...metadata, annotations: { rehearsed: 'yes' } } });
  for (const type of PATCHES) await send('PATCH', one, label, type);
  await send('PATCH', `${one}?fieldManager=rehearsal&force=true`, named('one'), 'application/apply-patch+yaml');
  await send('DELETE', one);
  await watched;
}

/** Whether it went well: there may be no port to listen on, or no room. */
async function rehearseOn(placement) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-build-'));
  const data = join(folder, 'data');
  try {
    const port = await freePort();
    return await run(['up', '--data-dir', data, '--secure-port', String(port), '--placement', placement], async () => {
      const { send, close } = clientOf(port, data);
      for (const path of ['/api', '/apis', '/api/v1', '/version', '/readyz']) await send('GET', path);
      await Promise.all(Object.entries(TYPES).map(([plural, object]) => useType(send, plural, object)));
      close();
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Leaves beside the programs what V8 compiles of them. Where no server can run, that is what evaluating them takes. */
export async function rehearse() {
  const isEvaluated = (await run([])) && (await run(['up', '--help']));
  if (!isEvaluated) throw new Error('the packed programs cannot be evaluated');
  // Between them they run each program but that of jobs.
  for (const placement of ['default', 'single']) {
    const reason = await rehearseOn(placement).then(
      (hasEndedWell) => (hasEndedWell ? undefined : 'it did not end as asked'),
      String,
    );
    if (reason !== undefined)
      process.stderr.write(`pack: no server could be run on ${placement} (${reason}): starts will take longer\n`);
  }
}
