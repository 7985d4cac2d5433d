import test from 'ava';
import { BatchFrames } from '../../../actors/hub/frames/batch-frames.ts';
import type { FramedEvent, WatchEventType } from '../../../actors/hub/frames/frames.ts';

const entries = [1, 2].map((revision) => ({ key: `a/${revision}`, revision, slab: 0, offset: revision }));

function event(type: WatchEventType, index: number, shownRevision?: number): FramedEvent {
  return { type, entry: entries[index]!, shownRevision };
}

test('cohorts that see the same events in the same rendering share one chunk', (t) => {
  const frames = new BatchFrames();
  let made = 0;
  const chunk = (rendering: string, events: readonly FramedEvent[]) =>
    frames.chunkOf(rendering, events, () => Buffer.from(String(++made)));
  const first = chunk('json', [event('ADDED', 0), event('MODIFIED', 1)]);
  t.is(chunk('json', [event('ADDED', 0), event('MODIFIED', 1)]), first);
  const others: readonly (readonly [rendering: string, events: readonly FramedEvent[]])[] = [
    ['protobuf', [event('ADDED', 0), event('MODIFIED', 1)]],
    ['json', [event('ADDED', 0)]],
    ['json', [event('ADDED', 0), event('ADDED', 1)]],
    ['json', [event('ADDED', 0), event('MODIFIED', 0)]],
    ['json', [event('MODIFIED', 1), event('ADDED', 0)]],
    ['json', [event('ADDED', 0), event('MODIFIED', 1, 9)]],
  ];
  const chunks = others.map(([rendering, events]) => chunk(rendering, events));
  t.is(new Set([first, ...chunks]).size, 1 + others.length);
});

test('nothing is kept from one batch to the next', (t) => {
  const frames = new BatchFrames();
  const first = frames.chunkOf('json', [event('ADDED', 0)], () => Buffer.from('a'));
  frames.clear();
  t.not(
    frames.chunkOf('json', [event('ADDED', 0)], () => Buffer.from('b')),
    first,
  );
});
