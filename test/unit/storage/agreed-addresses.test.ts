import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { readStoredValue, writeStoredValue } from '../../../storage/forms/stored-value.ts';
import { agreedAddresses } from '../../../storage/upkeep/agreed-addresses.ts';
import { inspectStore } from '../../../storage/upkeep/inspection.ts';
import { repairStore } from '../../../storage/upkeep/repair.ts';

const SERVICE = 'core/services/default/orch';
const ADDRESS = 'internal/clusteraddresses//10.0.0.1';
const PORT = 'internal/nodeports//30000';
const spec = {
  type: 'NodePort',
  clusterIPs: ['10.0.0.1'],
  ports: [{ port: 443, nodePort: 30_000 }],
};
const owner = { namespace: 'default', name: 'orch', uid: 'uid-orch' };

/** Stored under revision 1. */
function stored(key: string, more: object): readonly [string, Buffer] {
  const [, , namespace = '', name = ''] = key.split('/');
  const { text, revisionOffset, itemOffset } = encodeStored(
    { metadata: { name, namespace, uid: `uid-${name}` }, ...more },
    'v1',
    'Thing',
  );
  const head = { revision: 1, bornRevision: 1, schemaGeneration: 1, revisionOffset, itemOffset };
  const json = Buffer.from(text.replace('"0"', '"1"'));
  const target = Buffer.alloc(4096);
  return [key, target.subarray(0, writeStoredValue(target, 0, key, head, '', json, 'json'))];
}

function objectIn(objects: ReadonlyMap<string, Buffer>, key: string): { owner?: unknown } {
  return JSON.parse(readStoredValue(key, objects.get(key)!)!.json.toString());
}

const service = stored(SERVICE, { spec });
const address = stored(ADDRESS, { owner });
const port = stored(PORT, { owner });
const node = stored('core/nodes//n', {});

async function repaired(t: ExecutionContext, objects: ReadonlyMap<string, Buffer>) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-addresses-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const found = { ...inspectStore(directory), objects, reachedRevision: 1 };
  const repair = await repairStore(directory, found, { dialect: 'orch', prefix: '/registry' }, 5000);
  return { repair, ...inspectStore(directory) };
}

test('a repair frees the address and the port of a service that is lost', async (t) => {
  const { repair, problems, objects } = await repaired(t, new Map([address, port, node]));
  t.deepEqual(problems, []);
  t.deepEqual([...objects.keys()], ['core/nodes//n']);
  t.is(repair.objects, 1);
  t.deepEqual(repair.changes, [
    `removed: ${ADDRESS} is noted as default/orch's, which does not have it`,
    `removed: ${PORT} is noted as default/orch's, which does not have it`,
  ]);
});

test('a repair notes again what a service has whose record is lost, or is of another', async (t) => {
  const ofAnother = stored(PORT, { owner: { namespace: 'a', name: 'b', uid: 'uid-b' } });
  const { repair, problems, objects } = await repaired(t, new Map([service, ofAnother]));
  t.deepEqual(problems, []);
  t.deepEqual([...objects.keys()].sort(), [SERVICE, ADDRESS, PORT]);
  t.deepEqual(objectIn(objects, ADDRESS).owner, owner);
  t.deepEqual(objectIn(objects, PORT).owner, owner);
  t.deepEqual(repair.changes, [
    `noted: ${SERVICE} has what ${ADDRESS} should note, and does not`,
    `noted: ${SERVICE} has what ${PORT} notes as a/b's`,
  ]);
});

test('services and records that agree, or cannot all be looked into, stay as they are', (t) => {
  const agreeing = new Map([service, address, port]);
  t.is(agreedAddresses(agreeing, 2).objects, agreeing);
  const sealed = Buffer.from(service[1]);
  sealed[4] = 2;
  const hidden = new Map([[SERVICE, sealed] as const, address]);
  t.deepEqual(agreedAddresses(hidden, 2), { objects: hidden, changes: [] });
});
