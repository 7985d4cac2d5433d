// Goal: an operator's own plug-ins are loaded and run, as docs/SCHEDULER-PLUGINS.md says; the files are those of that page.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import { ownPlugin } from '../../../actors/scheduler/configuration/own-plugin.ts';
import { profilesOf } from '../../../actors/scheduler/configuration/profiles.ts';
import { type Agreement, reserveAndPermit } from '../../../actors/scheduler/core/reservation.ts';
import { WaitingPods } from '../../../actors/scheduler/core/waiting-pods.ts';
import { loadOwnPlugins } from '../../../actors/scheduler/driver/own-plugins.ts';
import type { Normalize, PermitWait, PreparedFilter } from '../../../actors/scheduler/framework/framework.ts';
import type { Status } from '../../../actors/scheduler/status.ts';
import { schedulerConfiguration } from '../../../bin/files/scheduler-configuration.ts';
import { readText } from '../source-tree.ts';
import { defaultProfile, dialect, newCore, node, nodeInfo, pod, podInfo, viewOf } from './objects.ts';

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-plugins-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The block of a language in the page. */
function exampleIn(language: string): string {
  return new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readText('docs/SCHEDULER-PLUGINS.md'))![1]!;
}

/** A core that runs the page's example. */
async function exampleCore(t: ExecutionContext) {
  const directory = folder(t);
  const config = join(directory, 'scheduler.yaml');
  writeFileSync(join(directory, 'spare-gpus.mjs'), exampleIn('js'));
  writeFileSync(config, exampleIn('yaml'));
  const configuration = schedulerConfiguration({
    config,
    apiDialect: dialect.name,
    featureGates: '',
    schedulerName: 'default-scheduler',
    hardPodAffinitySymmetricWeight: 1,
  });
  const own = await loadOwnPlugins(configuration.pluginModules);
  return newCore({ profiles: profilesOf(configuration, dialect, own) });
}

const GPU = 'example.com/gpu';

test('the example keeps pods without a GPU from nodes that have one, and tries them again when a node comes', async (t) => {
  const core = await exampleCore(t);
  core.setNode('gpu-1', node('gpu-1', { allocatable: { [GPU]: '2' } }));
  core.setPod(pod('web'), 0);
  core.advance(0);
  const refused = core.decide(0);
  t.like(refused, {
    kind: 'unschedulable',
    message: `0/1 nodes are available: 1 node(s) were kept for pods that ask for ${GPU}.`,
  });
  core.setNode('plain', node('plain'));
  core.advance(60_000);
  const bound = core.decide(60_000);
  t.is(bound?.kind === 'bind' && bound.node.name, 'plain');
});

test('the example puts pods with a GPU where the fewest are', async (t) => {
  const core = await exampleCore(t);
  for (const count of ['8', '1', '4'])
    core.setNode(`gpu-${count}`, node(`gpu-${count}`, { allocatable: { [GPU]: count } }));
  core.setPod(pod('train', { requests: { [GPU]: '1' } }), 0);
  core.advance(0);
  const bound = core.decide(0);
  t.is(bound?.kind === 'bind' && bound.node.name, 'gpu-1');
});

const WRONG: Readonly<Record<string, RegExp>> = {
  'export const plugin = {};': /wrong\.mjs exports no plugins$/,
  'export const plugins = { Mine: 1 };': /wrong\.mjs: plugins\.Mine is not a function$/,
  'export const plugins = { NodeName: () => ({}) };': /wrong\.mjs: there is a plug-in NodeName already$/,
  'export const plugins = {': /^the plug-ins of \/.+\/wrong\.mjs cannot be loaded: /,
  "throw new Error('no licence');": /^the plug-ins of \/.+\/wrong\.mjs cannot be loaded: no licence$/,
};

test('a module that cannot be used is named', async (t) => {
  for (const [text, message] of Object.entries(WRONG)) {
    const file = join(folder(t), 'wrong.mjs');
    writeFileSync(file, text);
    await t.throwsAsync(loadOwnPlugins([pathToFileURL(file).href]), { message }, text);
  }
  const missing = pathToFileURL(join(folder(t), 'none.mjs')).href;
  await t.throwsAsync(loadOwnPlugins([missing]), { message: /^the plug-ins of \/.+\/none\.mjs cannot be loaded: / });
});

test('a plug-in that lacks a method of its extension point is refused before anything runs', (t) => {
  const { profiles, ...configuration } = defaultConfiguration(dialect);
  const at = (point: 'reserve' | 'filter', plugin: object) => {
    const [profile] = profiles;
    const sets = { ...profile!.sets, [point]: [...profile!.sets[point], { name: 'Mine', weight: 1 }] };
    return profilesOf(
      { ...configuration, profiles: [{ ...profile!, sets }] },
      dialect,
      new Map([['Mine', () => plugin]]),
    );
  };
  const reserve = (): null => null;
  t.throws(() => at('reserve', { reserve }), { message: /the plug-in Mine cannot run at reserve$/ });
  t.throws(() => at('filter', { prepareFilter: 1 }), { message: /the plug-in Mine cannot run at filter$/ });
  t.is(at('reserve', { reserve, unreserve() {} }).length, 1);
});

test('a plug-in of its own may be an object of a class', (t) => {
  class Mine {
    readonly #refused = { code: 'unresolvable', reasons: ['it is mine'] };
    prepareFilter() {
      return () => this.#refused;
    }
  }
  const prepared = ownPlugin('Mine', new Mine()).prepareFilter!(podInfo('a'), viewOf([]));
  t.deepEqual(typeof prepared === 'function' && prepared(nodeInfo('n'))?.reasons, ['it is mine']);
});

test('what a plug-in of its own answers may be objects of classes as well', (t) => {
  const full = { code: 'unschedulable', reasons: ['it is full'] } as const;
  class Filter {
    #pods = 0;
    get ofNodeAlone() {
      return 'mine';
    }
    check() {
      return this.#pods > 0 ? full : null;
    }
    change(_pod: unknown, _node: unknown, sign: number) {
      this.#pods += sign;
    }
    reset() {
      this.#pods = 0;
    }
  }
  class Scorer {
    readonly #most = 7;
    score() {
      return this.#most;
    }
    normalize(scores: Float64Array) {
      scores[0] = this.#most;
    }
  }
  class Work {
    readonly #state = 'done';
    readonly writes = [];
    get timeoutMs() {
      return 5;
    }
    progress() {
      return this.#state;
    }
  }
  class Wait {
    readonly #answer = null;
    get waitMs() {
      return 5;
    }
    begin(answer: (status: null) => void) {
      answer(this.#answer);
    }
  }
  const made = {
    prepareFilter: () => new Filter(),
    prepareScore: () => new Scorer(),
    preBind: () => new Work(),
    permit: () => new Wait(),
  };
  const [a, n, view] = [podInfo('a'), nodeInfo('n'), viewOf([])];
  const mine = ownPlugin('Mine', made);
  const filter = mine.prepareFilter!(a, view) as PreparedFilter;
  t.is(filter.check(n), null);
  filter.change!(a, n, 1);
  t.deepEqual(filter.check(n), full);
  filter.reset!();
  t.is(filter.check(n), null);
  t.is(filter.ofNodeAlone, 'mine');
  const { score, normalize } = mine.prepareScore!(a, view, [n])!;
  const scores = Float64Array.of(score(n));
  (normalize as Normalize)(scores, 1, [n]);
  t.is(scores[0], 7);
  const { progress, timeoutMs } = mine.preBind!(a, n)!;
  t.deepEqual([progress(), timeoutMs], ['done', 5]);
  const { waitMs, begin } = mine.permit!(a, n) as PermitWait;
  t.is(waitMs, 5);
  begin!((status) => t.is(status, null));
});

test('a plug-in of its own that answers with a promise is told so, and one that is rejected ends nothing', async (t) => {
  const rejected = () => Promise.reject(new Error('late'));
  const message = (method: string) => ({
    message: `the plug-in Mine answered ${method} with a promise, and must answer at once`,
  });
  const [a, n, view] = [podInfo('a'), nodeInfo('n'), viewOf([])];
  const mine = ownPlugin('Mine', {
    prepareFilter: rejected,
    reserve: rejected,
    postBind: rejected,
    unreserve: rejected,
  });
  t.throws(() => mine.prepareFilter!(a, view), message('prepareFilter'));
  t.throws(() => mine.reserve!(a, n, view), message('reserve'));
  t.notThrows(() => mine.postBind!(a, 'n'));
  t.notThrows(() => mine.unreserve!(a, n));
  const check = ownPlugin('Mine', { prepareFilter: () => rejected }).prepareFilter!(a, view);
  t.throws(() => typeof check === 'function' && check(n), message('prepareFilter'));
  const scorer = ownPlugin('Mine', { prepareScore: () => ({ normalize: 'none', score: rejected }) }).prepareScore!(
    a,
    view,
    [n],
  );
  t.throws(() => scorer!.score(n), message('prepareScore'));
  const { progress } = ownPlugin('Mine', { preBind: () => ({ progress: rejected }) }).preBind!(a, n)!;
  t.throws(progress, message('preBind'));
  // A rejection that nobody listens to would fail this process.
  await new Promise((resolve) => setImmediate(resolve));
});

test('who makes a pod wait, or binds it, may take its time, and is against the pod where that fails', async (t) => {
  const late = async () => {
    throw new Error('no licence');
  };
  const mine = ownPlugin('Mine', { permit: () => ({ waitMs: 1_000, begin: late }), bind: () => late });
  const permit = mine.permit!(podInfo('a'), nodeInfo('n'));
  const binding = mine.bind!(podInfo('a'), nodeInfo('n'));
  if (permit === null || !('begin' in permit) || typeof binding !== 'function') return t.fail();
  const answers = [
    await new Promise<Status | null>((resolve) => permit.begin!(resolve)),
    await new Promise<Status | null>(binding),
  ];
  for (const answer of answers) t.like(answer, { code: 'error', reasons: ['no licence'] });
});

test('a permit plug-in of its own has to say how long a pod waits', (t) => {
  for (const permit of [{}, { waitMs: Number.NaN }, { waitMs: -1 }, { begin() {} }]) {
    t.throws(() => ownPlugin('Mine', { permit: () => permit }).permit!(podInfo('a'), nodeInfo('n')), {
      message: 'the plug-in Mine answered permit with a wait, and must say by waitMs how long',
    });
  }
});

test('a plug-in of its own that says nothing has nothing against it', (t) => {
  const mine = ownPlugin('Mine', { prepareFilter() {}, reserve() {}, prepareScore() {} });
  t.is(mine.prepareFilter!(podInfo('a'), viewOf([])), null);
  t.is(mine.reserve!(podInfo('a'), nodeInfo('n'), viewOf([])), null);
  t.is(mine.prepareScore!(podInfo('a'), viewOf([]), []), null);
});

test('a permit plug-in of its own answers when it likes, and once', (t) => {
  const answers: ((status: Status | null) => void)[] = [];
  const permit = {
    name: 'Mine',
    permit: () => ({ waitMs: 1_000, begin: (answer: (typeof answers)[0]) => void answers.push(answer) }),
  };
  const profile = { ...defaultProfile(dialect), permits: [permit] };
  const waiting = new WaitingPods();
  const ends: (Status | null)[] = [];
  const wait = (): void => {
    const agreed = reserveAndPermit(podInfo('a'), nodeInfo('n'), profile, viewOf([]));
    t.true('waits' in agreed);
    waiting.add(podInfo('a'), (agreed as Agreement).waits!, 0, (status) => void ends.push(status));
  };
  wait();
  answers[0]!(null);
  wait();
  answers[0]!(null);
  t.deepEqual(ends, [null], 'the late answer of the first wait is not of the second');
  const status: Status = { code: 'unschedulable', reasons: ['the licence is taken'] };
  answers[1]!(status);
  t.deepEqual(ends, [null, status]);
  t.is(waiting.size, 0);
});
