// Goal: a pod for which room is to be made among very many others holds up a turn of the scheduler's for no longer than any other; and
// what is remembered of nodes, for its next turn and for pods that are like it, is what they would say now.
import test from 'ava';
import type { Decision, FailDecision } from '../../../actors/scheduler/core/decision.ts';
import type { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import type { Entry } from '../../../actors/scheduler/recording/entries.ts';
import { RecordingCore } from '../../../actors/scheduler/recording/recording-core.ts';
import { Replay } from '../../../actors/scheduler/recording/replay.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Random } from '../../../runtime/environment.ts';
import { casesOf } from '../../server/effort.ts';
import { boundPod, coreOptions, newCore, node, pod, seededRandom } from './objects.ts';

const NODES = 80;
const PODS_EACH = 100;
const LEAST = 'n77';

const budget = (app: string, disruptionsAllowed: number): JsonObject => ({
  apiVersion: 'policy/v1',
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed },
});

/** Nodes full of pods that budgets keep, and among those of one node there is a single one which would have to go. */
function fill(core: SchedulingCore): void {
  for (let at = 0; at < NODES; at++) {
    const name = `n${at}`;
    core.setNode(name, node(name, { allocatable: { cpu: '101' }, labels: { host: name } }));
    for (let number = 0; number < PODS_EACH; number++) {
      const requests = { cpu: name === LEAST && number === PODS_EACH - 1 ? '2' : '1' };
      core.setPod(boundPod(`${name}-${number}`, name, { requests, metadata: { labels: { app: 'kept' } } }), 0);
    }
    const last = { requests: { cpu: '1' }, metadata: { labels: { app: 'kept' } } };
    if (name !== LEAST) core.setPod(boundPod(`${name}-last`, name, last), 0);
  }
  core.setObject('policy/poddisruptionbudgets', 'default', 'b', budget('kept', 0));
}

const wanting = (name: string, spec: object = {}): JsonObject =>
  pod(name, { requests: { cpu: '2' }, metadata: { labels: { app: 'w' } }, spec: { priority: 9, ...spec } });

/** Such that what is known of a node depends on others. */
const APART = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'host', labelSelector: { matchLabels: { app: 'w' } } },
      ],
    },
  },
};

/** The decision, and in how many turns it came. */
function decided(core: SchedulingCore): { readonly decision: Decision; readonly turns: number } {
  for (let turns = 1; ; turns++) {
    core.advance(0);
    const decision = core.decide(0);
    if (decision !== undefined) return { decision, turns };
    if (core.nextDueMs() !== 0) throw new Error('nothing is due, and nothing is decided');
  }
}

const roomFor = ({ kind, preemption }: FailDecision): readonly string[] => [
  kind,
  preemption?.node ?? '',
  ...(preemption?.victims.map(({ name }) => name) ?? []),
];

function roomOf(decision: Decision): readonly string[] {
  return decision.kind === 'bind' ? ['bind', decision.node.name] : roomFor(decision);
}

for (const [what, spec] of Object.entries({ 'nothing of other nodes': {}, 'to be apart from its like': APART })) {
  test(`room for a pod that asks ${what} is looked for in several turns, as one attempt`, (t) => {
    const core = newCore();
    fill(core);
    core.setPod(wanting('p', spec), 0);
    const { decision, turns } = decided(core);
    t.true(turns > 1, `it took ${turns}`);
    t.deepEqual(roomOf(decision), ['unschedulable', LEAST, `${LEAST}-${PODS_EACH - 1}`]);
    t.is(decision.queued.attempts, 1);
    t.is(core.nextDueMs() === 0, false);
  });

  test(`what changes while room is looked for counts, for a pod that asks ${what}`, (t) => {
    const core = newCore();
    fill(core);
    core.setPod(wanting('p', spec), 0);
    core.advance(0);
    t.is(core.decide(0), undefined);
    core.removePod('default', `${LEAST}-${PODS_EACH - 1}`);
    t.deepEqual(roomOf(decided(core).decision), ['bind', LEAST]);
  });
}

test('who comes to the node meanwhile is in the way', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(wanting('p', APART), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.setPod(boundPod('w', LEAST, { metadata: { labels: { app: 'w' } }, spec: { priority: 9 } }), 0);
  const [kind, chosen] = roomOf(decided(core).decision);
  t.is(kind, 'unschedulable');
  t.not(chosen, LEAST);
});

test('a pod of higher priority is decided while room is looked for', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(wanting('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.setPod(pod('urgent', { spec: { priority: 10 } }), 0);
  t.is(decided(core).decision.pod.name, 'urgent');
  t.deepEqual(roomOf(decided(core).decision), ['unschedulable', LEAST, `${LEAST}-${PODS_EACH - 1}`]);
});

test('nothing comes of a pod that goes while room is looked for', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(wanting('p'), 0);
  core.advance(0);
  t.is(core.decide(0), undefined);
  core.removePod('default', 'p');
  core.advance(0);
  t.is(core.decide(0), undefined);
  t.is(core.nextDueMs() === 0, false);
  t.like(core.counts(), { active: 0, backoff: 0, unschedulable: 0 });
});

test('for a pod like the one before only the nodes that have changed are looked at again', (t) => {
  const core = newCore();
  fill(core);
  core.setPod(wanting('p'), 0);
  t.true(decided(core).turns > 1);
  core.setPod(wanting('q'), 0);
  const { decision, turns } = decided(core);
  t.is(turns, 1);
  t.not(roomOf(decision)[1], LEAST);
});

test('what was decided after several turns with news between them is decided the same again when it is replayed', (t) => {
  const entries: Entry[] = [];
  const recording = new RecordingCore(coreOptions(), (entry) => {
    entries.push(JSON.parse(JSON.stringify(entry)) as Entry);
  });
  fill(recording);
  recording.setPod(wanting('p', APART), 0);
  recording.advance(0);
  t.is(recording.decide(0), undefined);
  recording.setPod(boundPod('w', LEAST, { metadata: { labels: { app: 'w' } }, spec: { priority: 9 } }), 0);
  decided(recording);
  const replay = new Replay(newCore());
  for (const entry of entries) replay.apply(entry);
  t.like(replay, { decisions: 1, differing: 0 });
});

/** Draws no lots: what is decided depends on the cluster alone. */
const first: Random = { ...seededRandom(1), next: () => 0 };
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const APPS = ['x', 'y', 'z'];

/** What a core has been told, to tell another one all at once. */
class Told {
  readonly pods = new Map<string, JsonObject>();
  readonly others = new Map<string, (core: SchedulingCore) => void>();

  tell(core: SchedulingCore): void {
    for (const tell of this.others.values()) tell(core);
    for (const object of this.pods.values()) core.setPod(object, 0);
  }
}

/** What comes of all that is to be decided with the pod. */
function decidedOn(core: SchedulingCore, object: JsonObject): string {
  core.setPod(object, 0);
  core.advance(0);
  const said: string[] = [];
  for (let next = core.decide(0); next !== undefined; next = core.decide(0)) said.push(roomOf(next).join(' '));
  return said.join(' and ');
}

function liveOn(seed: number): readonly string[] {
  const random = seededRandom(seed);
  const whole = (most: number) => Math.floor(random.next() * most);
  const pick = (from: readonly string[]) => from[whole(from.length)]!;
  const core = newCore({ random: first });
  const told = new Told();
  const problems: string[] = [];
  const other = (key: string, tell: (core: SchedulingCore) => void) => {
    told.others.set(key, tell);
    tell(core);
  };
  const setNode = (name: string) => {
    const object = node(name, { allocatable: { cpu: String(3 + whole(3)) }, labels: { host: name } });
    other(`node ${name}`, (to) => to.setNode(name, object));
  };
  const setPod = (name: string, object: JsonObject) => {
    told.pods.delete(name);
    core.removePod('default', name);
    told.pods.set(name, object);
    core.setPod(object, 0);
  };
  const running = (number: number) => {
    const startTime = new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString();
    const parts = { requests: { cpu: String(1 + whole(2)) }, metadata: { labels: { app: pick(APPS) } } };
    return boundPod(`r${number}`, pick(NAMES), { ...parts, spec: { priority: whole(2) }, status: { startTime } });
  };
  const changes = [
    () => setNode(pick(NAMES)),
    (step: number) => setPod(`r${step}`, running(step)),
    (step: number) => setPod(`r${step}`, running(step)),
    (step: number) => {
      const name = `r${whole(step)}`;
      told.pods.delete(name);
      core.removePod('default', name);
    },
    () => {
      const [app, allowed] = [pick(APPS), whole(2)];
      other(`budget ${app}`, (to) => to.setObject('policy/poddisruptionbudgets', 'default', app, budget(app, allowed)));
    },
    () => {
      const status = { nominatedNodeName: pick(NAMES) };
      setPod('great', pod('great', { requests: { cpu: '2' }, spec: { priority: 2 + whole(3) }, status }));
    },
    () => {
      // Not told anew: a pod that runs has started at another time.
      const runs = [...told.pods].filter(([each]) => each.startsWith('r'));
      const [name, object] = runs[whole(runs.length)] ?? [];
      if (name === undefined || object === undefined) return;
      const renewed = { ...object, status: { phase: 'Running', startTime: new Date(whole(2 ** 40)).toISOString() } };
      told.pods.set(name, renewed);
      core.setPod(renewed, 0);
    },
  ];
  for (const name of NAMES) setNode(name);
  for (let step = 0; step < 60; step++) {
    changes[whole(changes.length)]!(step);
    const asked = Array.from({ length: 3 }, (_, at) => {
      const status = whole(3) === 0 ? { nominatedNodeName: pick(NAMES) } : {};
      return pod(`asked-${at}`, { requests: { cpu: '3' }, spec: { priority: 2 + whole(3) }, status });
    });
    const anew = newCore({ random: first });
    told.tell(anew);
    const [made, expected] = [core, anew].map((each) => asked.map((object) => decidedOn(each, object)).join(', '));
    if (made !== expected) problems.push(`cluster ${seed}, step ${step}: ${made}, and anew ${expected}`);
    for (const at of asked.keys()) core.removePod('default', `asked-${at}`);
    // Who was decided beside them is told of again.
    const great = told.pods.get('great');
    if (great !== undefined) setPod('great', great);
  }
  return problems;
}

test('what is remembered of nodes leads to the decision of one who is told everything now', (t) => {
  const problems: string[] = [];
  for (let seed = 0; seed < casesOf(40); seed++) problems.push(...liveOn(seed));
  t.deepEqual(problems.slice(0, 3), []);
});

test('who has run for how long is known anew when a pod says so', (t) => {
  const core = newCore();
  const run = (name: string, second: number) => {
    const startTime = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    core.setPod(boundPod(`on-${name}`, name, { requests: { cpu: '4' }, status: { startTime } }), 0);
  };
  for (const [at, name] of ['a', 'b'].entries()) {
    core.setNode(name, node(name));
    run(name, 9 - at);
  }
  core.setPod(wanting('p'), 0);
  t.deepEqual(roomOf(decided(core).decision), ['unschedulable', 'a', 'on-a']);
  core.removePod('default', 'p');
  run('b', 20);
  core.setPod(wanting('q'), 0);
  t.deepEqual(roomOf(decided(core).decision), ['unschedulable', 'b', 'on-b']);
});

/** A pod that is promised room on the only node, which is free, and one like it that is tried first. */
function promisedAfter(name: string, priority: number): SchedulingCore {
  const core = newCore();
  core.setNode('n', node('n', { allocatable: { cpu: '2' } }));
  core.setPod(wanting(name, { priority }), 0);
  core.setPod({ ...wanting('great', { priority }), status: { phase: 'Pending', nominatedNodeName: 'n' } }, 1);
  return core;
}

test('a pod that is promised room is not in its own way, as it is in that of those who are like it', (t) => {
  const core = promisedAfter('like', 9);
  core.advance(1);
  t.deepEqual(
    [core.decide(1), core.decide(1)].map((decision) => decision && [decision.pod.name, ...roomOf(decision)]),
    [
      ['like', 'unschedulable', ''],
      ['great', 'bind', 'n'],
    ],
  );
});

test('who comes after a promise is refused, and who comes before it is let in, though they ask for the same', (t) => {
  const core = promisedAfter('mid', 5);
  core.advance(1);
  t.is(core.decide(1)?.pod.name, 'mid');
  core.setPod(wanting('high', { priority: 9 }), 1);
  core.advance(1);
  t.deepEqual(roomOf(decided(core).decision), ['bind', 'n']);
});
