// The progress line: rewritten in place on a terminal, rare elsewhere.
import test from 'ava';
import { Progress } from './progress.ts';

function outputOf(isTTY: boolean): { written: string[]; isTTY: boolean; write: (text: string) => void } {
  const written: string[] = [];
  return { written, isTTY, write: (text) => void written.push(text) };
}

test('a log gets a progress line every five seconds and the last one', (t) => {
  const output = outputOf(false);
  let nowMs = 0;
  const progress = new Progress(output, () => nowMs);
  for (; nowMs < 12_000; nowMs += 100) progress.show(() => `at ${nowMs}`);
  progress.end('done');
  t.deepEqual(output.written, ['at 0\n', 'at 5000\n', 'at 10000\n', 'done\n']);
});

test('a terminal gets one line that is rewritten, wiped away before other lines', (t) => {
  const output = outputOf(true);
  let nowMs = 0;
  const progress = new Progress(output, () => nowMs);
  progress.show(() => 'first line');
  nowMs = 100;
  progress.show(() => 'too soon');
  nowMs = 250;
  progress.show(() => 'next');
  progress.print('a problem');
  progress.end('done');
  t.deepEqual(output.written, ['\rfirst line', '\rnext      ', '\r    \ra problem\n', '\rdone', '\n']);
});
