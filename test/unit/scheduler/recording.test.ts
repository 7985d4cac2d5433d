// Goal: what a scheduler has recorded is decided the same again, and a record that was tampered with is not. Method: generated lives of
// clusters, recorded and replayed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import { profilesOf } from '../../../actors/scheduler/configuration/profiles.ts';
import { SchedulingCore } from '../../../actors/scheduler/core/scheduling-core.ts';
import { type Entry, recordedPod } from '../../../actors/scheduler/recording/entries.ts';
import { Recorder } from '../../../actors/scheduler/recording/recorder.ts';
import { RecordingCore } from '../../../actors/scheduler/recording/recording-core.ts';
import { Replay } from '../../../actors/scheduler/recording/replay.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { casesOf } from '../../server/effort.ts';
import { Generator } from './generated-cluster.ts';
import { dialect, node, pod, seededRandom } from './objects.ts';

const configuration = defaultConfiguration(dialect);
const LIVES = casesOf(12);

const core = () => ({ profiles: profilesOf(configuration, dialect), random: new SeededRandom(5), dialect });

/** A life in which nodes and pods come and go, bindings fail, and pods of priority evict others. */
function recordedLife(seed: number): Entry[] {
  const entries: Entry[] = [];
  const recording = new RecordingCore(core(), (entry) => {
    entries.push(JSON.parse(JSON.stringify(entry)) as Entry);
  });
  const random = seededRandom(seed);
  const generator = new Generator(random);
  const plain = (object: object) => object as Record<string, unknown>;
  recording.beginList();
  for (let at = 0; at < 12; at++) recording.setNode(`n${at}`, plain(generator.node(`n${at}`)));
  recording.endList();
  for (let turn = 0; turn < 80; turn++) {
    const nowMs = turn * 700;
    const priority = generator.chance(0.3) ? 1000 : 0;
    const requests = { cpu: String(generator.whole(1, 3)) };
    if (generator.chance(0.5)) recording.setPod(plain(generator.pod()), nowMs);
    else recording.setPod(pod(`q${turn}`, { requests, spec: { priority } }), nowMs);
    if (generator.chance(0.05)) recording.removeNode(`n${generator.whole(0, 11)}`);
    recording.advance(nowMs);
    for (let decision = recording.decide(nowMs); decision !== undefined; decision = recording.decide(nowMs)) {
      if (decision.kind === 'bind') {
        const bound = generator.chance(0.9);
        recording.settleBinding(decision.pod, bound ? { bound } : { bound, reason: 'failed', message: 'no' }, nowMs);
      } else if (decision.preemption !== undefined) {
        for (const { namespace, name } of decision.preemption.victims) recording.removePod(namespace, name);
      }
    }
  }
  return entries;
}

function replayed(entries: readonly Entry[], seed = 5): Replay {
  const replay = new Replay(new SchedulingCore({ ...core(), random: new SeededRandom(seed) }));
  for (const entry of entries) replay.apply(entry);
  return replay;
}

test('recorded lives are decided the same again', (t) => {
  let kinds = '';
  for (let seed = 1; seed <= LIVES; seed++) {
    const entries = recordedLife(seed);
    kinds += entries
      .map((entry) => (entry.op === 'decide' ? entry.gives.kind + (entry.gives.preempts ? '!' : '') : ''))
      .join(' ');
    const { differing, differences, decisions, bound } = replayed(entries);
    t.deepEqual(differences, [], `seed ${seed}`);
    t.is(differing, 0);
    t.true(decisions >= bound && bound > 0);
  }
  t.regex(kinds, /unschedulable!/, 'some evicted others');
});

test('another seed, a decision that was changed and news that is missing are noticed', (t) => {
  const entries = recordedLife(3);
  t.true(replayed(entries, 6).differing > 0);
  const at = entries.findIndex((entry) => entry.op === 'decide' && entry.gives.kind === 'bind');
  const entry = entries[at] as Extract<Entry, { op: 'decide' }>;
  const changed = entries.with(at, { ...entry, gives: { ...entry.gives, node: 'elsewhere' } });
  t.is(replayed(changed).differences[0]?.recorded?.node, 'elsewhere');
  t.true(replayed(entries.filter(({ op }) => op !== 'node')).differing > 0);
});

test('every decision about a pod is traced, with what was said of the nodes before', (t) => {
  const entries = recordedLife(4);
  const bound = entries.find((entry) => entry.op === 'decide' && entry.gives.kind === 'bind');
  const { gives } = bound as Extract<Entry, { op: 'decide' }>;
  const traces: string[] = [];
  const replay = new Replay(new SchedulingCore(core()), gives.pod, ({ outcome, nodes }) => {
    const best = nodes.filter(({ refusals }) => refusals.length === 0).map(({ node }) => node);
    traces.push(`${outcome.node} ${best.includes(outcome.node!)}`);
  });
  for (const entry of entries) replay.apply(entry);
  t.is(replay.differing, 0);
  t.is(traces[0], `${gives.node} true`);
});

test('what others answered is told again, and nobody is asked', (t) => {
  const outsiders = { judgeNodes: () => true, judgeVictims: () => false, seeNodes: false, seeVictims: false };
  const entries: Entry[] = [];
  const recording = new RecordingCore({ ...core(), outsiders }, (entry) => {
    entries.push(JSON.parse(JSON.stringify(entry)) as Entry);
  });
  for (const name of ['n1', 'n2', 'n3']) recording.setNode(name, node(name));
  for (const name of ['a', 'b', 'c']) {
    recording.setPod(pod(name), 0);
    recording.advance(0);
    const question = recording.decide(0, true);
    if (question?.kind !== 'nodes') return t.fail('nobody was asked');
    const kept = question.feasible.filter((each) => each.name !== 'n2');
    const scores = new Map([['n3', 1000]]);
    const decision = recording.answer(question, name === 'c' ? new Error('gone') : { kept, rejections: [], scores }, 1);
    t.is(decision?.kind, name === 'c' ? 'error' : 'bind');
  }
  const replay = new Replay(new SchedulingCore({ ...core(), outsiders }));
  for (const entry of entries) replay.apply(entry);
  t.deepEqual(replay.differences, []);
  t.is(replay.bound, 2);
  const answers = entries.map((entry) =>
    entry.op === 'answer' && !('error' in entry.answer)
      ? { ...entry, answer: { ...entry.answer, kept: ['n1'] } }
      : entry,
  );
  const other = new Replay(new SchedulingCore({ ...core(), outsiders }));
  for (const entry of answers) other.apply(entry);
  t.is(other.differences[0]?.replayed?.node, 'n1');
});

test('what says nothing about where a pod goes is not recorded', (t) => {
  const exec = { command: ['login', 'hunter2'] };
  const container = {
    name: 'c',
    image: 'i',
    resources: { requests: { cpu: '7m' } },
    ports: [{ containerPort: 1, hostPort: 8123 }],
    env: [{ name: 'PASSWORD', value: 'hunter2' }],
    args: ['--key=hunter2'],
    livenessProbe: { httpGet: { path: '/', httpHeaders: [{ name: 'Authorization', value: 'Bearer hunter2' }] } },
    readinessProbe: { exec },
    lifecycle: { postStart: { exec } },
  };
  const metadata = {
    annotations: { [dialect.spell('@agent.@label/last-applied-configuration')]: 'hunter2', kept: 'yes' },
  };
  const containers = [container];
  const spec = { containers, initContainers: containers, ephemeralContainers: containers };
  const object = pod('p', { metadata, spec });
  const recorded = recordedPod(object);
  t.notRegex(JSON.stringify(recorded), /hunter2/);
  t.regex(JSON.stringify(recorded), /"kept":"yes"/);
  for (const kept of ['"image":"i"', '"cpu":"7m"', '"hostPort":8123'])
    t.true(JSON.stringify(recorded).includes(kept), kept);
});

const NOTHING = { pem: '', file: '' };
const EXTENDER = {
  filterVerb: 'filter',
  preemptVerb: '',
  prioritizeVerb: '',
  bindVerb: '',
  weight: 1,
  httpTimeoutMs: 1000,
  enableHttps: true,
  nodeCacheCapable: true,
  managedResources: [],
  ignorable: false,
};

test('a record says where an extender is, and nothing of what it is shown', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-record-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'record');
  const tls = { insecure: false, serverName: '', ca: NOTHING, cert: NOTHING, key: { pem: 'hunter2', file: '' } };
  const extender = { ...EXTENDER, urlPrefix: 'https://scheduler:hunter2@extender:8443/ask', tls };
  const log = pino({ level: 'silent' });
  new Recorder({ path, bytesMax: 1e6 }, core(), { ...configuration, extenders: [extender] }, log).close();
  const header = JSON.parse(readFileSync(path, 'utf8')) as { configuration: { extenders: object[] } };
  t.like(header.configuration.extenders[0], { urlPrefix: 'https://extender:8443/ask', filterVerb: 'filter' });
  t.notRegex(JSON.stringify(header), /hunter2|aHVudGVyM/);
});
