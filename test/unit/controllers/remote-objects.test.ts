// The garbage collector and the objects of an extension server: owned by what is stored here and by one another, and as owners.
import test from 'ava';
import type {
  RemoteObject,
  RemoteType,
  RemoteWrite,
  RemoteWriteReply,
} from '../../../api/aggregation/remote-object.ts';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, objectOf, started, thingsElsewhere } from './fixture.ts';
import type { OwnerReference } from './stored.ts';

const CONFIG_MAPS = 'core/configmaps';
const THINGS: RemoteType = { group: 'things.test', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

interface Thing {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  resourceVersion: string;
  ownerReferences?: readonly OwnerReference[] | null;
  finalizers?: readonly string[] | null;
  deletionTimestamp?: string;
}

/** An extension server: deletes and patches as one does. */
class ThingServer {
  readonly things = new Map<string, Thing>();
  readonly writes: RemoteWrite[] = [];
  listed = 0;
  isReachable = true;
  #version = 0;

  put(name: string, shape: Pick<Thing, 'ownerReferences' | 'finalizers'> = {}, namespace = 'shop'): void {
    this.things.set(name, { name, namespace, uid: name, resourceVersion: this.#next(), ...shape });
  }

  /** As a client does that asks for this finalizer. */
  end(name: string, finalizer: string): void {
    const thing = this.things.get(name)!;
    Object.assign(thing, { finalizers: [finalizer], deletionTimestamp: '2026-01-01T00:00:00Z' });
    thing.resourceVersion = this.#next();
  }

  list() {
    this.listed++;
    if (!this.isReachable) return { objects: [], counts: [], types: [], isWhole: false };
    const objects = [...this.things.values()].map((thing): RemoteObject => ({ type: THINGS, metadata: { ...thing } }));
    return { objects, counts: [], types: [THINGS], isWhole: true };
  }

  write(write: RemoteWrite): RemoteWriteReply {
    this.writes.push(write);
    if (!this.isReachable) throw new Error('unreachable');
    const thing = this.things.get(write.name);
    if (thing === undefined) return { code: 404, message: 'gone' };
    if (write.verb === 'delete') return this.#delete(thing, write.body as DeleteBody);
    const { metadata } = write.body as PatchBody;
    if (metadata.uid !== thing.uid || metadata.resourceVersion !== thing.resourceVersion)
      return { code: 409, message: 'changed' };
    Object.assign(thing, metadata, { resourceVersion: this.#next() });
    if (thing.deletionTimestamp !== undefined && !thing.finalizers?.length) this.things.delete(thing.name);
    return { code: 200, message: '' };
  }

  #delete(thing: Thing, { preconditions }: DeleteBody): RemoteWriteReply {
    if (preconditions.uid !== thing.uid || preconditions.resourceVersion !== thing.resourceVersion)
      return { code: 409, message: 'changed' };
    this.things.delete(thing.name);
    return { code: 200, message: '' };
  }

  #next(): string {
    this.#version += 1;
    return `v${this.#version}`;
  }
}

interface DeleteBody {
  readonly preconditions: { readonly uid: string; readonly resourceVersion: string };
}

interface PatchBody {
  readonly metadata: Partial<Thing>;
}

function configMap(cluster: Cluster, name: string, metadata: object = {}): void {
  cluster.put(CONFIG_MAPS, objectOf('ConfigMap', 'shop', name, { metadata: { name, uid: name, ...metadata } }));
}

const ofMap = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name },
  ...more,
});
const ofThing = (name: string): OwnerReference => ({
  ...{ apiVersion: 'things.test/v1', kind: 'Thing', name, uid: name, blockOwnerDeletion: true },
});

const names = ({ things }: ThingServer): string[] => [...things.keys()].sort();

async function world(prepare: (cluster: Cluster) => void = () => {}): Promise<[Fixture, ThingServer]> {
  const server = new ThingServer();
  const f = await started({ caPem: '' }, (cluster) => {
    cluster.putNamespace('shop');
    prepare(cluster);
  });
  f.onListRemotes(() => server.list());
  f.onWriteRemote((write) => server.write(write));
  f.onLookUp(({ name }) => {
    if (!server.isReachable) return { is: 'unknown' };
    const thing = server.things.get(name);
    if (thing === undefined) return { is: 'absent' };
    const held = thing.deletionTimestamp === undefined ? [] : (thing.finalizers ?? []);
    const deletion = held.includes('foregroundDeletion') ? 'foreground' : held.includes('orphan') ? 'orphan' : 'none';
    return { is: 'present', uid: thing.uid, deletion };
  });
  return [f, server];
}

const maps = (f: Fixture): string[] => f.cluster.names(CONFIG_MAPS).filter((name) => name.startsWith('shop/'));

test('an object of another server goes with its owner here, at once when it was seen before', async (t) => {
  const [f, server] = await world((cluster) => {
    configMap(cluster, 'a');
    configMap(cluster, 'b');
  });
  server.put('of-a', { ownerReferences: [ofMap('a')] });
  server.put('of-both', { ownerReferences: [ofMap('a'), ofMap('b')] });
  server.put('of-gone', { ownerReferences: [ofMap('gone')] });
  server.put('free');
  thingsElsewhere(f.cluster);
  await f.time.settle();
  t.deepEqual(names(server), ['free', 'of-a', 'of-both']);
  f.cluster.delete(CONFIG_MAPS, 'shop', 'a');
  await f.time.settle();
  t.deepEqual(names(server), ['free', 'of-both']);
  t.deepEqual(server.things.get('of-both')?.ownerReferences, [ofMap('b')]);
});

test('what is made elsewhere for an owner that is gone already goes within a minute', async (t) => {
  const [f, server] = await world(thingsElsewhere);
  await f.time.advance(60_000);
  server.put('late', { ownerReferences: [ofMap('gone')] });
  await f.time.advance(60_000);
  t.deepEqual(names(server), []);
});

test('an object of another server goes with its owner there', async (t) => {
  const [f, server] = await world(thingsElsewhere);
  server.put('owner');
  server.put('owned', { ownerReferences: [ofThing('owner')] });
  await f.time.advance(60_000);
  t.deepEqual(names(server), ['owned', 'owner']);
  server.things.delete('owner');
  await f.time.advance(60_000);
  t.deepEqual(names(server), []);
});

test('who is deleted in the foreground elsewhere goes after what it owns, here and there', async (t) => {
  const [f, server] = await world((cluster) => {
    thingsElsewhere(cluster);
    configMap(cluster, 'owned', { ownerReferences: [ofThing('owner')] });
  });
  server.put('owner');
  server.put('part', { ownerReferences: [ofThing('owner')] });
  await f.time.advance(60_000);
  server.end('owner', 'foregroundDeletion');
  await f.time.advance(120_000);
  t.deepEqual(names(server), []);
  t.deepEqual(maps(f), []);
  t.deepEqual(
    server.writes.map(({ verb, name }) => `${verb} ${name}`),
    ['delete part', 'patch owner'],
  );
});

test('who is deleted elsewhere without what it owns is let go when all have given it up', async (t) => {
  const [f, server] = await world((cluster) => {
    thingsElsewhere(cluster);
    configMap(cluster, 'owned', { ownerReferences: [ofThing('owner')] });
  });
  server.put('owner');
  server.put('part', { ownerReferences: [ofThing('owner')] });
  server.end('owner', 'orphan');
  await f.time.advance(120_000);
  t.deepEqual(names(server), ['part']);
  t.deepEqual(maps(f), ['shop/owned']);
  t.falsy(server.things.get('part')?.ownerReferences);
  t.is(f.cluster.get(CONFIG_MAPS, 'shop', 'owned')?.metadata.ownerReferences, undefined);
});

test('an owner here that is deleted in the foreground waits for what it owns elsewhere', async (t) => {
  const [f, server] = await world((cluster) => {
    thingsElsewhere(cluster);
    configMap(cluster, 'owner');
  });
  server.put('owned', { ownerReferences: [ofMap('owner', { blockOwnerDeletion: true })] });
  await f.time.advance(60_000);
  server.isReachable = false;
  f.cluster.delete(CONFIG_MAPS, 'shop', 'owner', 'Foreground');
  await f.time.advance(60_000);
  t.deepEqual(maps(f), ['shop/owner']);
  server.isReachable = true;
  await f.time.advance(120_000);
  t.deepEqual(maps(f), []);
  t.deepEqual(names(server), []);
});

test('while a server does not say what it has, nobody whose dependents it may have is let go', async (t) => {
  const [f, server] = await world(thingsElsewhere);
  server.put('owner');
  server.end('owner', 'foregroundDeletion');
  let isWhole = false;
  f.onListRemotes(() => ({ ...server.list(), isWhole }));
  await f.time.advance(120_000);
  t.deepEqual(names(server), ['owner']);
  isWhole = true;
  await f.time.advance(120_000);
  t.deepEqual(names(server), []);
});

test('an object that has changed since it was listed is looked at again before it goes', async (t) => {
  const [f, server] = await world((cluster) => {
    thingsElsewhere(cluster);
    configMap(cluster, 'a');
    configMap(cluster, 'b');
  });
  server.put('d', { ownerReferences: [ofMap('a')] });
  await f.time.advance(60_000);
  server.put('d', { ownerReferences: [ofMap('b')] });
  f.cluster.delete(CONFIG_MAPS, 'shop', 'a');
  await f.time.advance(60_000);
  t.deepEqual(names(server), ['d']);
  t.is(server.writes.length > 0, true);
});

test('what is shown elsewhere of an object that is stored here is that object, and is left to be', async (t) => {
  const [f, server] = await world((cluster) => {
    thingsElsewhere(cluster);
    configMap(cluster, 'mirrored');
  });
  server.put('mirrored', { ownerReferences: [ofMap('gone')] });
  await f.time.advance(60_000);
  t.deepEqual(names(server), ['mirrored']);
  t.deepEqual(server.writes, []);
});

test('without another server nobody is asked for objects, and those of one that is gone are forgotten', async (t) => {
  const [f, server] = await world((cluster) => configMap(cluster, 'a'));
  await f.time.advance(120_000);
  t.is(server.listed, 0);
  server.put('of-a', { ownerReferences: [ofMap('a')] });
  thingsElsewhere(f.cluster);
  await f.time.advance(60_000);
  const group = DIALECT.spell('apiregistration.@group');
  f.cluster.remove(`${group}/apiservices`, '', 'v1.things.test');
  await f.time.advance(60_000);
  const { listed } = server;
  f.cluster.delete(CONFIG_MAPS, 'shop', 'a');
  await f.time.advance(120_000);
  t.deepEqual(server.writes, []);
  t.is(server.listed, listed);
});

test('while nothing happens the other server is asked twice a minute, and soon after it was written to', async (t) => {
  const [f, server] = await world(thingsElsewhere);
  await f.time.advance(600_000);
  t.true(server.listed >= 19 && server.listed <= 22, String(server.listed));
  const { listed } = server;
  server.put('d', { ownerReferences: [ofMap('gone')] });
  await f.time.advance(31_000);
  t.deepEqual(names(server), []);
  t.is(server.listed, listed + 2);
});
