// The header of a trace: what is one, and what begins a trace anew.
import test from 'ava';
import { parseTraceParent } from '../../../../actors/ingress/tracing/trace-parent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a header names the trace, the span it comes from, and whether it is sampled', (t) => {
  t.deepEqual(parseTraceParent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true });
  t.is(parseTraceParent(`00-${TRACE}-${SPAN}-02`)?.isSampled, false);
  t.is(parseTraceParent(`cc-${TRACE}-${SPAN}-09-more`)?.isSampled, true);
});

for (const header of [
  '',
  'nonsense',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
]) {
  test(`${JSON.stringify(header)} is no trace`, (t) => {
    t.is(parseTraceParent(header), undefined);
  });
}
