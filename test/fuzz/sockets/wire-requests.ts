// What goes over one connection: several requests in a row, whole or broken, in one piece or many; or no HTTP at all.
import type { Dice } from '../generate/dice.ts';
import { DOCUMENTS, SCHEMA } from '../generate/documents.ts';
import { junk, ODD_TEXTS } from '../generate/junk.ts';
import { mutatedBytes } from '../generate/mutate-text.ts';
import { jsonPatch, mergePatch } from '../generate/patches.ts';
import type { Input } from '../input.ts';
import { acceptText } from '../targets/headers.ts';
import { pathText, queryText, REGISTRY } from '../targets/requests.ts';

/** Stands for the client's token, which the generator does not know. */
export const TOKEN = '@token@';

/** How the bytes travel: proper TLS; bytes in place of TLS; TLS with garbage among its records. */
export type Carrier = 'tls' | 'raw' | 'garbage';
/** What the client does when it has sent everything. */
export type Ending = 'stay' | 'half-close' | 'reset';

const METHODS: readonly string[] = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const ODD_METHODS: readonly string[] = ['TRACE', 'CONNECT', 'get', 'GET\t', 'G'.repeat(300), 'PROPFIND', 'PRI', ''];
const CONTENT_TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.orch.protobuf',
  'text/plain',
  '',
];
const ODD_HEADERS: readonly string[] = [
  'X-A',
  'X-A:',
  ': b',
  'X A: b',
  'X-A : b',
  ' folded: a',
  'X-A: \x00',
  'X-A: \x7f\xff',
  'Host: other',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 1e3',
  'Content-Length: 99999999999999999999',
  'Content-Length: 0\r\nContent-Length: 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, identity',
  'Expect: 100-continue',
  'Expect: something',
  'Upgrade: websocket\r\nConnection: Upgrade',
  `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==`,
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  'Connection: close',
  'Accept-Encoding: gzip',
  'Impersonate-User: a',
  'Range: bytes=0-1',
  'If-None-Match: *',
];

interface Request {
  readonly bytes: Buffer;
  readonly method: string;
  /** It is plain HTTP, and all of it is there. */
  readonly isWhole: boolean;
}

/** The inputs of a socket target. */
export function generateConnection(dice: Dice): Input {
  const carrier: Carrier = dice.oneIn(12) ? (dice.oneIn(2) ? 'raw' : 'garbage') : 'tls';
  if (carrier === 'raw') return input(carrier, dice, [{ bytes: rawBytes(dice), method: '', isWhole: false }]);
  const requests: Request[] = [];
  for (let left = 1 + dice.small(7); left > 0; left--) {
    const made = request(dice);
    requests.push(made);
    // What comes behind a broken request is part of it.
    if (!made.isWhole) break;
  }
  return input(carrier, dice, requests);
}

function input(carrier: Carrier, dice: Dice, requests: readonly Request[]): Input {
  const body = Buffer.concat(requests.map(({ bytes }) => bytes));
  const ending: Ending = dice.oneIn(4) ? dice.pick(['half-close', 'reset'] as const) : 'stay';
  const cuts = dice.oneIn(4) ? Array.from({ length: 1 + dice.small(10) }, () => dice.below(body.length + 1)) : [];
  const isByBytes = body.length < 600 && dice.oneIn(20);
  const methods = requests.filter(({ isWhole }) => isWhole).map(({ method }) => method);
  const pieces = isByBytes ? 'bytes' : cuts.sort((left, right) => left - right).join();
  return {
    text: { carrier, ending, pieces, methods: methods.join(), isWhole: String(requests.at(-1)!.isWhole) },
    body,
  };
}

function request(dice: Dice): Request {
  const isOdd = dice.oneIn(6);
  const method = isOdd && dice.oneIn(4) ? dice.pick(ODD_METHODS) : dice.pick(METHODS);
  const query = dice.oneIn(2) ? queryText(dice) : '';
  const address = sendable(`${pathText(dice)}${query === '' ? '' : `?${query}`}`);
  const lines = [`${method} ${address} HTTP/1.1`, 'Host: fuzz'];
  if (!dice.oneIn(20)) lines.push(`Authorization: Bearer ${dice.oneIn(20) ? 'none' : TOKEN}`);
  if (dice.oneIn(2)) lines.push(`Accept: ${sendable(acceptText(dice))}`);
  if (dice.oneIn(10)) lines.push(`User-Agent: ${sendable(dice.pick(ODD_TEXTS))}`);
  const hasBody = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) || dice.oneIn(20);
  const body = hasBody ? bodyBytes(method, dice) : Buffer.alloc(0);
  if (hasBody) lines.push(`Content-Type: ${dice.pick(dice.oneIn(3) ? CONTENT_TYPES : contentTypesOf(method))}`);
  if (isOdd) return oddRequest(lines, method, body, dice);
  const bytes = dice.oneIn(6) && hasBody ? chunked(lines, body, dice) : sized(lines, body, hasBody);
  // A target that is no path is no HTTP for one listener, and a missing path for the other.
  return { bytes, method, isWhole: address.startsWith('/') };
}

function contentTypesOf(method: string): readonly string[] {
  return method === 'PATCH' ? CONTENT_TYPES.slice(2, 6) : ['application/json'];
}

/** Without what would end the line: those are made on purpose elsewhere. */
function sendable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, (character) =>
    character === ' ' ? '%20' : encodeURIComponent(character.replace(/[\ud800-\udfff]/, '\ufffd')),
  );
}

function sized(lines: readonly string[], body: Buffer, hasBody: boolean): Buffer {
  const length = hasBody ? [`Content-Length: ${body.length}`] : [];
  return Buffer.concat([Buffer.from(`${[...lines, ...length].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function chunked(lines: readonly string[], body: Buffer, dice: Dice): Buffer {
  const parts: Buffer[] = [Buffer.from(`${[...lines, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`, 'latin1')];
  for (let at = 0; at < body.length; ) {
    const length = Math.min(1 + dice.below(dice.oneIn(4) ? 4 : 400), body.length - at);
    parts.push(Buffer.from(`${length.toString(16)}\r\n`), body.subarray(at, at + length), Buffer.from('\r\n'));
    at += length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** A request with something wrong: headers, framing, length, or any byte. */
function oddRequest(lines: readonly string[], method: string, body: Buffer, dice: Dice): Request {
  const odd = [...lines];
  switch (dice.below(7)) {
    case 0:
      odd.splice(1 + dice.below(odd.length), 0, dice.pick(ODD_HEADERS));
      return { bytes: sized(odd, body, body.length > 0), method, isWhole: false };
    case 1: {
      const size = dice.pick([1, 100, 4000, 16_000, 70_000]);
      for (let left = dice.pick([1, 3, 200]); left > 0; left--) odd.push(`X-${left}: ${'x'.repeat(size / 4)}`);
      return { bytes: sized(odd, body, body.length > 0), method, isWhole: false };
    }
    case 2:
      odd.push(`Content-Length: ${body.length + dice.pick([1, -1, 1000, 2 ** 40])}`);
      return { bytes: sized(odd, body, false), method, isWhole: false };
    case 3: {
      const whole = chunked(odd, body.length === 0 ? Buffer.from('{}') : body, dice);
      const headEnd = whole.indexOf('\r\n\r\n') + 4;
      return {
        bytes: Buffer.concat([whole.subarray(0, headEnd), broken(whole.subarray(headEnd), dice)]),
        method,
        isWhole: false,
      };
    }
    case 4: {
      const whole = sized(odd, body, true);
      return { bytes: whole.subarray(0, dice.below(whole.length)), method, isWhole: false };
    }
    case 5:
      odd[0] = dice.pick([
        `${method} / HTTP/2.0`,
        `${method} / HTTP/0.9`,
        `${method} /`,
        `${method}  /  HTTP/1.1`,
        'x',
        '',
      ]);
      return { bytes: sized(odd, body, body.length > 0), method, isWhole: false };
    default:
      return { bytes: broken(sized(odd, body, body.length > 0), dice), method, isWhole: false };
  }
}

function broken(bytes: Buffer, dice: Dice): Buffer {
  return mutatedBytes(bytes, dice, [
    '\r\n',
    '\r',
    '\n',
    '\0',
    ' ',
    ':',
    'FFFFFFFFFFFFFFFFF\r\n',
    '-1\r\n',
    '0\r\n\r\n',
    ';a=b',
  ]);
}

function bodyBytes(method: string, dice: Dice): Buffer {
  const type = dice.pick(REGISTRY.all());
  const schema = SCHEMA.kind(type.group, type.version, type.kind);
  const object = schema === undefined ? {} : DOCUMENTS.plausible(schema, dice);
  const value =
    method === 'PATCH'
      ? dice.pick([jsonPatch, mergePatch])(object, dice)
      : dice.oneIn(10)
        ? junk(dice)
        : DOCUMENTS.mutated(object, dice);
  const bytes = Buffer.from(JSON.stringify(value) ?? 'null');
  return dice.oneIn(8) ? mutatedBytes(bytes, dice) : bytes;
}

/** The beginning of a TLS handshake as clients send it: record header, ClientHello, a few extensions. */
const CLIENT_HELLO = Buffer.from(
  `16030100a9010000a50303${'11'.repeat(32)}20${'22'.repeat(32)}0008130113021303c02f0100${'0054'}` +
    '0000000900070000046674747a000a00040002001d000d000600040403080400' +
    `2b00050403040303002d00020101003300260024001d0020${'33'.repeat(32)}`,
  'hex',
);

function rawBytes(dice: Dice): Buffer {
  switch (dice.below(5)) {
    case 0:
      return CLIENT_HELLO.subarray(0, dice.below(CLIENT_HELLO.length + 1));
    case 1:
      return mutatedBytes(CLIENT_HELLO, dice, ['\x16\x03\x01\xff\xff', '\x15\x03\x03\x00\x02\x02\x00', '\x80']);
    case 2:
      return Buffer.concat([CLIENT_HELLO, Buffer.from(dice.bytes(dice.below(400)))]);
    case 3:
      return Buffer.from('GET / HTTP/1.1\r\nHost: fuzz\r\n\r\n');
    default:
      return Buffer.from(dice.bytes(1 + dice.below(300)));
  }
}
