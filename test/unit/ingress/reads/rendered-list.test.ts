// Lists that are rendered, from records in a slab to the bytes a client gets: short and long ones, made here and in the pool,
// and clients that read slowly or go away.

import test from 'ava';
import { sendRenderedList } from '../../../../actors/ingress/reads/rendered-list.ts';
import { encodeStored } from '../../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { Shape } from '../../../../api/table/shape.ts';
import { valueEncoder } from '../../../../rendering/encode-value.ts';
import { JOB_BYTES_MIN } from '../../../../rendering/jobs.ts';
import { decodedItem, emptyList, type ListEnvelope, type ListItems, listMetadata } from '../../../../rendering/list.ts';
import type { Renderer } from '../../../../rendering/renderer.ts';
import type { Rendering } from '../../../../rendering/rendering.ts';
import { createJobPool, type JobPool, NO_JOB_POOL } from '../../../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../../../runtime/memory/heap-room.ts';
import {
  CREATED,
  mapSlab,
  recordBytes,
  stampRevision,
  writeRecordHead,
} from '../../../../storage/records/slab-record.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { Client } from './client.ts';

const ENVELOPE: ListEnvelope = {
  apiVersion: 'v1',
  listKind: 'NamespaceList',
  revision: 77,
  continueToken: 'more',
  remaining: 4,
};
const SHAPE: Shape = {
  kind: 'Table',
  metaGroup: 'meta.orch.io',
  version: 'v1',
  includeObject: 'None',
  dialect: 'orch',
};
const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };

/** Namespaces n0, n1, … with revisions 1, 2, … in one slab, and what else they are to hold. */
function namespaces(count: number, others: readonly JsonObject[] = [{}]): ListItems {
  const objects = Array.from({ length: count }, (_, i) => {
    const other = others[i % others.length]!;
    return encodeStored({ ...other, metadata: { ...(other.metadata as object), name: `n${i}` } }, 'v1', 'Namespace');
  });
  const valueBytes = objects.map(({ text }) => Buffer.byteLength(text));
  const slab = mapSlab(new SharedArrayBuffer(valueBytes.reduce((sum, bytes) => sum + bytes + 512, 512)));
  const places = new Uint32Array(count * 2);
  let offset = 0;
  objects.forEach(({ text, revisionOffset, itemOffset }, i) => {
    const key = `core/namespaces//n${i}`;
    const length = recordBytes(key.length, 0, valueBytes[i]!);
    const revision = i + 1;
    const fields = {
      revision,
      bornRevision: revision,
      type: CREATED,
      schemaGeneration: 1,
      revisionOffset,
      itemOffset,
    };
    const at = writeRecordHead(slab, offset, length, fields, key, key.length, '', 0, valueBytes[i]!);
    slab.bytes.write(text, at);
    stampRevision(slab.bytes, at + revisionOffset, revision);
    places[i * 2 + 1] = offset;
    offset += length;
  });
  return { places, slabs: [slab] };
}

interface Sending {
  readonly count: number;
  readonly others?: readonly JsonObject[];
  /** Of a Table; null: no shape. */
  readonly shape?: Partial<Shape> | null;
  readonly type?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly rendering?: Partial<Rendering>;
  readonly client?: Client;
  readonly pause?: () => Promise<void>;
  readonly jobs?: JobPool;
}

async function send({ count, others, shape, type, rendering, client = new Client(), pause, jobs }: Sending) {
  const chosen = representationOf(
    renderingOf(type ?? NAMESPACE, { shape: shape === null ? undefined : { ...SHAPE, ...shape }, ...rendering }),
  );
  const work = {
    pause: pause ?? ((): Promise<void> => Promise.resolve()),
    jobs: jobs ?? NO_JOB_POOL,
    heapRoom: new HeapRoom(0),
  };
  await sendRenderedList(client.exchange, ENVELOPE, namespaces(count, others), chosen, work);
  return client;
}

/** The same list as one value, encoded in one go: the oracle. */
function wholeText(items: ListItems, renderer: Renderer): string {
  const objects = Array.from({ length: items.places.length / 2 }, (_, i) => decodedItem(items, i));
  const { shape, encoding, pretty } = renderer.rendering;
  const plain = objects.map((object) => {
    const { kind: _kind, apiVersion: _apiVersion, ...item } = renderer.converted(object);
    return item;
  });
  const list =
    shape === undefined
      ? { ...emptyList(ENVELOPE, {}), items: plain }
      : renderer.shapedList(objects, listMetadata(ENVELOPE));
  const encode = valueEncoder(encoding, pretty, () => {
    throw new Error('no schema is needed');
  });
  return Buffer.from(encode(list) as string).toString('utf8');
}

interface TableText {
  readonly kind: string;
  readonly metadata: JsonObject;
  readonly columnDefinitions: readonly JsonObject[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const firstCells = (text: string): unknown[] => (JSON.parse(text) as TableText).rows.map(({ cells }) => cells[0]);
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

for (const count of [0, 1, 64]) {
  test(`a Table of ${count} rows is one answer`, async (t) => {
    const client = await send({ count });
    t.is(client.pieces, 1);
    t.true(client.ended);
    t.is(client.status, 200);
    t.is(client.exchange.code, 200);
    t.true(client.text.endsWith(']}\n'));
    const table = JSON.parse(client.text) as TableText;
    t.is(table.kind, 'Table');
    t.deepEqual(table.metadata, { resourceVersion: '77', continue: 'more', remainingItemCount: 4 });
    t.is(table.columnDefinitions.length, 3);
    t.deepEqual(firstCells(client.text), names(count));
  });
}

test('a long Table is made in pieces, with pauses between', async (t) => {
  let pauses = 0;
  const client = await send({
    count: 200,
    pause: () => {
      pauses++;
      return Promise.resolve();
    },
  });
  t.true(pauses > 3);
  t.true(client.pieces >= pauses);
  t.true(client.ended);
  t.deepEqual(firstCells(client.text), names(200));
});

test('a list of partial metadata names the kind of each item', async (t) => {
  const client = await send({ count: 100, shape: { kind: 'PartialObjectMetadataList' } });
  const list = JSON.parse(client.text) as { readonly kind: string; readonly items: readonly JsonObject[] };
  t.is(list.kind, 'PartialObjectMetadataList');
  t.is(list.items.length, 100);
  t.deepEqual(list.items[99], {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.orch.io/v1',
    metadata: { name: 'n99', resourceVersion: '100' },
  });
});

test('a slow client is waited for, and gets everything', async (t) => {
  const client = new Client();
  client.fullAfter = 2;
  let done = false;
  const sending = send({ count: 200, client }).then(() => {
    done = true;
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  let stoppedAt = 0;
  while (!done) {
    // No piece is written while the socket is full, however long that is.
    for (let i = 0; i < 5; i++) await turn();
    t.true(client.pieces <= stoppedAt + 2);
    stoppedAt = client.pieces;
    client.drain();
    await turn();
  }
  await sending;
  t.deepEqual(firstCells(client.text), names(200));
});

test('a client that goes away costs nothing more', async (t) => {
  const client = new Client();
  client.goneAfter = 2;
  await send({ count: 1000, client });
  t.is(client.pieces, 2);
  t.false(client.ended);
});

/** Values that encodings write in forms of their own. */
const AWKWARD: readonly JsonObject[] = [
  { metadata: { labels: { 10: 'ten', 9: 'nine', 'a/b': '' } }, status: { phase: 'Active' } },
  { spec: {}, status: { conditions: [], phase: null } },
  { metadata: { annotations: { text: 'a\nb\n\n', yes: 'no', colon: 'a: b', ключ: '"é\\\u2028😀' } } },
  { data: [[], [[1, -0.5, 1e21]], {}, { deep: deepValue(70) }] },
  { spec: { finalizers: ['a', 'b'] }, zero: 0, no: false },
];

function deepValue(levels: number): unknown {
  return levels === 0
    ? [1, { a: 'x' }]
    : levels % 2 === 0
      ? [deepValue(levels - 1), 'y']
      : { b: deepValue(levels - 1) };
}

const FLOW_SCHEMA = { group: 'flowcontrol.apiserver.orch.io', version: 'v1beta1', kind: 'FlowSchema' };
const FLOW_SCHEMAS: readonly JsonObject[] = [3, 1, 2].map((matchingPrecedence) => ({ spec: { matchingPrecedence } }));
const OTHER_STORED = {
  source: { group: 'extensions', version: 'v1beta1', kind: 'Ingress', dialect: 'orch' },
  target: { group: 'networking.orch.io', version: 'v1', kind: 'Ingress' },
} as const;

const RENDERED: readonly (readonly [what: string, sending: Omit<Sending, 'count'>])[] = [
  ['indented', { shape: null, rendering: { pretty: true }, others: AWKWARD }],
  ['YAML', { shape: null, rendering: { encoding: 'yaml' }, others: AWKWARD }],
  ['of another version', { shape: null, rendering: { ...OTHER_STORED } }],
  ['indented and of another version', { shape: null, rendering: { ...OTHER_STORED, pretty: true } }],
  ['YAML of another version', { shape: null, rendering: { ...OTHER_STORED, encoding: 'yaml' } }],
  ...(['None', 'Metadata', 'Object'] as const).flatMap((includeObject): [string, Omit<Sending, 'count'>][] => [
    [`a Table with ${includeObject}`, { shape: { includeObject }, others: AWKWARD }],
    [
      `an indented Table with ${includeObject}`,
      { shape: { includeObject }, rendering: { pretty: true }, others: AWKWARD },
    ],
    [
      `a YAML Table with ${includeObject}`,
      { shape: { includeObject }, rendering: { encoding: 'yaml' }, others: AWKWARD },
    ],
  ]),
  ['partial metadata', { shape: { kind: 'PartialObjectMetadataList' }, rendering: { pretty: true }, others: AWKWARD }],
  ['a Table in an order of its own', { type: FLOW_SCHEMA, others: FLOW_SCHEMAS }],
  ['such a Table, indented', { type: FLOW_SCHEMA, others: FLOW_SCHEMAS, rendering: { pretty: true } }],
  ['such a Table, YAML', { type: FLOW_SCHEMA, others: FLOW_SCHEMAS, rendering: { encoding: 'yaml' } }],
];

const sharedPool = createJobPool();
test.after.always(() => sharedPool.close());

for (const [what, sending] of RENDERED) {
  test.serial(
    `a list that is ${what} is the same bytes whether it is made at once, in slices or in the pool`,
    async (t) => {
      const padding = { note: 'x'.repeat(3000) };
      const large = (sending.others ?? [{}]).map((other) => ({ ...other, padding }));
      const cases: readonly (readonly [count: number, others: readonly JsonObject[] | undefined, jobs: JobPool])[] = [
        [0, sending.others, NO_JOB_POOL],
        [1, sending.others, NO_JOB_POOL],
        [64, sending.others, NO_JOB_POOL],
        [300, sending.others, NO_JOB_POOL],
        [1, [{ data: 'é'.repeat(400_000) }, {}], NO_JOB_POOL],
        [200, large, NO_JOB_POOL],
        [200, large, sharedPool],
      ];
      for (const [count, others, pool] of cases) {
        const chosen = representationOf(
          renderingOf(sending.type ?? NAMESPACE, {
            shape: sending.shape === null ? undefined : { ...SHAPE, ...sending.shape },
            ...sending.rendering,
          }),
        );
        const expected = wholeText(namespaces(count, others), chosen.renderer);
        const client = await send({ ...sending, count, ...(others === undefined ? {} : { others }), jobs: pool });
        t.true(client.ended);
        t.true(client.text === expected, `${count} items, ${pool === sharedPool ? 'in the pool' : 'here'}`);
      }
    },
  );
}

test('a Table in YAML is sent under the name of YAML', async (t) => {
  const yaml = await send({ count: 70, rendering: { encoding: 'yaml' } });
  t.is(yaml.contentType, 'application/yaml');
  t.regex(yaml.text, /^kind: Table$/m);
});

test('a kind with an order of its own is put in it over the whole list', async (t) => {
  const client = await send({ count: 130, type: FLOW_SCHEMA });
  t.deepEqual(firstCells(client.text), names(130).sort());
});

test('others have their turn while a long list is put in its order, too', async (t) => {
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return Promise.resolve();
  };
  await send({ count: 200, pause });
  const unordered = pauses;
  pauses = 0;
  await send({ count: 200, type: FLOW_SCHEMA, pause });
  t.is(pauses, unordered + 3);
});

const LARGE: Sending = {
  count: 300,
  others: [{ note: 'x'.repeat(10_000) }],
  shape: null,
  rendering: { encoding: 'yaml' },
};

test('a large list is made in the pool, at the pace of its reader', async (t) => {
  const jobs = createJobPool();
  t.teardown(() => jobs.close());
  const client = new Client();
  client.fullAfter = 1;
  let done = false;
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return Promise.resolve();
  };
  const sending = send({ ...LARGE, client, pause, jobs }).then(() => {
    done = true;
  });
  while (!done) {
    const before = client.pieces;
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.true(client.pieces <= before + 1);
    client.drain();
  }
  await sending;
  t.is(pauses, 0);
  t.true(client.pieces > 5);
  t.is(client.text.match(/^- metadata:$/gm)?.length, 300);
});

test('a client that goes away ends its job, and the pool goes on', async (t) => {
  const jobs = createJobPool();
  t.teardown(() => jobs.close());
  const client = new Client();
  client.goneAfter = 2;
  await send({ ...LARGE, client, jobs });
  t.is(client.pieces, 2);
  t.false(client.ended);
  t.true((await send({ ...LARGE, jobs })).ended);
});

test('a large list is made in slices here while the pool has no room', async (t) => {
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return Promise.resolve();
  };
  const client = await send({ ...LARGE, pause });
  t.true(client.ended);
  t.true(pauses > LARGE.count / 64);
  t.true(client.text.length > JOB_BYTES_MIN);
});

test('a large list that the pool has a place for and no thread is made here', async (t) => {
  const jobs: JobPool = { ...NO_JOB_POOL, hasRoom: true };
  const [here, client] = await Promise.all([send(LARGE), send({ ...LARGE, jobs })]);
  t.true(client.ended);
  t.is(client.text, here.text);
});

test('what goes wrong before the first piece has an answer of its own', async (t) => {
  const client = new Client();
  const failing = (): Promise<never> => Promise.reject(new TypeError('on purpose'));
  const jobs: JobPool = { ...NO_JOB_POOL, hasRoom: true, stream: failing };
  await t.throwsAsync(send({ ...LARGE, client, jobs }), { instanceOf: TypeError });
  t.is(client.exchange.code, 0);
  t.is(client.pieces, 0);
});
