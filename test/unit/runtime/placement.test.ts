// Placement files: what they make of threads and actors, and why one is refused.
import test from 'ava';
import { ACTORS } from '../../../actors/actors.ts';
import type { ActorFacts } from '../../../runtime/actor-facts.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { resolvePlacement } from '../../../runtime/placement/placement.ts';
import { AddressBook, planWithout } from '../../../runtime/placement/plan.ts';
import { formatPlan, summarizePlan } from '../../../runtime/placement/plan-format.ts';
import { placementProfiles, readPlacement } from '../../../runtime/placement-file.ts';

/** The real rules; a store with settings of every type. */
const KNOWN: readonly ActorFacts[] = ACTORS.map((facts) =>
  facts.actor === 'store'
    ? {
        ...facts,
        settings: { batchMax: 64, share: 0.5, sync: true, folder: 'data' },
        ranges: { batchMax: { least: 1, most: 1024 }, share: { least: 0, most: 0.9, isFraction: true } },
      }
    : { ...facts, settings: {} },
);

const resolve = (text: string, cpus = 4) => resolvePlacement(text, 'placement.test.json', KNOWN, cpus);

const REST = '{ "name": "rest", "actors": ["ingress", "auth", "hub", "admission"] }';
const STORE = '{ "name": "store", "actors": ["store"] }';
const threads = (...lines: string[]) => `{\n"threads": [\n${lines.join(',\n')}\n]\n}`;
const withActors = (actors: string) => `{\n"threads": [\n${REST},\n${STORE}\n],\n"actors":\n${actors}\n}`;

const refusals: readonly [what: string, text: string, line: number, reason: RegExp][] = [
  ['an empty file', '', 1, /a value is expected, not the end of the file/],
  ['text that is not JSON', '{\n"threads": nope\n}', 2, /a value is expected, not "n"/],
  ['a comma too many', '{\n"threads": [],\n}', 3, /a key is expected, not "}"/],
  ['a missing comma', '{\n"threads": []\n"actors": {} }', 3, /} is expected|, is expected/],
  ['a file that goes on after its end', '{ }\n{ }', 2, /unexpected "{" after the end/],
  ['a malformed number', '{\n"threads": 1.2.3 }', 2, /1\.2\.3 is not a JSON value/],
  ['a key given twice', '{\n"threads": [],\n"threads": [] }', 3, /"threads" appears twice/],
  ['very deep nesting', '['.repeat(100), 1, /nested deeper than 32/],
  ['a list instead of an object', '[]', 1, /the file is not an object/],
  ['no threads', '{ }', 1, /"threads" is missing/],
  ['threads that are no list', '{\n"threads": {} }', 2, /"threads" is not a list/],
  ['an unknown key of the file', '{\n"thread": [] }', 2, /the file has no key "thread"; there are threads, actors/],
  ['an unknown key of a thread', threads(REST, '{ "name": "x", "cpu": 1 }'), 4, /a thread has no key "cpu"/],
  ['a key of the prototype', threads('{ "__proto__": 1 }'), 3, /a thread has no key "__proto__"/],
  ['a thread without a name', threads(REST, '{ "actors": ["hub"] }'), 4, /a thread is without "name"/],
  ['a thread with a bad name', threads('{ "name": "A B", "actors": ["hub"] }'), 3, /the name of a thread/],
  ['a thread without actors', threads(REST, '{ "name": "x" }'), 4, /a thread is without "actors"/],
  ['a thread with an empty list', threads(REST, '{ "name": "x", "actors": [] }'), 4, /thread x hosts no actor/],
  [
    'two threads of one name',
    threads(REST, STORE, '{ "name": "rest", "actors": ["hub"] }'),
    5,
    /two threads are named/,
  ],
  [
    'an unknown actor',
    threads('{ "name": "x",\n"actors": ["hub",\n"hubb"] }'),
    5,
    /there is no actor "hubb"; there are/,
  ],
  ['an actor that is no name', threads('{ "name": "x", "actors": [3] }'), 3, /an actor is named by a string/],
  ['an actor twice on one thread', threads('{ "name": "x", "actors": ["hub", "hub"] }'), 3, /thread x hosts hub twice/],
  ...['0', '65', '1.5', '-1', '"all"', 'null', '[]', '"__proto__"', '1e999'].map(
    (count): [string, string, number, RegExp] => [
      `the count ${count}`,
      threads(REST, STORE, `{ "name": "x",\n"count": ${count}, "actors": ["hub"] }`),
      6,
      /"count" is "cpus", "cpus-1" or a whole number from 1 to 64/,
    ],
  ),
  ['no store', threads(REST), 2, /no thread hosts store: nothing can be kept/],
  [
    'two stores',
    threads(REST, STORE, '{ "name": "more", "actors": ["store"] }'),
    5,
    /there can be one store, and threads/,
  ],
  ['two stores by count', threads(REST, '{ "name": "s", "count": 2, "actors": ["store"] }'), 4, /is there 2 times/],
  ['two schedulers', threads(REST, STORE, '{ "name": "x", "count": 2, "actors": ["scheduler"] }'), 5, /one scheduler/],
  [
    'more readers than the store has slots for',
    threads(
      REST,
      STORE,
      ...['w', 'x', 'y', 'z'].map((name) => `{ "name": "${name}", "count": 64, "actors": ["hub"] }`),
    ),
    2,
    /the store has room for 248 as a reader, and here are 1 of ingress, 1 of auth, 1 of admission, 257 of hub, 0 of scheduler, 0 of controllers/,
  ],
  [
    'an ingress without a hub',
    threads('{ "name": "x", "actors": ["ingress"] }', STORE),
    3,
    /hosts ingress without a hub/,
  ],
  [
    'an admission without a hub',
    threads(REST, STORE, '{ "name": "x", "actors": ["admission"] }'),
    5,
    /hosts admission w/,
  ],
  [
    'no ingress',
    threads('{ "name": "x", "actors": ["auth", "hub", "admission"] }', STORE),
    2,
    /no thread hosts ingress/,
  ],
  [
    'no admission',
    threads('{ "name": "x", "actors": ["auth", "hub", "ingress"] }', STORE),
    2,
    /no thread hosts admission/,
  ],
  ['no auth', threads('{ "name": "x", "actors": ["admission", "hub", "ingress"] }', STORE), 2, /no thread hosts auth/],
  ['settings of an unknown actor', withActors('{ "stor": {} }'), 7, /there is no actor "stor"/],
  ['settings that are no object', withActors('{ "store": 3 }'), 7, /the settings of store is not an object/],
  [
    'an unknown setting',
    withActors('{ "store": {\n"batch": 1 } }'),
    8,
    /store has no setting "batch"; there are batchMax/,
  ],
  ['a setting of an actor without any', withActors('{ "hub": { "a": 1 } }'), 7, /hub has no setting "a"; it has none/],
  ...['0', '1025', '1.5', '1e12', '-1'].map((value): [string, string, number, RegExp] => [
    `a setting of ${value}`,
    withActors(`{ "store": {\n"batchMax": ${value} } }`),
    8,
    /the setting batchMax of store is a whole number from 1 to 1024$/,
  ]),
  [
    'a share beyond its range',
    withActors('{ "store": { "share": 1 } }'),
    7,
    /the setting share of store is a number from 0 to 0\.9$/,
  ],
  ['a setting of the prototype', withActors('{ "store": { "toString": 1 } }'), 7, /store has no setting "toString"/],
  ['text for a number', withActors('{ "store": { "batchMax": "64" } }'), 7, /batchMax of store is a number/],
  ['a number for a switch', withActors('{ "store": { "sync": 1 } }'), 7, /sync of store is a boolean/],
  ['null for a text', withActors('{ "store": { "folder": null } }'), 7, /folder of store is a string/],
  ['a number beyond all bounds', withActors('{ "store": { "batchMax": 1e999 } }'), 7, /batchMax of store is a number/],
];

for (const [what, text, line, reason] of refusals) {
  test(`a placement with ${what} is refused with its line and the reason`, (t) => {
    const error = t.throws(() => resolve(text));
    t.true(isOrchError(error, 'BadConfiguration'));
    t.regex(error!.message, new RegExp(`^placement\\.test\\.json:${line}: `));
    t.regex(error!.message, reason);
  });
}

test('groups become threads, and instances are numbered per actor across groups', (t) => {
  const front = '{ "name": "front", "count": 2, "actors": ["ingress", "auth", "hub"] }';
  const write = '{ "name": "write", "count": 1, "actors": ["hub", "admission"] }';
  const plan = resolve(threads(front, write, STORE));
  t.deepEqual(
    plan.threads.map(({ name, actors }) => [name, actors.map((actor) => actor.name)]),
    [
      ['front/0', ['ingress/0', 'auth/0', 'hub/0']],
      ['front/1', ['ingress/1', 'auth/1', 'hub/1']],
      ['write', ['hub/2', 'admission']],
      ['store', ['store']],
    ],
  );
  t.is(plan.name, 'test');
});

test('as many readers are placed as the store has slots for', (t) => {
  const hubs = (name: string, count: number): string => `{ "name": "${name}", "count": ${count}, "actors": ["hub"] }`;
  const plan = resolve(threads(REST, STORE, hubs('w', 64), hubs('x', 64), hubs('y', 64), hubs('z', 52)));
  t.is(plan.threads.flatMap(({ actors }) => actors).filter(({ actor }) => actor === 'hub').length, 245);
});

test('each instance is reached as the facts of its actor say', (t) => {
  const facts = new Map((ACTORS as readonly ActorFacts[]).map((one) => [one.actor, one]));
  const plan = resolve(threads(REST, STORE));
  const addresses = new AddressBook(plan, ACTORS).addresses.filter(({ actor }) => facts.has(actor));
  t.deepEqual(
    addresses.map(({ actor, mailboxMax, flat }) => [actor, mailboxMax, flat !== undefined]),
    ['ingress', 'auth', 'hub', 'admission', 'store'].map((actor) => {
      const { mailboxMax, flat } = facts.get(actor)!;
      return [actor, mailboxMax, flat !== undefined];
    }),
  );
  t.true(addresses.some(({ flat }) => flat !== undefined));
});

test('settings are the defaults of the actor with those of the file over them', (t) => {
  const plan = resolve(withActors('{ "store": { "batchMax": 8 } }'));
  const store = plan.threads.flatMap(({ actors }) => actors).find(({ actor }) => actor === 'store');
  t.deepEqual(store?.settings, { batchMax: 8, share: 0.5, sync: true, folder: 'data' });
});

test('a setting at either end of its range is taken', (t) => {
  for (const settings of ['{ "batchMax": 1, "share": 0 }', '{ "batchMax": 1024, "share": 0.9 }']) {
    t.notThrows(() => resolve(withActors(`{ "store": ${settings} }`)));
  }
});

test('each number that an actor can be given has a range, and its default is within', (t) => {
  for (const { actor, settings = {}, ranges = {} } of ACTORS as readonly ActorFacts[]) {
    for (const [name, value] of Object.entries(settings)) {
      if (typeof value !== 'number') continue;
      const { least = Number.NaN, most = Number.NaN } = ranges[name] ?? {};
      t.true(least <= value && value <= most, `${actor} ${name}`);
    }
  }
});

const counts: readonly [string, number, number][] = [
  ['"cpus"', 4, 4],
  ['"cpus-1"', 4, 3],
  ['"cpus-1"', 1, 1],
  ['"cpus"', 200, 64],
  ['64', 1, 64],
];
for (const [count, cpus, expected] of counts) {
  test(`the count ${count} on ${cpus} processors is ${expected} threads`, (t) => {
    const plan = resolve(threads(REST, STORE, `{ "name": "x", "count": ${count}, "actors": ["hub"] }`), cpus);
    t.is(plan.threads.filter(({ group }) => group === 'x').length, expected);
  });
}

test('a plan without a scheduler is allowed, with a warning', (t) => {
  const plan = resolve(threads(REST, STORE));
  t.true(plan.warnings.includes('no thread hosts scheduler: pods are not given nodes'));
});

test('the shipped profiles resolve without warnings, from one processor to many', (t) => {
  t.deepEqual(placementProfiles(), ['default', 'single', 'wide']);
  for (const profile of placementProfiles()) {
    for (const cpus of [1, 2, 64, 512]) {
      const { text, fileName } = readPlacement(profile);
      const plan = resolvePlacement(text, fileName, KNOWN, cpus);
      t.is(plan.name, profile);
      t.deepEqual(plan.warnings, []);
    }
  }
});

test('a placement that cannot be read names the shipped ones', (t) => {
  const error = t.throws(() => readPlacement('/nowhere/x.json'));
  t.true(isOrchError(error, 'BadConfiguration'));
  t.regex(error!.message, /\/nowhere\/x\.json" cannot be read \(ENOENT\).*default, single, wide/);
});

test('the summary of a plan names threads and what they host, in one line', (t) => {
  const summary = (profile: string, cpus: number) => {
    const { text, fileName } = readPlacement(profile);
    return summarizePlan(resolvePlacement(text, fileName, KNOWN, cpus));
  };
  t.is(
    summary('default', 2),
    'default: front (ingress auth audit hub admission store), control (scheduler controllers)',
  );
  t.is(
    summary('wide', 3),
    'wide: front x3 (ingress auth audit hub), write (hub admission), store, control (scheduler controllers)',
  );
});

test('the full form of a plan lists every thread, its actors, their settings, and the warnings', (t) => {
  t.is(
    formatPlan(resolve(threads(REST, STORE))),
    [
      'placement test: 2 threads beside the main one',
      '  rest   ingress auth hub admission',
      '  store  store',
      '           store: batchMax=64 share=0.5 sync=true folder="data"',
      'warning: no thread hosts audit: no audit events are written',
      'warning: no thread hosts scheduler: pods are not given nodes',
      'warning: no thread hosts controllers: nothing is cleaned up or allocated in the background',
    ].join('\n'),
  );
});

test('a plan without a kind has neither its actors nor threads that would host nobody', (t) => {
  const plan = resolve(
    threads(
      REST,
      STORE,
      '{ "name": "alone", "actors": ["scheduler"] }',
      '{ "name": "two", "actors": ["controllers"] }',
    ),
  );
  const without = planWithout(plan, 'scheduler');
  t.deepEqual(
    without.threads.map(({ name, actors }) => [name, actors.length]),
    plan.threads.filter(({ name }) => name !== 'alone').map(({ name, actors }) => [name, actors.length]),
  );
  t.is(planWithout(without, 'scheduler').threads.length, without.threads.length);
});
