// The targets over real sockets: a server process of their own for each listener, and a client beside them that must go on
// getting right answers.
import { readFileSync } from 'node:fs';
import { MetricsText } from '../../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../../server/server-process.ts';
import { type Target, Violation } from '../target.ts';
import { converse } from './conversation.ts';
import { generateConnection } from './wire-requests.ts';

const CONNECTIONS = 12;
const PAGE_BYTES = 4096;
const RSS_MB_MAX = 1024;
const PRINTED_MAX = 3000;
const CONTROL = '/api/v1/namespaces/control/configmaps';
/** Answers of class 5xx that a busy server may give, or a proxy to nowhere. */
const ALLOWED = new Set(['502', '503', '504']);

class SocketTarget {
  readonly #ingress: 'uws' | 'node';
  #server: ServerProcess | undefined;
  #undo: (() => void | Promise<void>)[] = [];
  #checks = 0;

  constructor(ingress: 'uws' | 'node') {
    this.#ingress = ingress;
  }

  async start(): Promise<void> {
    const args = ['--ingress', this.#ingress];
    this.#server = await startServer({ teardown: (step) => this.#undo.push(step) }, { args, placement: 'default' });
    const { client } = this.#server;
    for (const name of ['control', 'fuzz'])
      await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
    const made = await client.request('POST', CONTROL, { body: { metadata: { name: 'a' }, data: { a: 'b' } } });
    if (made.status !== 201) throw new Error(`no control object: ${made.text}`);
  }

  async stop(): Promise<void> {
    for (const step of this.#undo.splice(0)) await step();
  }

  async run(input: Parameters<Target['run']>[0]): Promise<void> {
    const { port, token } = this.#server!;
    await converse(input, port, token);
  }

  /** As `#checkUp`; what is wrong comes with what the server has printed. */
  async check(): Promise<void> {
    const server = this.#server!;
    try {
      await this.#checkUp(server);
    } catch (error) {
      const printed = `${server.stdout}${server.stderr}`.slice(-PRINTED_MAX);
      throw new Violation(`${error instanceof Error ? error.message : String(error)}\n${printed}`);
    }
  }

  /** The process lives and answers rightly, has counted no failure of its own, and is no larger than it may be. */
  async #checkUp(server: ServerProcess): Promise<void> {
    if (!server.isRunning) throw new Violation('the server has ended');
    const data = { a: String(++this.#checks) };
    const put = await server.client.request('PUT', `${CONTROL}/a`, { body: { metadata: { name: 'a' }, data } });
    const got = await server.client.get(`${CONTROL}/a`);
    const listed = await server.client.get(`${CONTROL}?labelSelector=!x`);
    if (put.status !== 200 || got.json.data?.a !== data.a || listed.json.items === undefined)
      throw new Violation(`the control client got ${put.status} ${got.text} ${listed.text.slice(0, 200)}`);
    const { samples } = new MetricsText((await server.client.get('/metrics')).text);
    const failed = samples.filter(
      // Health endpoints, which are no resources, say by 500 that a busy server is late.
      ({ name, labels: { code = '', resource = '' }, value }) =>
        name === 'apiserver_request_total' && resource !== '' && /^5/.test(code) && !ALLOWED.has(code) && value > 0,
    );
    if (failed.length > 0) throw new Violation(`failures: ${JSON.stringify(failed)}`);
    const printed = `${server.stdout}${server.stderr}`;
    const line = /.*(?:request failed|answer cut off).*/.exec(printed)?.[0];
    if (line !== undefined) throw new Violation(`the server reports: ${line}`);
    const rssMb = (Number(readFileSync(`/proc/${server.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / 2 ** 20;
    if (rssMb > RSS_MB_MAX) throw new Violation(`the server holds ${Math.round(rssMb)} MB`);
  }
}

function socketTarget(ingress: 'uws' | 'node'): Target {
  const target = new SocketTarget(ingress);
  return {
    name: `sockets-${ingress}`,
    weight: 1,
    fixed: ['carrier', 'ending', 'pieces', 'methods', 'isWhole', 'body'],
    concurrency: CONNECTIONS,
    start: () => target.start(),
    stop: () => target.stop(),
    check: () => target.check(),
    generate: generateConnection,
    run: (input) => target.run(input),
  };
}

export const SOCKET_TARGETS: readonly Target[] = [socketTarget('uws'), socketTarget('node')];
