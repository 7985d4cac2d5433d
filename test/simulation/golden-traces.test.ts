// The golden traces: what the actors say to each other on the paths that matter, one text file a path in traces/, to be read
// in a review. A change of a path is a change of its file; `ORCH_TRACES=write` writes them anew.
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { actorsFor } from '../server/every-actor.ts';
import { NO_FAULTS } from './faults.ts';
import type { Layout } from './layouts.ts';
import { type TraceSink, traced } from './message-trace.ts';
import { Connection, type RequestParts } from './sockets.ts';
import { SERVER, type Server, World } from './world.ts';

/** Every actor once, as in `default` on two cores. */
const LAYOUT: Layout = {
  threads: [
    { name: 'front', actors: ['ingress', 'auth', 'audit', 'hub', 'admission'] },
    { name: 'store', actors: ['store'] },
  ],
  ingresses: ['ingress'],
};
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Longer than a restarted thread and its readers take. */
const SETTLE_MS = 5000;

/** A server, a client, and what is said between them while the path is on. */
class Path implements TraceSink {
  isOpen = false;
  readonly #lines: string[] = [];
  readonly #world: World;

  constructor() {
    const server: Server = {
      ...SERVER,
      actors: (outside) => actorsFor(outside).map((definition) => traced(definition, this)),
    };
    const trace = (line: string): void => this.#event(line);
    const faults = { ...NO_FAULTS, delayMsMax: 0 };
    this.#world = new World({ seed: 1, faults, server, hasControllers: false, layout: LAYOUT, trace });
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  /** Starts the server; namespaces are there, nothing is written down yet. */
  async begin(): Promise<void> {
    await this.#world.start();
    await this.do({ method: 'POST', path: '/api/v1/namespaces', body: named('default') });
    await this.settle();
  }

  line(text: string): void {
    if (this.isOpen) this.#lines.push(text);
  }

  /** A request, answered. */
  async do(parts: RequestParts): Promise<Connection> {
    const connection = this.send(parts);
    await this.#world.during(
      new Promise<void>((resolve) => {
        if (connection.isOver) resolve();
        connection.onOver = resolve;
      }),
    );
    this.line(`client      ⇐ ingress     ${connection.status} ${toldBy(connection.text)}`);
    return connection;
  }

  /** A request whose answer goes on. */
  send(parts: RequestParts): Connection {
    const { method, path, query = '' } = parts;
    this.line(`client      ⇒ ingress     ${method} ${path}${query === '' ? '' : `?${query}`}`);
    const connection = new Connection();
    this.#world.sockets.send('ingress', parts, connection);
    return connection;
  }

  /** The store's thread ends from one moment to the next. */
  loseStore(): void {
    this.#world.crash(this.#world.threadOf('store'));
  }

  settle(): Promise<void> {
    return this.#world.during(this.#world.sleep(SETTLE_MS));
  }

  close(): void {
    this.#world.threads.kill();
  }

  #event(line: string): void {
    const [, text = ''] = line.split(' ms  ');
    if (/^(durable|crash|ended)/.test(text)) this.line(`${' '.repeat(12)}· ${text}`);
  }
}

function named(name: string, data?: object): string {
  return JSON.stringify({ metadata: { name }, ...(data === undefined ? {} : { data }) });
}

function toldBy(text: string): string {
  const { kind, reason, metadata } = JSON.parse(text) as {
    readonly kind: string;
    readonly reason?: string;
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  };
  return kind === 'Status' ? `Status ${reason ?? ''}` : `${kind} ${metadata?.name}, at ${metadata?.resourceVersion}`;
}

interface GoldenPath {
  readonly file: string;
  readonly title: string;
  readonly walk: (path: Path) => Promise<void>;
}

const PATHS: readonly GoldenPath[] = [
  {
    file: 'create',
    title: 'a create is admitted, committed, published and answered, and a watcher is told',
    walk: async (path) => {
      path.send({ method: 'GET', path: CONFIG_MAPS, query: 'watch=1' });
      await path.settle();
      path.isOpen = true;
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('a') });
      await path.settle();
    },
  },
  {
    file: 'read',
    title: 'a read asks the hub of its thread and nobody else',
    walk: async (path) => {
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('a') });
      await path.settle();
      path.isOpen = true;
      await path.do({ method: 'GET', path: `${CONFIG_MAPS}/a` });
      await path.settle();
    },
  },
  {
    file: 'conflict',
    title: 'of two patches at once one is made again, and an update that insists on an old version is refused',
    walk: async (path) => {
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('a') });
      const contentType = 'application/merge-patch+json';
      path.isOpen = true;
      const first = path.send({ method: 'PATCH', path: `${CONFIG_MAPS}/a`, contentType, body: '{"data":{"x":"1"}}' });
      await path.do({ method: 'PATCH', path: `${CONFIG_MAPS}/a`, contentType, body: '{"data":{"y":"2"}}' });
      await path.settle();
      if (first.status !== 200) throw new Error(first.text);
      const old = JSON.stringify({ metadata: { name: 'a', resourceVersion: '1' } });
      await path.do({ method: 'PUT', path: `${CONFIG_MAPS}/a`, body: old });
      await path.settle();
    },
  },
  {
    file: 'watch-through-a-restart',
    title: 'a watch goes on when the store has been lost and read again',
    walk: async (path) => {
      path.send({ method: 'GET', path: CONFIG_MAPS, query: 'watch=1' });
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('a') });
      await path.settle();
      path.isOpen = true;
      path.loseStore();
      await path.settle();
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('b') });
      await path.settle();
    },
  },
  {
    file: 'parked-watch',
    title: 'a watcher with a full socket is parked, and replayed to when it drains',
    walk: async (path) => {
      const watch = path.send({ method: 'GET', path: CONFIG_MAPS, query: 'watch=1' });
      await path.settle();
      path.isOpen = true;
      watch.isFull = () => true;
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('a') });
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('b') });
      watch.isFull = () => false;
      path.line('client      ⇒ ingress     reads on');
      watch.drain();
      await path.settle();
      await path.do({ method: 'POST', path: CONFIG_MAPS, body: named('c') });
      await path.settle();
    },
  },
];

for (const { file, title, walk } of PATHS) {
  test.serial(`${title} (traces/${file}.txt)`, async (t) => {
    const path = new Path();
    await path.begin();
    await walk(path);
    path.close();
    const text = `# ${title}\n\n${path.text}`;
    const name = `test/simulation/traces/${file}.txt`;
    if (process.env.ORCH_TRACES === 'write') writeFileSync(name, text);
    t.is(text, readFileSync(name, 'utf8'));
  });
}
