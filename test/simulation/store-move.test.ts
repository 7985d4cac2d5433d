// Moves of a store between a folder and a model of etcd, stopped at every call that changes or asks anything, before it and
// after it, and run again: all objects arrive, whole, and their versions only grow.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { DYING_PLACE } from '../../actors/store/log/version-numbers.ts';
import type { Timer, Timers } from '../../runtime/environment.ts';
import { isSealedValue, readOpenedValue, writeSealedValue } from '../../storage/encryption/sealed-value.ts';
import { REVISION_STRIDE } from '../../storage/engines/shared-engine.ts';
import type { EtcdCluster } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine } from '../../storage/etcd/etcd-engine.ts';
import { clearRevisions, readStoredValue, writeStoredValue } from '../../storage/forms/stored-value.ts';
import { refuseUnfinished } from '../../storage/level/unfinished-store.ts';
import { MovedKeyspace } from '../../storage/move/keyspace.ts';
import { type MoveFolder, moveFolder, type StoreWriter } from '../../storage/move/move-folder.ts';
import { moveIn } from '../../storage/move/move-in.ts';
import { moveOut } from '../../storage/move/move-out.ts';
import { inspectStore } from '../../storage/upkeep/inspection.ts';
import { EtcdModel } from './etcd-model.ts';

const OBJECTS = 230;
const REVISION = 5000;
const TOKEN_KEY = Buffer.alloc(32, 7);
const CIPHER = Buffer.from('orch:enc:test:v1:key:');

/** No time passes: what waits is next. */
const none: Timer = { cancel: () => {} };
const timers: Timers = {
  after: (delayMs, callback) => {
    if (delayMs < 10_000) setImmediate(callback);
    return none;
  },
  every: () => none,
  soon: (callback) => void setImmediate(callback),
};

/** Of the objects that are added one by one, those where it may stop. */
const MANY_STEPS = /-(0|100|229)$/;

class Stopped extends Error {}

/** Stops at one of all calls: before it is made, or after it is done. */
class Stop {
  #left: number;
  constructor(after: number) {
    this.#left = after;
  }
  get wasReached(): boolean {
    return this.#left < 0;
  }
  get isNext(): boolean {
    return this.#left === 0;
  }
  pass(): void {
    if (this.#left-- === 0) throw new Stopped('stopped');
    if (this.#left < -1) throw new Stopped('it goes on after the stop');
  }
}

function stopping<T extends object>(target: T, stop: Stop): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || name === 'close')
        return typeof member === 'function' ? member.bind(target) : member;
      return (...args: unknown[]) => {
        if (name === 'add' && !MANY_STEPS.test(String(args[0]))) return Reflect.apply(member, target, args);
        stop.pass();
        const result: unknown = Reflect.apply(member, target, args);
        if (!(result instanceof Promise)) {
          stop.pass();
          return result;
        }
        return result.then(async (value: unknown) => {
          // A process that ends lets go of its files.
          if (name === 'begin' && stop.isNext) await (value as StoreWriter).close();
          stop.pass();
          return name === 'begin' ? stopping(value as object, stop) : value;
        });
      };
    },
  });
}

interface World {
  readonly model: EtcdModel;
  readonly path: string;
  readonly said: string[];
}

function stored(number: number, revision: number): [key: string, value: Buffer] {
  const key = `core/secrets/default/s-${number}`;
  const opening = '{"kind":"Secret","apiVersion":"v1",';
  const text = `"${revision}"`.padEnd(18);
  const before = `${opening}"metadata":{"name":"s-${number}","resourceVersion":`;
  const json = Buffer.from(`${before}${text},"labels":{"n":"${number}"}}}`);
  const head = {
    revision,
    bornRevision: Math.max(1, revision - 7),
    schemaGeneration: 0,
    revisionOffset: before.length,
    itemOffset: opening.length,
  };
  const target = Buffer.alloc(4096);
  const plain = Buffer.from(target.subarray(0, writeStoredValue(target, 0, key, head, '', json, 'protobuf')));
  return [key, number % 3 === 0 ? writeSealedValue(key, plain, CIPHER, plain) : plain];
}

/** What is sealed here is only wrapped, so that a test can look into it. */
function opened(key: string, value: Buffer) {
  const plain = isSealedValue(value) ? value.subarray(24 + CIPHER.length) : value;
  return readOpenedValue(key, value, plain)!;
}

function emptyFolder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-move-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function folderWithStore(t: ExecutionContext): Promise<World> {
  const path = emptyFolder(t);
  const folder = moveFolder(path);
  folder.reserve();
  const writer = await folder.begin({
    dialect: 'orch',
    prefix: '/registry',
    tokenKey: TOKEN_KEY,
    compactedRevision: REVISION - 1,
    wallMs: 0,
  });
  for (let number = 0; number < OBJECTS; number++) await writer.add(...stored(number, 1000 + number));
  folder.mark(await writer.finish());
  folder.name();
  return { model: model(), path, said: [] };
}

function model(): EtcdModel {
  return new EtcdModel({
    after: (_, callback) => void setImmediate(callback),
    nextFate: () => ({ delayMs: 0, loses: undefined }),
    watchDelayMs: () => 0,
  });
}

function sides({ model: etcd, path }: World, stop: Stop): { keyspace: MovedKeyspace; folder: MoveFolder } {
  const cluster: EtcdCluster = stopping(etcd.client(), stop);
  return {
    keyspace: new MovedKeyspace({ cluster, prefix: '/registry', timers }),
    folder: stopping(moveFolder(path), stop),
  };
}

const NEVER = new Stop(Number.MAX_SAFE_INTEGER);

async function into(world: World, stop = NEVER) {
  const found = inspectStore(world.path);
  const say = (line: string): void => void world.said.push(line);
  return await moveIn({ ...sides(world, stop), found, run: randomUUID(), say });
}

async function out(world: World, stop = NEVER) {
  return await moveOut({
    ...sides(world, stop),
    prefix: '/registry',
    dyingPlace: DYING_PLACE,
    inspect: () => inspectStore(world.path),
    run: randomUUID(),
    wallMs: 0,
    say: (line) => void world.said.push(line),
  });
}

function engineOn({ model: etcd }: World): EtcdEngine {
  const parts = { cluster: etcd.client(), prefix: '/registry', dialect: 'orch', timers, processId: randomUUID() };
  return new EtcdEngine({ ...parts, tokenKey: Buffer.alloc(32), warn: () => {} });
}

/** Whether etcd says that its store is moved away. */
async function isRefusedToServers(world: World): Promise<boolean> {
  const engine = engineOn(world);
  const isRefused = await engine.open().then(
    () => false,
    () => true,
  );
  await engine.close();
  return isRefused;
}

/** The versions of everything in etcd, as a server that starts on it reads them. */
async function versionsInEtcd(t: ExecutionContext, world: World): Promise<Map<string, number>> {
  const engine = engineOn(world);
  const { tokenKey, base } = await engine.open();
  t.deepEqual(Buffer.from(tokenKey), TOKEN_KEY);
  const versions = new Map<string, number>();
  const newest = await engine.follow({
    value: (key, revision, value) => {
      const read = opened(key, Buffer.from(value));
      const version = base + revision * REVISION_STRIDE + read.revision;
      t.true(read.bornRevision < version);
      versions.set(key, version);
    },
    again: () => versions.clear(),
    revision: () => {},
    lost: () => {},
  });
  for (const version of versions.values()) t.true(version < base + (newest + 1) * REVISION_STRIDE);
  t.is(new Set(versions.values()).size, versions.size);
  await engine.close();
  return versions;
}

test('a folder moves to etcd and back: every object, its versions growing, what is encrypted untouched', async (t) => {
  const world = await folderWithStore(t);
  const before = inspectStore(world.path);
  await into(world);
  const versions = await versionsInEtcd(t, world);
  t.deepEqual([...versions.keys()].sort(), [...before.objects.keys()].sort());
  for (const version of versions.values()) t.true(version > REVISION);
  t.false(moveFolder(world.path).hasStore());
  const moved = await out(world);
  const after = inspectStore(world.path);
  t.deepEqual(after.problems, []);
  t.is(moved.objects, OBJECTS);
  for (const [key, value] of after.objects) {
    const read = opened(key, value);
    t.is(read.revision, versions.get(key)!);
    t.is(
      (JSON.parse(read.json.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
      String(read.revision),
    );
    t.is(read.bornRevision, clearRevisions(before.objects.get(key)!).bornRevision);
    t.true(read.revision < moved.revision);
    if (isSealedValue(value)) t.deepEqual(value.subarray(24), before.objects.get(key)!.subarray(24));
    else t.not(readStoredValue(key, value), undefined);
  }
  await t.throwsAsync(engineOn(world).open(), { message: /moved to/ });
  await into(world);
  const again = await versionsInEtcd(t, world);
  for (const [key, version] of again) t.true(version > versions.get(key)!);
});

for (const [way, direction] of [
  ['to etcd', into],
  ['out of etcd', out],
] as const) {
  test(`a move ${way} that is stopped at any step is refused to servers on either side, loses nothing, and ends when it is run again`, async (t) => {
    let stops = 0;
    for (let at = 0; ; at++) {
      const source = await folderWithStore(t);
      if (direction === out) await into(source);
      const world = direction === out ? { ...source, path: emptyFolder(t) } : source;
      const stop = new Stop(at);
      try {
        await direction(world, stop);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
      }
      if (!stop.wasReached) break;
      stops++;
      if (direction === out && (await isRefusedToServers(world)) && !moveFolder(world.path).hasStore())
        t.throws(() => refuseUnfinished(world.path), { message: /a move that was not finished/ }, `stop ${at}`);
      const aside = direction === into && !moveFolder(world.path).hasStore();
      if (!aside) {
        const again = await direction(world).catch((error: Error) => error);
        // Everything was done but for saying so.
        if (again instanceof Error) t.regex(again.message, /were moved to/, `stop ${at}`);
      }
      if (direction === into) t.is((await versionsInEtcd(t, world)).size, OBJECTS, `stop ${at}`);
      else {
        const { problems, objects } = inspectStore(world.path);
        t.deepEqual(problems, [], `stop ${at}`);
        t.is(objects.size, OBJECTS, `stop ${at}`);
      }
      for (const { path } of [source, world]) rmSync(path, { recursive: true, force: true });
    }
    t.true(stops >= 16);
  });
}

test('a server that runs on etcd is seen before anything is changed; one that was overlooked ends at its next write', async (t) => {
  const world = await folderWithStore(t);
  await into(world);
  const engine = engineOn(world);
  await engine.open();
  let number = 0;
  const write = (): Promise<unknown> => {
    const [key, value] = stored(1000 + number++, 0);
    return engine.commit([{ guards: [], writes: [{ key, expect: 0, value }], place: 0 }]);
  };
  await write();
  const busy: Timers = {
    ...timers,
    after: (_, callback) => {
      void write().then(callback);
      return none;
    },
  };
  const { folder } = sides(world, NEVER);
  const parts = {
    prefix: '/registry',
    dyingPlace: DYING_PLACE,
    inspect: () => inspectStore(world.path),
    run: 'r',
    wallMs: 0,
    say: () => {},
  };
  const keyspace = new MovedKeyspace({ cluster: world.model.client(), prefix: '/registry', timers: busy });
  await t.throwsAsync(moveOut({ ...parts, keyspace, folder }), { message: /a server is running/ });
  await write();
  const { objects } = await out(world);
  t.is(objects, OBJECTS + number);
  await t.throwsAsync(write(), { message: /being moved away/ });
  await engine.close();
});

test('a target that holds something else is refused, and both sides stay as they were', async (t) => {
  const world = await folderWithStore(t);
  const engine = engineOn(world);
  await engine.open();
  const { revision } = world.model;
  await t.throwsAsync(into(world), { message: /belongs to another store/ });
  await t.throwsAsync(out(world), { message: /holds a store/ });
  t.is(world.model.revision, revision);
  t.is(inspectStore(world.path).objects.size, OBJECTS);
  await engine.close();
});
