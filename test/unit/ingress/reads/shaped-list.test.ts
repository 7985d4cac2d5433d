// Lists in a shape of their own, from records in a slab to the bytes a client gets: short and long ones, and clients that
// read slowly or go away.

import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/pipeline/exchange.ts';
import { decodedList, type ListEnvelope, type ListItems } from '../../../../actors/ingress/reads/list-body.ts';
import { sendShapedList } from '../../../../actors/ingress/reads/shaped-list.ts';
import { encodeStored } from '../../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../../api/json-value.ts';
import type { Shape } from '../../../../api/table/shape.ts';
import { Renderer } from '../../../../rendering/renderer.ts';
import type { Rendering } from '../../../../rendering/rendering.ts';
import { CREATED, mapSlab, recordBytes, stampRevision, writeRecordHead } from '../../../../storage/slab-record.ts';
import type { HttpResponse } from '../../../../transport/http.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { exchangeOver } from '../exchanges.ts';

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

/** Namespaces n0, n1, … with revisions 1, 2, … in one slab. */
function namespaces(count: number): ListItems {
  const slab = mapSlab(new SharedArrayBuffer(count * 512 + 512));
  const places = new Uint32Array(count * 2);
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const object = { metadata: { name: `n${i}` }, status: { phase: 'Active' } };
    const { text, revisionOffset, itemOffset } = encodeStored(object, 'v1', 'Namespace');
    const key = `core/namespaces//n${i}`;
    const length = recordBytes(key.length, 0, text.length);
    const fields = {
      revision: i + 1,
      bornRevision: i + 1,
      type: CREATED,
      schemaGeneration: 1,
      revisionOffset,
      itemOffset,
    };
    const at = writeRecordHead(slab, offset, length, fields, key, key.length, '', 0, text.length);
    slab.bytes.write(text, at);
    stampRevision(slab.bytes, at + revisionOffset, i + 1);
    places[i * 2 + 1] = offset;
    offset += length;
  }
  return { places, slabs: [slab] };
}

/** What a client got, and how it read. */
class Client {
  text = '';
  pieces = 0;
  status = 0;
  contentType = '';
  ended = false;
  aborted = false;
  /** Pieces after which the socket is full until `drain`. */
  fullAfter = Number.POSITIVE_INFINITY;
  /** Pieces after which the client goes away. */
  goneAfter = Number.POSITIVE_INFINITY;
  drain: () => void = () => {};
  #onAborted: () => void = () => {};
  readonly exchange: Exchange;

  constructor() {
    const begin = (status: number, headers: readonly (readonly [string, string])[]): void => {
      this.status = status;
      this.contentType = headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
    };
    const response: Partial<HttpResponse> = {
      onAborted: (callback) => {
        this.#onAborted = callback;
      },
      onDrained: (callback) => {
        this.drain = callback;
      },
      respond: (status, headers, body) => {
        begin(status, headers);
        this.text += Buffer.from(body).toString('utf8');
        this.pieces++;
        this.ended = true;
      },
      start: begin,
      write: (bytes) => {
        this.text += Buffer.from(bytes).toString('utf8');
        this.pieces++;
        if (this.pieces < this.goneAfter) return this.pieces < this.fullAfter;
        this.aborted = true;
        this.#onAborted();
        return false;
      },
      end: () => {
        this.ended = true;
      },
    };
    const isAborted = (): boolean => this.aborted;
    Object.defineProperty(response, 'aborted', { get: isAborted });
    this.exchange = exchangeOver(response);
  }
}

interface Sending {
  readonly count: number;
  readonly shape?: Partial<Shape>;
  readonly type?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly rendering?: Partial<Rendering>;
  readonly client?: Client;
  readonly pause?: () => Promise<void>;
}

async function send({ count, shape, type = NAMESPACE, rendering, client = new Client(), pause }: Sending) {
  const chosen = representationOf(renderingOf(type, { shape: { ...SHAPE, ...shape }, ...rendering }));
  const never = (): Promise<void> => Promise.resolve();
  await sendShapedList(client.exchange, ENVELOPE, namespaces(count), chosen, pause ?? never);
  return client;
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
  t.is(pauses, 3);
  t.true(client.pieces > pauses);
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

test('other formats hold the same Table', async (t) => {
  const plain = await send({ count: 70 });
  const pretty = await send({ count: 70, rendering: { pretty: true } });
  t.deepEqual(JSON.parse(pretty.text), JSON.parse(plain.text));
  const yaml = await send({ count: 70, rendering: { encoding: 'yaml' } });
  t.is(yaml.contentType, 'application/yaml');
  t.regex(yaml.text, /^kind: Table$/m);
  t.is(yaml.text.match(/^ {2}object: null$/gm)?.length, 70);
});

test('a kind with an order of its own is put in it over the whole list', async (t) => {
  const type = { group: 'flowcontrol.apiserver.orch.io', version: 'v1beta1', kind: 'FlowSchema' };
  const client = await send({ count: 130, type });
  t.deepEqual(firstCells(client.text), names(130).sort());
});

test('the plain list in another format has the same metadata as its bytes', (t) => {
  const list = decodedList(ENVELOPE, namespaces(2), new Renderer(renderingOf(NAMESPACE), 0)) as {
    readonly metadata: unknown;
    readonly items: readonly unknown[];
  };
  t.deepEqual(list.metadata, { resourceVersion: '77', continue: 'more', remainingItemCount: 4 });
  t.deepEqual(list.items[1], { metadata: { name: 'n1', resourceVersion: '2' }, status: { phase: 'Active' } });
});
