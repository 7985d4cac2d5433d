// Goal: whatever lists are put together, the client is told the same as by one list of all of them, each header once and in order.
// Method: a response that says what it was told, as the binary would put it on the wire.

import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import test from 'ava';
import type { HeaderList } from '../../../transport/http.ts';
import { joinedHeaders, keptHeaders } from '../../../transport/kept-headers.ts';
import { writeHead } from '../../../transport/uws/head.ts';

const COMMON: HeaderList = [
  ['Cache-Control', 'no-cache, private'],
  ['Content-Type', 'application/json'],
];
const FLOW: HeaderList = [['X-Flow', 'a']];

function written(status: number, headers: HeaderList): string {
  let text = '';
  const native = {
    writeStatus: (head: string | ArrayBuffer) => {
      text += `${typeof head === 'string' ? head : Buffer.from(head).toString()}\n`;
    },
    writeHeader: (name: string, value: string) => {
      text += `${name}: ${value}\n`;
    },
  };
  writeHead(native as unknown as NativeResponse, status, headers);
  return text.replaceAll('\r', '');
}

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');

test('lists that are given again come to the same list, and say the same for each code', (t) => {
  const common = keptHeaders([...COMMON]);
  const flow = keptHeaders([...FLOW]);
  const both = joinedHeaders(common, flow);
  t.is(joinedHeaders(common, flow), both);
  t.deepEqual([...both], [...COMMON, ...FLOW]);
  for (let i = 0; i < 2; i++) {
    for (const [status, line] of [
      [200, '200 OK'],
      [404, '404 Not Found'],
    ] as const) {
      t.is(
        written(status, both),
        lines(line, 'Cache-Control: no-cache, private', 'Content-Type: application/json', 'X-Flow: a'),
      );
    }
  }
});

test('a list of one answer goes behind what is kept, and is not kept with it', (t) => {
  const common = keptHeaders([...COMMON]);
  for (const id of ['1', '2']) {
    const all = joinedHeaders(common, [['Audit-Id', id]]);
    t.is(all.length, 3);
    const head = ['200 OK', 'Cache-Control: no-cache, private', 'Content-Type: application/json', `Audit-Id: ${id}`];
    t.is(written(200, all), lines(...head));
    t.is(written(200, joinedHeaders(all, FLOW)), lines(...head, 'X-Flow: a'));
    t.is(written(200, [...all, ['X-More', 'b']]), lines(...head, 'X-More: b'));
  }
  t.is(written(200, common), lines('200 OK', 'Cache-Control: no-cache, private', 'Content-Type: application/json'));
});

test('headers that frame are left out, and no value ends its line', (t) => {
  const headers: HeaderList = [
    ['Content-Length', '7'],
    ['connection', 'close'],
    ['X-Echo', 'a\r\nX-Evil: b'],
    ['X-Word', 'é'],
  ];
  for (const list of [headers, keptHeaders(headers), joinedHeaders(keptHeaders([]), headers)])
    t.is(written(200, list), lines('200 OK', 'X-Echo: a  X-Evil: b', 'X-Word: é'));
});
