// Lists in Protobuf from records to bytes: in one write or many, with encodings that are kept, partly kept or not at all,
// to clients that read slowly or go away.

import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { sendProtobufList } from '../../../../actors/ingress/reads/protobuf-list.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { ListEnvelope, ListItems } from '../../../../rendering/list.ts';
import { ProtobufRecords } from '../../../../rendering/protobuf-records.ts';
import type { Rendering } from '../../../../rendering/rendering.ts';
import { readWire } from '../../../server/kubernetes-messages.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { Records } from '../../hub/records.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { exchangeOver } from '../exchanges.ts';

const ENVELOPE: ListEnvelope = {
  apiVersion: 'v1',
  listKind: 'ConfigMapList',
  revision: 77,
  continueToken: 'more',
  remaining: 4,
};
const RENDERING = renderingOf({ group: '', version: 'v1', kind: 'ConfigMap' }, { encoding: 'protobuf' });
const PIECE_BYTES = 256 * 1024;

function items(textLengths: readonly number[]): { readonly list: ListItems; readonly expected: readonly object[] } {
  const records = new Records(64 * 1024 * 1024, 'ConfigMap');
  const places = new Uint32Array(textLengths.length * 2);
  const expected = textLengths.map((length, i) => {
    const text = 'é"\n'.repeat(length).slice(0, length);
    const name = `o${i}`;
    const { slab, offset } = records.write({ namespace: 'ä', name, text }, i + 1);
    places.set([slab, offset], i * 2);
    return { metadata: { name, namespace: 'ä', resourceVersion: String(i + 1) }, data: { text } };
  });
  return { list: { places, slabs: [records.slab] }, expected };
}

interface Sending {
  readonly list: ListItems;
  readonly keptBytes?: number;
  readonly records?: ProtobufRecords;
  readonly rendering?: Rendering;
  readonly response?: FakeResponse;
}

/** `before`: of the pauses those before the first byte. */
async function send(sending: Sending): Promise<{ response: FakeResponse; pauses: number; before: number }> {
  const { list, keptBytes, rendering = RENDERING, response = new FakeResponse() } = sending;
  const records = sending.records ?? new ProtobufRecords(DIALECTS.orch, keptBytes);
  const exchange = exchangeOver(response);
  let pauses = 0;
  let before = 0;
  await sendProtobufList(exchange, ENVELOPE, list, representationOf(rendering), records, () => {
    pauses++;
    if (response.chunks.length === 0) before++;
    return Promise.resolve();
  });
  return { response, pauses, before };
}

const METADATA = { resourceVersion: '77', continue: 'more', remainingItemCount: 4 };
const bodyOf = ({ chunks }: FakeResponse): Buffer => Buffer.concat(chunks);

for (const [title, lengths] of [
  ['nothing', []],
  ['one item', [10]],
  ['a few items', [0, 1, 100, 5000]],
  ['items up to about a piece', Array.from({ length: 60 }, () => 4000)],
  ['many pieces', Array.from({ length: 700 }, (_, i) => (i * 37) % 9000)],
  ['items larger than a piece', [10, 300_000, 10, 600_000, 20]],
] as const) {
  for (const keptBytes of [64 * 1024 * 1024, 100_000, 0]) {
    test(`a list of ${title} with ${keptBytes} bytes to keep is what was stored`, async (t) => {
      const { list, expected } = items(lengths);
      const { response } = await send({ list, keptBytes });
      t.is(response.status, 200);
      t.true(response.ended);
      const read = readWire(bodyOf(response));
      t.deepEqual([read.kind, read.apiVersion, read.metadata], ['ConfigMapList', 'v1', METADATA]);
      t.true(isDeepStrictEqual(read.items ?? [], expected));
      const largest = Math.max(PIECE_BYTES, ...lengths.map((length) => 2 * length + 1000));
      for (const { length } of response.chunks) t.true(length <= largest);
    });
  }
}

test('a list whose items are all kept is sent without encoding any, and with few pauses', async (t) => {
  const { list } = items(Array.from({ length: 1000 }, () => 2000));
  const records = new ProtobufRecords(DIALECTS.orch);
  const first = await send({ list, records });
  const encoded = records.of(RENDERING).encodedCount;
  t.is(encoded, 1000);
  t.true(first.pauses >= 1000 / 64 - 1);
  const second = await send({ list, records });
  t.is(records.of(RENDERING).encodedCount, encoded);
  t.true(second.pauses <= second.response.chunks.length);
  t.true(bodyOf(first.response).equals(bodyOf(second.response)));
});

test('between large items of a list in Protobuf the thread serves others', async (t) => {
  const { list } = items(Array.from({ length: 40 }, () => 200_000));
  const { before } = await send({ list });
  t.is(before, 39);
});

test('a client that goes away from a list in Protobuf costs nothing more', async (t) => {
  const { list } = items(Array.from({ length: 700 }, () => 4000));
  const response = new FakeResponse();
  response.isFull = () => {
    if (response.chunks.length === 2) response.disconnect();
    return false;
  };
  await send({ list, response });
  t.is(response.chunks.length, 2);
  t.false(response.ended);
});

test('a slow client is waited for', async (t) => {
  const { list, expected } = items(Array.from({ length: 700 }, () => 4000));
  const response = new FakeResponse();
  response.isFull = () => true;
  let done = false;
  const sending = send({ list, response }).then(() => {
    done = true;
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  while (!done) {
    for (let i = 0; i < 3; i++) await turn();
    response.drain();
    await turn();
  }
  await sending;
  t.is(response.writesWhileFull, 0);
  t.true(isDeepStrictEqual(readWire(bodyOf(response)).items, expected));
});

for (const version of ['v1', 'v1beta1'] as const) {
  test(`a list of partial metadata in ${version} has the metadata of each item`, async (t) => {
    const { list, expected } = items([10, 0, 300_000]);
    const shape = {
      kind: 'PartialObjectMetadataList',
      metaGroup: 'meta.k8s.io',
      version,
      includeObject: 'Metadata',
      dialect: 'orch',
    } as const;
    const { response } = await send({ list, rendering: { ...RENDERING, shape } });
    const typeName = version === 'v1' ? 'PartialObjectMetadataList' : 'PartialObjectMetadataListV1Beta1';
    const read = readWire(bodyOf(response), typeName);
    t.deepEqual([read.kind, read.apiVersion], ['PartialObjectMetadataList', `meta.k8s.io/${version}`]);
    t.deepEqual(read.metadata, METADATA);
    t.deepEqual(
      read.items,
      expected.map((item) => ({ metadata: (item as { metadata: object }).metadata })),
    );
  });
}
