// Frames of WebSockets as clients send them: read the same however they are cut, and nothing is kept of what has no end.

import { FrameReader } from '../../../transport/websocket/frames.ts';
import { webSocketKey } from '../../../transport/websocket/handshake.ts';
import type { Dice } from '../generate/dice.ts';
import { ODD_TEXTS } from '../generate/junk.ts';
import { mutatedBytes } from '../generate/mutate-text.ts';
import type { Input } from '../input.ts';
import { requireSame, type Target } from '../target.ts';

const OPCODES: readonly number[] = [0x81, 0x82, 0x01, 0x80, 0x89, 0x8a, 0x88, 0x09, 0xf1, 0x83, 0x8b];
const LENGTHS: readonly number[] = [0, 1, 2, 125, 126, 127, 65_535, 65_536, 2 ** 32];
const PIECES: readonly string[] = ['\x81\x80', '\x89\xfe', '\x88\x82', '\xff', '\x00'];

function frame(dice: Dice): Buffer {
  const declared = dice.oneIn(3) ? dice.pick(LENGTHS) : dice.small(40);
  const sent = Math.min(declared, dice.oneIn(4) ? dice.below(300) : 300);
  const mask = dice.oneIn(20) ? 0 : 0x80;
  const head = Buffer.alloc(declared < 126 ? 2 : declared < 65_536 ? 4 : 10);
  head[0] = dice.pick(OPCODES);
  if (declared < 126) head[1] = mask | declared;
  else if (declared < 65_536) {
    head[1] = mask | 126;
    head.writeUInt16BE(declared, 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(declared), 2);
  }
  return Buffer.concat([head, mask === 0 ? Buffer.alloc(0) : dice.bytes(4), dice.bytes(sent)]);
}

function generate(dice: Dice): Input {
  const bytes = Buffer.concat(Array.from({ length: 1 + dice.small(8) }, () => frame(dice)));
  const body = dice.oneIn(3) ? mutatedBytes(bytes, dice, PIECES) : bytes;
  return { text: { cut: String(1 + dice.small(60)), header: dice.pick(ODD_TEXTS) }, body };
}

function eventsOf(pieces: Iterable<Buffer>): string {
  const events: string[] = [];
  const reader = new FrameReader({
    onPing: (payload) => events.push(`ping ${payload.toString('hex')}`),
    onClose: (code) => events.push(`close ${code}`),
  });
  for (const piece of pieces) reader.feed(piece);
  return events.join();
}

function* cut(bytes: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function run({ text: { cut: length = '1', header = '' }, body }: Input): void {
  const bytes = Buffer.from(body);
  const whole = eventsOf([bytes]);
  requireSame(eventsOf(cut(bytes, Math.max(1, Number(length) || 1))), whole, 'what was read in pieces');
  webSocketKey('GET', () => header);
}

export const webSockets: Target = { name: 'web-sockets', weight: 5, generate, run };
