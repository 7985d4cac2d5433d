// What `orch top` makes of two scrapes of /metrics.
import test from 'ava';
import { samplesOf, table } from '../../../bin/admin/top-table.ts';

const BEFORE = `
# HELP process_cpu_seconds_total CPU time.
process_cpu_seconds_total 1
apiserver_request_total{verb="GET",code="200"} 10
actor_messages_total{thread="back",actor="store"} 10
actor_turn_seconds_bucket{thread="front",actor="hub",le="0.01"} 500
actor_turn_seconds_bucket{thread="front",actor="hub",le="+Inf"} 500
`;
const NOW = `
process_cpu_seconds_total 2
process_resident_memory_bytes 104857600
orch_thread_heap_bytes{thread="back"} 10485760
orch_thread_heap_bytes{thread="front"} 10485760
apiserver_request_total{verb="GET",code="200"} 30
apiserver_request_total{verb="GET",code="404"} 10
apiserver_current_inflight_requests{request_kind="mutating"} 1
apiserver_current_inflight_requests{request_kind="readOnly"} 1
apiserver_current_inqueue_requests{request_kind="readOnly"} 3
orch_ingress_connections{thread="front"} 4
orch_hub_watchers{thread="front"} 5
orch_hub_cohorts{thread="front"} 2
orch_hub_framings_total{thread="front"} 20
orch_hub_event_deliveries_total{thread="front"} 40
orch_store_objects 7
orch_store_revision 9
orch_store_commits_total 2
orch_store_slab_bytes 1048576
actor_mailbox_depth{thread="front",actor="hub"} 3
actor_mailbox_depth{thread="back",actor="store"} 1
actor_mailbox_depth{thread="front",actor="admission"} 0
actor_mailbox_depth{thread="back",actor="audit"} 0
actor_messages_total{thread="front",actor="hub"} 200
actor_messages_total{thread="back",actor="store"} 20
actor_turns_total{thread="front",actor="hub"} 100
actor_turns_total{thread="back",actor="store"} 10
actor_turn_seconds_bucket{thread="front",actor="hub",le="1"} 600
actor_turn_seconds_bucket{thread="front",actor="hub",le="0.1"} 599
actor_turn_seconds_bucket{thread="front",actor="hub",le="0.01"} 500
actor_turn_seconds_bucket{thread="front",actor="hub",le="+Inf"} 600
actor_turn_seconds_bucket{thread="back",actor="store",le="0.01"} 10
actor_turn_seconds_bucket{thread="back",actor="store",le="+Inf"} 10
actor_turn_seconds_bucket{thread="front",actor="admission",le="0.01"} 8
actor_turn_seconds_bucket{thread="front",actor="admission",le="+Inf"} 10
actor_turn_seconds_max{thread="front",actor="hub"} 0.001
actor_turn_seconds_max{thread="back",actor="store"} 0.0123
`;

test('what happened between two looks at a server is told by the second, and what is now as it is', (t) => {
  const text = table({ atMs: 500, samples: samplesOf(BEFORE) }, { atMs: 2500, samples: samplesOf(NOW) });
  t.deepEqual(text.split('\n'), [
    'requests 15/s, in flight 2, waiting 3; cpu 50 %, memory 100 MB, heaps 20 MB',
    'connections 4, watches 5 in 2 cohorts, framings 10/s, deliveries 20/s',
    'objects 7, revision 9, commits 1/s, slabs 1 MB',
    '',
    'THREAD  ACTOR      WAITING  MESSAGES/S  TURNS/S  TURNS P99  LONGEST TURN',
    'back    audit            0           0        0          -        0.0 ms',
    'back    store            1           5        5    ≤ 10 ms       12.3 ms',
    'front   admission        0           0        0    > 10 ms        0.0 ms',
    'front   hub              3         100       50   ≤ 100 ms        1.0 ms',
    '',
  ]);
});

test('two looks at the same moment make no figure that is none', (t) => {
  const look = { atMs: 7, samples: samplesOf(BEFORE) };
  t.regex(table(look, look), /^requests 0\/s, .* cpu 0 %/);
});

test('the samples of a scrape have their labels, whatever is in those', (t) => {
  t.deepEqual(samplesOf('# TYPE a counter\na{b="x,y}",c="say \\"hi\\""} 2.5\nd 1\n\nE 3'), [
    { name: 'a', labels: { b: 'x,y}', c: 'say \\"hi\\"' }, value: 2.5 },
    { name: 'd', labels: {}, value: 1 },
  ]);
});

test('a server that was started anew between two looks has done what it says since, and nothing less than nothing', (t) => {
  const depth = '\nactor_mailbox_depth{thread="back",actor="store"} 0\n';
  const text = table({ atMs: 500, samples: samplesOf(NOW) }, { atMs: 2500, samples: samplesOf(BEFORE + depth) });
  t.regex(text, /^requests 5\/s, in flight 0, waiting 0; cpu 50 %/);
  t.regex(text, /^back +store +0 +5 +0 /m);
  t.notRegex(text, / -\d/);
});
