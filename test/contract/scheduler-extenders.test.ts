// Extenders of the scheduler against real servers: what they are sent, what their answers come to, and what becomes of answers that
// are late, wrong or none.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import type { ExtenderConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import type { NodeAnswer } from '../../actors/scheduler/core/decision.ts';
import { Extenders } from '../../actors/scheduler/extenders/extenders.ts';
import { readPod } from '../../actors/scheduler/pods/pod-info.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { ExtenderVerb } from '../server/scheduler-extender.ts';
import { extenderService, keeping } from '../server/scheduler-extender.ts';
import { testAuthority } from '../server/test-authority.ts';
import { boundPod, node, nodeInfo, pod } from '../unit/scheduler/objects.ts';

const PATIENT_MS = 240_000;
const BASE: ExtenderConfiguration = {
  urlPrefix: '',
  filterVerb: '',
  preemptVerb: '',
  prioritizeVerb: '',
  bindVerb: '',
  weight: 1,
  httpTimeoutMs: PATIENT_MS,
  enableHttps: false,
  tls: undefined,
  nodeCacheCapable: false,
  managedResources: [],
  ignorable: false,
};
const NO_PEM = { pem: '', file: '' };

function extenders(t: ExecutionContext, ...configurations: readonly Partial<ExtenderConfiguration>[]): Extenders {
  const { clock, disk } = realEnvironment;
  const log = pino({ level: 'silent' });
  const all = new Extenders(
    configurations.map((each) => ({ ...BASE, ...each })),
    { clock, disk, log },
  );
  t.teardown(() => all.close());
  return all;
}

const asked = (name: string, requests = {}) => readPod(pod(name, { requests }), true);
const nodes = (...names: readonly string[]) =>
  names.map((name) => Object.assign(nodeInfo(name), { object: node(name) }));

async function answerOf(t: ExecutionContext, all: Extenders, names = ['a', 'b', 'c']) {
  const answer = await all.nodes(asked('p'), nodes(...names));
  if (answer instanceof Error) {
    t.fail(answer.message);
    throw answer;
  }
  const { kept, rejections, scores } = answer;
  return {
    kept: kept.map(({ name }) => name),
    refused: rejections.map(({ node: { name }, status }) => [name, status.code, ...status.reasons]),
    scores: Object.fromEntries(scores),
  };
}

test('an extender is sent the pod and the nodes as they are stored, and those that it leaves out are refused', async (t) => {
  const { url, asked: questions } = await extenderService(t, { filter: keeping('b') });
  const { kept, refused } = await answerOf(t, extenders(t, { urlPrefix: url, filterVerb: 'filter' }));
  t.deepEqual(kept, ['b']);
  t.deepEqual(refused, [
    ['a', 'unschedulable', 'has no licence'],
    ['c', 'unschedulable', 'has no licence'],
  ]);
  t.deepEqual(questions[0]!.question, {
    Pod: pod('p'),
    Nodes: { metadata: {}, items: ['a', 'b', 'c'].map((name) => node(name)) },
    NodeNames: null,
  } as never);
});

test('an extender that keeps the nodes itself is sent names, and answers with names, in any case of letters', async (t) => {
  const filter: ExtenderVerb = ({ NodeNames }) => ({
    nodenames: NodeNames!.slice(1),
    failedAndUnresolvableNodes: { a: 'never' },
    failedNodes: { a: 'not now' },
  });
  const { url, asked: questions } = await extenderService(t, { filter });
  const all = extenders(t, { urlPrefix: url, filterVerb: 'filter', nodeCacheCapable: true });
  t.false(all.seeNodes);
  const { kept, refused } = await answerOf(t, all);
  t.deepEqual(kept, ['b', 'c']);
  t.deepEqual(refused, [['a', 'unresolvable', 'never']]);
  t.like(questions[0]!.question, { Nodes: null, NodeNames: ['a', 'b', 'c'] });
});

test('nodes that an extender leaves out without a word are refused for no reason, and any change may help', async (t) => {
  const { url } = await extenderService(t, { filter: () => ({ NodeNames: ['b'], FailedNodes: { c: 'is full' } }) });
  const all = extenders(t, { urlPrefix: url, filterVerb: 'filter', nodeCacheCapable: true });
  const answer = await all.nodes(asked('p'), nodes('a', 'b', 'c'));
  t.like(answer, {
    rejections: [{ status: { reasons: ['is full'] } }, { status: { code: 'unschedulable', reasons: [] } }],
  });
  t.deepEqual(
    (answer as NodeAnswer).rejections.map(({ node: { name } }) => name),
    ['c', 'a'],
  );
});

test('each extender filters what the one before has left, and their scores are added by weight', async (t) => {
  const first = await extenderService(t, {
    filter: keeping('a', 'b'),
    prioritize: () => [
      { Host: 'a', Score: 3 },
      { Host: 'b', Score: 10 },
    ],
  });
  const second = await extenderService(t, {
    filter: keeping('a', 'b', 'c'),
    prioritize: () => [{ Host: 'a', Score: 5 }],
  });
  const verbs = { filterVerb: 'filter', prioritizeVerb: 'prioritize' };
  const all = extenders(
    t,
    { urlPrefix: first.url, ...verbs, weight: 2 },
    { urlPrefix: second.url, ...verbs, weight: 1 },
  );
  const { kept, scores } = await answerOf(t, all);
  t.deepEqual(kept, ['a', 'b']);
  t.deepEqual(scores, { a: 3 * 2 * 10 + 5 * 10, b: 10 * 2 * 10 });
  t.deepEqual(
    second.asked[0]!.question.Nodes?.items.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
});

test('one that may be ignored is passed over when it fails, and is asked last', async (t) => {
  const order: string[] = [];
  const noting = (name: string, verb: ExtenderVerb): ExtenderVerb => {
    return (question, response) => {
      order.push(name);
      return verb(question, response);
    };
  };
  const failing = await extenderService(t, {
    filter: noting('ignorable', (_, response) => {
      response.writeHead(500).end();
      return undefined;
    }),
  });
  const sound = await extenderService(t, { filter: noting('sound', keeping('b')) });
  const all = extenders(
    t,
    { urlPrefix: failing.url, filterVerb: 'filter', ignorable: true },
    { urlPrefix: sound.url, filterVerb: 'filter' },
  );
  t.deepEqual((await answerOf(t, all)).kept, ['b']);
  t.deepEqual(order, ['sound', 'ignorable']);
});

const respond =
  (body: string, status = 200): ExtenderVerb =>
  (_, response) => {
    response.writeHead(status).end(body);
    return undefined;
  };

/** What an extender does, and how the attempt ends. */
const FAILURES: Readonly<Record<string, readonly [ExtenderVerb, RegExp]>> = {
  'that answers 503': [
    respond('', 503),
    /^failed filter with extender at URL http:\/\/127\.0\.0\.1:\d+\/extend\/filter, code 503$/,
  ],
  'that answers what is no JSON': [respond('<html>'), /the service answered what is no JSON/],
  'that answers a list': [() => [], /the answer is not of the shape/],
  'that answers names that are no list': [() => ({ NodeNames: 'a' }), /the answer is not of the shape/],
  'that answers nodes that are no list': [() => ({ Nodes: { items: {} } }), /the answer is not of the shape/],
  'that answers reasons that are no map': [() => ({ FailedNodes: ['a'] }), /the answer is not of the shape/],
  'that answers an error that is no text': [() => ({ Error: { a: 1 } }), /the answer is not of the shape/],
  'that tells of an error': [() => ({ Error: 'no database', NodeNames: ['a'] }), /^no database$/],
  'that keeps a node of its own': [
    () => ({ Nodes: { items: [{ metadata: { name: 'z' } }] } }),
    /it keeps the node "z", about which it was not asked/,
  ],
  'that hangs up': [
    (_, response) => {
      response.destroy();
      return undefined;
    },
    /EOF/,
  ],
};

for (const [what, [filter, message]] of Object.entries(FAILURES)) {
  test(`an extender ${what} ends the attempt`, async (t) => {
    const { url } = await extenderService(t, { filter });
    const answer = await extenders(t, { urlPrefix: url, filterVerb: 'filter' }).nodes(asked('p'), nodes('a'));
    t.regex((answer as Error).message, message);
  });
}

test('an extender that does not answer within its time ends the attempt', async (t) => {
  const { url } = await extenderService(t, { filter: () => undefined });
  const all = extenders(t, { urlPrefix: url, filterVerb: 'filter', httpTimeoutMs: 50 });
  const answer = await all.nodes(asked('p'), nodes('a'));
  t.regex((answer as Error).message, /did not answer in time/);
});

test('one that fails to score adds nothing, and the others count', async (t) => {
  const bad = await extenderService(t, { prioritize: () => [{ Host: 'a', Score: 0.5 }] });
  const good = await extenderService(t, { prioritize: () => [{ host: 'b', score: 1 }] });
  const all = extenders(
    t,
    { urlPrefix: bad.url, prioritizeVerb: 'prioritize' },
    { urlPrefix: good.url, prioritizeVerb: 'prioritize', weight: 3 },
  );
  const { kept, scores } = await answerOf(t, all);
  t.deepEqual(kept, ['a', 'b', 'c']);
  t.deepEqual(scores, { b: 30 });
});

test('of the nodes, one that is left is not scored', async (t) => {
  const { url, asked: questions } = await extenderService(t, { prioritize: () => [] });
  await answerOf(t, extenders(t, { urlPrefix: url, prioritizeVerb: 'prioritize' }), ['a']);
  t.deepEqual(questions, []);
});

test('an extender with resources of its own is asked about pods with a container that names one', (t) => {
  const managedResources = [{ name: 'example.com/fpga', ignoredByScheduler: true }];
  const all = extenders(t, { urlPrefix: 'http://127.0.0.1:1', filterVerb: 'f', managedResources });
  t.false(all.judgeNodes(asked('plain', { cpu: '1' })));
  t.true(all.judgeNodes(asked('wants', { 'example.com/fpga': '1' })));
  const initContainers = [{ name: 'i', resources: { limits: { 'example.com/fpga': '1' } } }];
  t.true(all.judgeNodes(readPod(pod('init', { spec: { initContainers } }), true)));
  t.false(all.judgeVictims(asked('wants', { 'example.com/fpga': '1' })), 'it has no verb for it');
});

const victims = (on: string, ...names: readonly string[]) => {
  const running = names.map((name) => readPod(boundPod(name, on), true));
  const [at] = nodes(on);
  for (const each of running) at!.addPod(each);
  return { node: at!, victims: running, violations: 1 };
};

for (const byName of [false, true]) {
  test(`an extender judges victims, sent ${byName ? 'by their uids' : 'whole'}`, async (t) => {
    const { url, asked: questions } = await extenderService(t, {
      preempt: () => ({ NodeNameToMetaVictims: { b: { Pods: [{ UID: 'uid-b2' }], NumPDBViolations: 7 } } }),
    });
    const all = extenders(t, { urlPrefix: url, preemptVerb: 'preempt', nodeCacheCapable: byName });
    const kept = await all.victims(asked('p'), [victims('a', 'a1'), victims('b', 'b1', 'b2')]);
    t.deepEqual(
      kept?.map((each) => [each.node.name, each.violations, ...each.victims.map(({ name }) => name)]),
      [['b', 7, 'b2']],
    );
    const { NodeNameToVictims: whole, NodeNameToMetaVictims: uids } = questions[0]!.question;
    t.deepEqual((byName ? uids : whole)?.a?.Pods as object, [byName ? { UID: 'uid-a1' } : boundPod('a1', 'a')]);
    t.is(byName ? whole : uids, null);
  });
}

for (const [what, answer] of [
  ['a pod that is not on the node', { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'other' }] } } }],
  ['a node that it was not asked about', { NodeNameToMetaVictims: { z: { Pods: [{ UID: 'uid-a1' }] } } }],
] as const) {
  test(`where an extender names ${what}, nobody is evicted unless it may be ignored`, async (t) => {
    const { url } = await extenderService(t, { preempt: () => answer });
    const one = { urlPrefix: url, preemptVerb: 'preempt' };
    const offered = [victims('a', 'a1')];
    t.is(await extenders(t, one).victims(asked('p'), offered), undefined);
    t.deepEqual(await extenders(t, { ...one, ignorable: true }).victims(asked('p'), offered), offered);
  });
}

test('a node on which an extender names no pods is none to clear, and where it may not be ignored there is none at all', async (t) => {
  const { url } = await extenderService(t, {
    preempt: () => ({ NodeNameToMetaVictims: { a: { Pods: [] }, b: { Pods: [{ UID: 'uid-b1' }] } } }),
  });
  const one = { urlPrefix: url, preemptVerb: 'preempt' };
  const offered = [victims('a', 'a1'), victims('b', 'b1')];
  t.is(await extenders(t, one).victims(asked('p'), offered), undefined);
  const kept = await extenders(t, { ...one, ignorable: true }).victims(asked('p'), offered);
  t.deepEqual(
    kept?.map(({ node }) => node.name),
    ['b'],
  );
});

test('an extender binds, and what it says against it is the end of the binding', async (t) => {
  const bind: ExtenderVerb = ({ Node }) => (Node === 'full' ? { Error: 'full up' } : {});
  const { url, asked: questions } = await extenderService(t, { bind });
  const all = extenders(t, { urlPrefix: url, bindVerb: 'bind' });
  t.deepEqual(await all.binding(asked('p'), 'n'), { bound: true });
  t.deepEqual(questions[0]!.question, {
    PodName: 'p',
    PodNamespace: 'default',
    PodUID: 'uid-p',
    Node: 'n',
  } as never);
  const end = await all.binding(asked('p'), 'full');
  t.like(end, { bound: false, reason: 'failed' });
  t.false(all.judgeNodes(asked('p')), 'about nodes it is not asked');
});

test('a binding that an extender leaves without an answer stays open, and one that never reached it does not', async (t) => {
  const { url } = await extenderService(t, { bind: () => undefined });
  const slow = extenders(t, { urlPrefix: url, bindVerb: 'bind', httpTimeoutMs: 50 });
  t.deepEqual(await slow.binding(asked('p'), 'n'), { bound: false, reason: 'unanswered' });
  const nobody = extenders(t, { urlPrefix: 'http://127.0.0.1:1', bindVerb: 'bind' });
  t.like(await nobody.binding(asked('p'), 'n'), { bound: false, reason: 'failed' });
});

test('over TLS an extender is believed by its authority, and shown a certificate', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-extender-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [ours, theirs] = [testAuthority(folder, 'ours'), testAuthority(folder, 'theirs')];
  const pair = ours.issue('extender', ['extender.test']);
  const shown = theirs.issue('scheduler', [], 'clientAuth');
  const { url } = await extenderService(
    t,
    { filter: keeping('a') },
    { cert: pair.certPem, key: pair.keyPem, ca: theirs.certPem, requestCert: true, rejectUnauthorized: true },
  );
  const tls = {
    insecure: false,
    serverName: 'extender.test',
    ca: { pem: ours.certPem, file: '' },
    cert: { pem: shown.certPem, file: '' },
    key: { pem: shown.keyPem, file: '' },
  };
  const one = { urlPrefix: url, filterVerb: 'filter', enableHttps: true };
  t.deepEqual((await answerOf(t, extenders(t, { ...one, tls }))).kept, ['a']);
  const wrong = extenders(t, { ...one, tls: { ...tls, ca: { pem: theirs.certPem, file: '' } } });
  t.true((await wrong.nodes(asked('p'), nodes('a'))) instanceof Error);
  const silent = extenders(t, { ...one, tls: { ...tls, cert: NO_PEM, key: NO_PEM } });
  t.true((await silent.nodes(asked('p'), nodes('a'))) instanceof Error);
});
