// The checkers of applies, owners and namespaces, on histories made by hand.
import test from 'ava';
import { asserted, checkApplies } from './check-applies.ts';
import { checkLifecycles, unfinishedLifecycles } from './check-lifecycles.ts';
import { checkQuotas, unfinishedQuotas } from './check-quotas.ts';
import type { Version } from './committed.ts';
import type { Assertion, Operation } from './history.ts';
import { A, B, committedOf, type Made, TYPE, WHO, write } from './made-by-hand.ts';
import { DEFAULT_CPU, LIMITED_NAMESPACE, QUOTA_KEY } from './quota-steps.ts';
import { MARK, REFUSED } from './webhooks.ts';

const OWNER = `${TYPE}/a/g`;
const OWNED = 'core/secrets/a/d';
const NAMESPACE = 'core/namespaces//a';
const live: Made = [NAMESPACE, {}];
const ownedBy = (uid: string, blocks = false): Partial<Version> => ({ owners: [{ uid, blocks }] });
const deletion = (policy: string): Operation => write('delete', [35, 60], '', { key: OWNER, policy });
const dying = (finalizer: string): Partial<Version> => ({ dying: true, finalizers: [finalizer] });
const UID = `${OWNER}'s`;

const LIFECYCLES: readonly (readonly [
  name: string,
  sign: RegExp | undefined,
  commits: readonly Made[],
  ops: Operation[],
])[] = [
  [
    'a namespace goes empty',
    undefined,
    [live, [A, 'x'], [NAMESPACE, { dying: true }], [A, undefined], [NAMESPACE, undefined]],
    [],
  ],
  [
    'a namespace goes with something in it',
    /namespace a was removed at 4 with 1 objects/,
    [live, [A, 'x'], [NAMESPACE, { dying: true }], [NAMESPACE, undefined]],
    [],
  ],
  [
    'something appears in a namespace on its way out',
    /in a namespace that is being deleted/,
    [live, [NAMESPACE, { dying: true }], [A, 'x']],
    [],
  ],
  ['something appears in no namespace', /in a namespace that is not there/, [live, [B, 'x']], []],
  [
    'something changes in a namespace on its way out',
    undefined,
    [live, [A, 'x'], [NAMESPACE, { dying: true }], [A, 'y']],
    [],
  ],
  [
    'an owner in the foreground goes before a dependent that blocks it',
    /before core\/secrets\/a\/d, which blocks/,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID, true)], [OWNER, dying('foregroundDeletion')], [OWNER, undefined]],
    [deletion('Foreground')],
  ],
  [
    'an owner in the foreground waits for nobody who does not block it',
    undefined,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID)], [OWNER, dying('foregroundDeletion')], [OWNER, undefined]],
    [deletion('Foreground')],
  ],
  [
    'an owner in the foreground is deleted in another way after all',
    undefined,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID, true)], [OWNER, dying('foregroundDeletion')], [OWNER, undefined]],
    [deletion('Foreground'), deletion('Background')],
  ],
  [
    'an orphan still names its owner',
    /still names it/,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID)], [OWNER, dying('orphan')], [OWNER, undefined]],
    [deletion('Orphan')],
  ],
  [
    'an orphan is let go',
    undefined,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID)], [OWNER, dying('orphan')], [OWNED, {}], [OWNER, undefined]],
    [deletion('Orphan')],
  ],
  [
    'an orphan is collected',
    /was to leave it alone/,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID)], [OWNER, dying('orphan')], [OWNED, undefined], [OWNER, undefined]],
    [deletion('Orphan')],
  ],
  [
    'an orphan is deleted by a client',
    undefined,
    [live, [OWNER, 'x'], [OWNED, ownedBy(UID)], [OWNER, dying('orphan')], [OWNED, undefined], [OWNER, undefined]],
    [deletion('Orphan'), write('delete', [36, 60], '', { key: OWNED })],
  ],
];

for (const [name, sign, commits, operations] of LIFECYCLES) {
  test(`lifecycles: ${name}: ${sign === undefined ? 'passes' : 'is found'}`, (t) => {
    const problems = checkLifecycles(operations, committedOf(...commits));
    t.is(problems.length, sign === undefined ? 0 : 1, problems.join());
    if (sign !== undefined) t.regex(problems[0]!, sign);
  });
}

test('what is being deleted, or has lost all its owners, is not at its end', (t) => {
  t.is(unfinishedLifecycles(committedOf(live, [OWNER, 'x'], [OWNED, ownedBy(UID)])).length, 0);
  t.is(unfinishedLifecycles(committedOf(live, [OWNED, ownedBy(UID)])).length, 1);
  t.is(unfinishedLifecycles(committedOf(live, [OWNER, dying('orphan')])).length, 1);
});

const ok = { is: 'ok', object: undefined } as const;

function says(
  manager: string,
  value: string,
  fields: Record<string, string>,
  more: Partial<Assertion> = {},
): Assertion {
  const mark = [`by-${manager}`, value] as const;
  const kind = manager === 'u' ? 'patch' : 'apply';
  const name = `${manager}/${kind === 'patch' ? 'Update' : 'Apply'}`;
  const said = {
    kind,
    manager: name,
    mark,
    fields: { ...fields, [mark[0]]: mark[1] },
    force: false,
    dry: false,
  } as const;
  return { ...WHO, key: A, invoked: 1, returned: 100, outcome: ok, ...said, ...more };
}

/** A stored object: members, and who owns which. */
function shared(data: Record<string, string>, owners: Record<string, readonly string[]>): Partial<Version> {
  const managedFields = Object.entries(owners).map(([name, members]) => {
    const [manager, operation] = name.split('/');
    const fields = Object.fromEntries(members.map((member) => [`f:${member}`, {}]));
    return { manager, operation, fieldsV1: { 'f:data': { '.': {}, ...fields } } };
  });
  return { text: JSON.stringify({ metadata: { managedFields }, data }) };
}

const FIRST = shared({ 'by-m': '1', x: '1' }, { 'm/Apply': ['by-m', 'x'] });
const TAKEN = shared({ 'by-m': '1', 'by-n': '2', x: '2' }, { 'm/Apply': ['by-m'], 'n/Apply': ['by-n', 'x'] });
const m = says('m', '1', { x: '1' });
const n = says('n', '2', { x: '2' }, { force: true });

const APPLIES: readonly (readonly [
  name: string,
  sign: RegExp | undefined,
  commits: readonly Made[],
  said: Assertion[],
])[] = [
  [
    'a manager takes a field by force',
    undefined,
    [
      [A, FIRST],
      [A, TAKEN],
    ],
    [m, n],
  ],
  [
    'a manager takes a field without force',
    /it conflicts with/,
    [
      [A, FIRST],
      [A, TAKEN],
    ],
    [m, { ...n, force: false }],
  ],
  [
    'a field that was taken by force keeps its owner',
    /not by-m=1/,
    [
      [A, FIRST],
      [A, shared({ 'by-m': '1', 'by-n': '2', x: '2' }, { 'm/Apply': ['by-m', 'x'], 'n/Apply': ['by-n', 'x'] })],
    ],
    [m, n],
  ],
  ['an apply is lost', /in no durable revision/, [[A, FIRST]], [m, n]],
  [
    'an apply is stored twice',
    /changed again/,
    [
      [A, FIRST],
      [A, undefined],
      [A, FIRST],
    ],
    [m],
  ],
  [
    "a change is nobody's",
    /changed by 0 of those/,
    [
      [A, FIRST],
      [A, shared({ x: '7' }, {})],
    ],
    [m],
  ],
  ['a dry run is stored', /it was a dry run/, [[A, FIRST]], [{ ...m, dry: true }]],
  [
    'a refused apply is stored',
    /it was refused with 409/,
    [[A, FIRST]],
    [{ ...m, outcome: { is: 'refused', code: 409 } }],
  ],
  [
    'an apply that conflicts is refused',
    undefined,
    [[A, FIRST]],
    [m, { ...n, force: false, outcome: { is: 'refused', code: 409 } }],
  ],
  [
    'an apply without conflict is refused',
    /without a conflict/,
    [[A, FIRST]],
    [m, says('n', '2', { x: '1' }, { outcome: { is: 'refused', code: 409 } })],
  ],
  ['an apply is acknowledged before it is durable', /before it was durable/, [[A, FIRST]], [{ ...m, returned: 9 }]],
];

for (const [name, sign, commits, said] of APPLIES) {
  test(`applies: ${name}: ${sign === undefined ? 'passes' : 'is found'}`, (t) => {
    const problems = checkApplies(said, committedOf(...commits));
    t.is(problems.length > 0, sign !== undefined, problems.join());
    if (sign !== undefined) t.regex(problems.join(), sign);
  });
}

test('the model of an apply gives up what is said no more, and keeps what others say too', (t) => {
  const state = asserted(says('n', '2', { x: '1', y: '1' }), {
    data: new Map([['x', '1']]),
    owners: new Map([['x', new Set(['m/Apply'])]]),
  });
  if (state === 'conflict') return t.fail();
  const after = asserted(says('n', '3', {}), state);
  if (after === 'conflict') return t.fail();
  t.deepEqual(
    [...after.data],
    [
      ['x', '1'],
      ['by-n', '3'],
    ],
  );
  t.deepEqual([...after.owners.get('x')!], ['m/Apply']);
  t.false(after.owners.has('y'));
});

const quotaOf = (hard: number, used?: number): Made => [
  QUOTA_KEY,
  {
    text: JSON.stringify({
      spec: { hard: { pods: String(hard) } },
      ...(used === undefined ? {} : { status: { used: { pods: String(used) } } }),
    }),
  },
];
const podOf = (name: string, labels: object = MARK, annotations: object = {}): Made => {
  const containers = [{ resources: { limits: { cpu: DEFAULT_CPU } } }];
  return [
    `core/pods/${LIMITED_NAMESPACE}/${name}`,
    { text: JSON.stringify({ metadata: { labels, annotations }, spec: { containers } }) },
  ];
};

const QUOTAS: readonly (readonly [name: string, sign: RegExp | undefined, commits: readonly Made[]])[] = [
  ['a quota is kept', undefined, [quotaOf(1), quotaOf(1, 0), quotaOf(1, 1), podOf('a')]],
  ['a quota that nobody has counted yet promises nothing', undefined, [quotaOf(0), podOf('a')]],
  ['a pod more than a quota allows', /1 pods at 2, the quota allows 0/, [quotaOf(0, 1), podOf('a')]],
  ['a pod that is not charged for', /1 pods at 2, 0 are said to be used/, [quotaOf(1, 0), podOf('a')]],
  ['a pod without the mark of a webhook', /lacks what a webhook puts on it/, [podOf('a', {})]],
  ['a pod that a webhook has refused', /a webhook has refused it/, [podOf('a', MARK, { [REFUSED]: 'yes' })]],
];

for (const [name, sign, commits] of QUOTAS) {
  test(`the checker of quotas: ${name}`, (t) => {
    const problems = checkQuotas(committedOf(...commits));
    if (sign === undefined) t.deepEqual(problems, []);
    else
      t.true(
        problems.some((problem) => sign.test(problem)),
        problems.join('\n'),
      );
  });
}

test('the checker of quotas: what is used at the end is what is there', (t) => {
  t.deepEqual(unfinishedQuotas(committedOf(quotaOf(2, 1), podOf('a'))), []);
  t.is(unfinishedQuotas(committedOf(quotaOf(2, 2), podOf('a'))).length, 1);
});
