import test from 'ava';
import type { HookState } from '../../../../actors/controllers/protocol.ts';
import { Health, type HealthEndpoint, uptimeBy } from '../../../../actors/ingress/paths/health.ts';
import { DIALECTS, type DialectName } from '../../../../config/dialect.ts';
import { OrchError } from '../../../../runtime/errors.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';

interface Fates {
  readonly store?: object | Error;
  readonly hubReady?: boolean | Error;
  readonly hooks?: readonly HookState[] | Error;
  readonly admissionReady?: boolean | Error;
  readonly isLogWritable?: boolean;
  readonly startHooks?: readonly string[];
  readonly dialect?: DialectName;
  readonly limits?: { readonly isFair: boolean; readonly isTold: boolean; readonly count: number };
  readonly draining?: boolean;
  readonly uptimeMs?: number;
  readonly livezGracePeriodMs?: number;
  readonly keyServices?: number;
  /** In place of those that are made by the fates above. */
  readonly parts?: object;
}

const HOOKS: readonly string[] = [
  'poststarthook/bootstrap-controller',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/start-cluster-authentication-info-controller',
];
const DONE = HOOKS.map((name): HookState => ({ name, done: true, failure: '' }));

function answering(value: object | Error) {
  const asked: string[] = [];
  const ask = ({ type }: { type: string }): Promise<unknown> => {
    asked.push(type);
    return value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  };
  return { asked, ref: { name: 'fake', ask, tell: () => 'queued' } };
}

/** A part that answers, or not, as its test says by then. */
function changing(answer: () => object | Error) {
  const ask = async (): Promise<object> => {
    const value = answer();
    if (value instanceof Error) throw value;
    return value;
  };
  return { name: 'fake', ask, tell: () => 'queued' };
}

function health(fates: Fates = {}) {
  const { hubReady = true, hooks = DONE } = fates;
  const store = answering(fates.store ?? { healthy: true, revision: 1, reason: '' });
  const hub = answering(hubReady instanceof Error ? hubReady : { ready: hubReady });
  const controllers = answering(hooks instanceof Error ? hooks : { hooks });
  const { admissionReady = true } = fates;
  const admission = answering(admissionReady instanceof Error ? admissionReady : { ready: admissionReady });
  const parts = {
    store: store.ref,
    hub: hub.ref,
    admission: admission.ref,
    controllers: controllers.ref,
    isLogWritable: () => fates.isLogWritable ?? true,
    dialect: DIALECTS[fates.dialect ?? 'orch'],
    startHooks: fates.startHooks ?? HOOKS,
    limits: fates.limits ?? { isFair: true, isTold: true, count: 1 },
    isDraining: () => fates.draining ?? false,
    uptimeMs: () => fates.uptimeMs ?? 1000,
    livezGracePeriodMs: fates.livezGracePeriodMs ?? 0,
    checkTimeoutMs: 1000,
    keyServices: fates.keyServices ?? 0,
    ...fates.parts,
  };
  return { store, hub, controllers, health: new Health(parts as unknown as ConstructorParameters<typeof Health>[0]) };
}

const FLOWS_CHECK = 'poststarthook/priority-and-fairness-config-consumer';
const FAIR_CHECK = 'poststarthook/priority-and-fairness-filter';
const LIMITS_CHECK = 'poststarthook/max-in-flight-filter';

const NONE: ReadonlySet<string> = new Set();

/** The checks that do not hold, in a verbose report. */
async function failing(fates: Fates, endpoint: HealthEndpoint): Promise<string[]> {
  const { text, healthy } = await health(fates).health.report(endpoint, NONE, true);
  const failed = text.split('\n').flatMap((line) => /^\[-\](\S+) failed: reason withheld$/.exec(line)?.[1] ?? []);
  if (healthy !== (failed.length === 0)) throw new Error('the report contradicts itself');
  return failed;
}

test('each key management service has a check of its own, wherever the store is checked', async (t) => {
  for (const endpoint of ['healthz', 'livez', 'readyz'] as const) {
    const names = health({ keyServices: 2 }).health.checkNames(endpoint);
    t.deepEqual(
      names.filter((name) => name.startsWith('kms-')),
      ['kms-provider-0', 'kms-provider-1'],
    );
  }
  const sound = { healthy: true, reason: '' };
  t.deepEqual(await failing({ keyServices: 1, store: { ...sound, problem: '' } }, 'readyz'), []);
  t.deepEqual(await failing({ keyServices: 1, store: { ...sound, problem: 'it is away' } }, 'readyz'), [
    'kms-provider-0',
  ]);
  const down = { keyServices: 1, store: new OrchError('ActorDown', 'gone') };
  t.deepEqual(await failing(down, 'readyz'), ['store', 'kms-provider-0']);
});

test('the checks are those of the parts that there are, each once, in the words of the dialect', (t) => {
  const words = { orch: ['store', 'orch'], kubernetes: ['etcd', 'kube'] } as const;
  for (const dialect of ['orch', 'kubernetes'] as const) {
    const [store, short] = words[dialect];
    const expected = [
      'ping',
      'log',
      store,
      `poststarthook/start-${short}-apiserver-admission-initializer`,
      'poststarthook/generic-apiserver-start-informers',
      FLOWS_CHECK,
      FAIR_CHECK,
      ...HOOKS,
    ];
    const { health: made } = health({ dialect });
    const ofReadiness = [...expected.slice(0, 3), 'informer-sync', ...expected.slice(3), 'shutdown'];
    t.deepEqual(made.checkNames('readyz'), ofReadiness);
    for (const endpoint of ['healthz', 'livez'] as const) t.deepEqual(made.checkNames(endpoint), expected);
    t.deepEqual(made.paths().slice(0, 3), ['/healthz', '/healthz/ping', '/healthz/log']);
    t.true(made.paths().includes('/readyz/shutdown'));
    t.false(made.paths().includes('/livez/shutdown'));
    t.true(made.paths().includes('/readyz/informer-sync'));
    t.false(made.paths().includes('/livez/informer-sync'));
  }
  t.deepEqual(
    health({ startHooks: [] })
      .health.checkNames('livez')
      .filter((name) => HOOKS.includes(name)),
    [],
  );
});

test('a server is ready when it knows by which flow schemas requests wait, and when it counts them', async (t) => {
  const limits = { isFair: true, isTold: true, count: 1 };
  t.deepEqual(await failing({ limits }, 'readyz'), []);
  t.deepEqual(await failing({ limits: { ...limits, isTold: false } }, 'readyz'), [FLOWS_CHECK]);
  t.deepEqual(await failing({ limits: { ...limits, count: 0 } }, 'readyz'), [FAIR_CHECK]);
  const plain = { ...limits, isFair: false };
  const names = health({ limits: plain }).health.checkNames('livez');
  t.true(names.includes(LIMITS_CHECK));
  t.false(names.includes(FLOWS_CHECK) || names.includes(FAIR_CHECK));
  t.deepEqual(await failing({ limits: { ...plain, count: 0 } }, 'readyz'), [LIMITS_CHECK]);
  // Nobody follows the schemas where no controllers are placed.
  t.false(health({ startHooks: [] }).health.checkNames('readyz').includes(FLOWS_CHECK));
});

test('a healthy server says ok, and line by line when asked', async (t) => {
  for (const endpoint of ['healthz', 'livez', 'readyz'] as const) {
    const { health: healthy } = health();
    t.deepEqual(await healthy.report(endpoint, NONE, false), { healthy: true, text: 'ok' });
    const { text } = await healthy.report(endpoint, NONE, true);
    const lines = text.split('\n');
    t.is(lines.pop(), '');
    t.is(lines.pop(), 'healthz check passed');
    t.deepEqual(
      lines,
      healthy.checkNames(endpoint).map((name) => `[+]${name} ok`),
    );
  }
});

test('an unhealthy server names what fails, without the reason, asked or not', async (t) => {
  for (const verbose of [false, true]) {
    const { health: unhealthy } = health({ store: { healthy: false, revision: 1, reason: 'disk sda1 is slow' } });
    const { healthy, text } = await unhealthy.report('livez', NONE, verbose);
    t.false(healthy);
    t.true(text.includes('[-]store failed: reason withheld\n'));
    t.true(text.includes('[+]ping ok\n'));
    t.true(text.endsWith('\nlivez check failed\n'));
    t.false(text.includes('sda1'));
  }
});

const HUB_CHECK = 'poststarthook/generic-apiserver-start-informers';
const ADMISSION_CHECK = 'poststarthook/start-orch-apiserver-admission-initializer';

test('each check speaks of the part it asks', async (t) => {
  const down = new OrchError('ActorDown', 'gone');
  const pending: HookState[] = DONE.map((hook, index) => (index === 1 ? { ...hook, done: false } : hook));
  const cases: readonly (readonly [fates: Fates, failed: readonly string[]])[] = [
    [{}, []],
    [{ store: down }, ['store']],
    [{ store: new Error('odd') }, ['store']],
    [{ isLogWritable: false }, ['log']],
    [{ hubReady: false }, [HUB_CHECK]],
    [{ hubReady: down }, [HUB_CHECK]],
    [{ admissionReady: false }, [ADMISSION_CHECK]],
    [{ admissionReady: down }, [ADMISSION_CHECK]],
    [{ hooks: down }, HOOKS],
    [{ hooks: [] }, HOOKS],
    [{ hooks: pending }, [HOOKS[1]!]],
    [{ hooks: DONE.map((hook) => ({ ...hook, done: false, failure: 'no' })) }, HOOKS],
  ];
  for (const [fates, failed] of cases) {
    for (const endpoint of ['healthz', 'livez', 'readyz'] as const) {
      const alsoFailed = endpoint === 'readyz' && failed.includes(HUB_CHECK) ? ['informer-sync'] : [];
      t.deepEqual((await failing(fates, endpoint)).sort(), [...failed, ...alsoFailed].sort());
    }
  }
});

test('a server that is shutting down is alive and not ready', async (t) => {
  t.deepEqual(await failing({ draining: true }, 'readyz'), ['shutdown']);
  t.deepEqual(await failing({ draining: true }, 'livez'), []);
  t.deepEqual(await failing({ draining: true }, 'healthz'), []);
});

test('hooks that are not through are forgiven for a while by liveness, never by readiness', async (t) => {
  const starting: Fates = { hooks: [], hubReady: false, livezGracePeriodMs: 5000 };
  t.deepEqual(await failing({ ...starting, uptimeMs: 4999 }, 'livez'), []);
  t.deepEqual(await failing({ ...starting, uptimeMs: 4999 }, 'healthz'), []);
  t.not((await failing({ ...starting, uptimeMs: 4999 }, 'readyz')).length, 0);
  t.not((await failing({ ...starting, uptimeMs: 5000 }, 'livez')).length, 0);
  t.deepEqual(await failing({ ...starting, store: new Error('x') }, 'livez'), ['store']);
});

test('how long a server runs does not go by the clock on the wall, which somebody sets', async (t) => {
  const time = new VirtualTime();
  await time.advance(500);
  const uptimeMs = uptimeBy(time, time.nowMs() - 2000);
  await time.advance(1000);
  for (const byMs of [-3_600_000, 7_200_000]) {
    time.setWall(byMs);
    t.is(uptimeMs(), 3000);
  }
});

test('excluded checks are not run, and names that are none are told', async (t) => {
  const { health: unhealthy, store, hub, controllers } = health({ store: new Error('x') });
  const excluded = new Set(['store', 'nothing', 'another']);
  t.deepEqual(await unhealthy.report('readyz', excluded, false), { healthy: true, text: 'ok' });
  t.deepEqual(store.asked, []);
  const { healthy, text } = await unhealthy.report('readyz', excluded, true);
  t.true(healthy);
  t.true(text.includes('[+]store excluded: ok\n'));
  t.true(text.includes('warn: some health checks cannot be excluded: no matches for "another","nothing"\n'));
  t.true(text.endsWith('healthz check passed\n'));
  t.is(hub.asked.length, 2);
  t.is(controllers.asked.length, 2, 'once a report, however many checks speak of it');
});

test('one check can be asked for by name', async (t) => {
  const { health: unhealthy, hub, controllers } = health({ store: new Error('x') });
  t.deepEqual(await unhealthy.single('livez', 'ping'), { healthy: true, text: 'ok' });
  t.deepEqual(await unhealthy.single('livez', 'store'), {
    healthy: false,
    text: 'internal server error: store failed',
  });
  t.deepEqual(await unhealthy.single('readyz', HOOKS[1]!), { healthy: true, text: 'ok' });
  t.is(await unhealthy.single('livez', 'nothing'), undefined);
  t.is(await unhealthy.single('livez', 'shutdown'), undefined);
  t.deepEqual([hub.asked.length, controllers.asked.length], [0, 1]);
});

test('a hook that was done stays so while its actor is silent, but not when it says otherwise or is gone', async (t) => {
  const busy = new OrchError('DeadlineExceeded', 'busy');
  let now: { readonly ready: object | Error; readonly hooks: object | Error } = { ready: busy, hooks: busy };
  const asking = changing(() => now.ready);
  const parts = { hub: asking, admission: asking, controllers: changing(() => now.hooks) };
  const { health: made } = health({ parts });
  const failed = async (endpoint: HealthEndpoint): Promise<readonly string[]> => {
    const { text } = await made.report(endpoint, NONE, true);
    return text.split('\n').flatMap((line) => /^\[-\](\S+) failed/.exec(line)?.[1] ?? []);
  };
  const ofParts = [
    'poststarthook/start-orch-apiserver-admission-initializer',
    'poststarthook/generic-apiserver-start-informers',
  ];
  t.deepEqual(await failed('livez'), [...ofParts, ...HOOKS], 'none has been done yet');
  now = { ready: { ready: true }, hooks: { hooks: DONE } };
  t.deepEqual(await failed('livez'), []);
  for (const code of ['DeadlineExceeded', 'Overloaded'] as const) {
    now = { ready: new OrchError(code, 'busy'), hooks: new OrchError(code, 'busy') };
    t.deepEqual(await failed('livez'), []);
    t.deepEqual(await failed('readyz'), ['informer-sync'], 'who asks for the present is told');
    t.true((await made.single('livez', HOOKS[0]!))?.healthy);
  }
  now = { ready: { ready: false }, hooks: { hooks: [] } };
  t.deepEqual(await failed('livez'), [...ofParts, ...HOOKS]);
  now = { ready: new OrchError('ActorDown', 'gone'), hooks: new OrchError('ActorDown', 'gone') };
  t.deepEqual(await failed('livez'), [...ofParts, ...HOOKS]);
});
