import test from 'ava';
import { flameGraph } from '../../../bench/profile/flame-graph.ts';
import { byThread } from '../../../bench/profile/thread-stacks.ts';

test('a flame graph has a box a call, as wide as its time, above its caller', (t) => {
  const svg = flameGraph([
    {
      title: 'front thread',
      stacks: [
        { stack: ['read a/b.ts:1', 'serve a/c.ts:2'], time: 3e9 },
        { stack: ['serve a/c.ts:2'], time: 1e9 },
      ],
    },
  ]);
  t.true(svg.startsWith('<svg ') && svg.endsWith('</svg>\n'));
  t.true(svg.includes('front thread: 4.00 s of CPU'));
  t.regex(svg, /<title>serve a\/c.ts:2 100.0 %<\/title><rect x="0.0" y="51" width="1200.0"/);
  t.regex(svg, /<title>read a\/b.ts:1 75.0 %<\/title><rect x="0.0" y="34" width="900.0"/);
});

test('what a function is called cannot break the picture', (t) => {
  const svg = flameGraph([{ title: 'x', stacks: [{ stack: ['<a & "b">'], time: 1 }] }]);
  t.true(svg.includes('<title>&lt;a &amp; &quot;b&quot;&gt; 100.0 %</title>'));
  t.false(svg.includes('<a &'));
});

test('samples are told apart by the threads that requests pass through', (t) => {
  const sample = (thread: string | undefined) => ({ stack: ['f'], values: [1, 7], thread });
  t.deepEqual(byThread(['front/0', 'main', 'store', undefined].map(sample)), [
    { thread: 'front/0', stacks: [{ stack: ['f'], time: 7 }] },
    { thread: 'store', stacks: [{ stack: ['f'], time: 7 }] },
  ]);
});
