// Which requests a schema is about, which queues a flow is dealt, and how many seats a level has.
import test from 'ava';
import fc from 'fast-check';
import type { User } from '../../../api/authorization/attributes.ts';
import { flowControlObjects } from '../../../api/bootstrap/flow-control.ts';
import { concurrencyLimit, flowConfiguration } from '../../../api/flow-control/configuration.ts';
import { dealHand, flowHash } from '../../../api/flow-control/hand.ts';
import { isAskedFor, rulesAbout } from '../../../api/flow-control/matching.ts';
import { parseRequestInfo } from '../../../api/requests/request-info.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const DIALECT = DIALECTS.kubernetes;

/** The objects of a new cluster. */
function standard() {
  const all = [...flowControlObjects(DIALECT, 'suggested'), ...flowControlObjects(DIALECT, 'mandatory')];
  const of = (kind: string) => all.filter((object) => object.kind === kind);
  return flowConfiguration(DIALECT, of('FlowSchema'), of('PriorityLevelConfiguration'));
}

function user(name: string, ...groups: string[]): User {
  return { name, uid: '', groups, extra: {} };
}

function schemaWith(rule: object) {
  const object = {
    metadata: { name: 'one', uid: 'u' },
    spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 7, rules: [rule] },
  };
  return flowConfiguration(DIALECT, [object], []).schemas.find(({ name }) => name === 'one')!;
}

function matches(rule: object, who: User, method: string, path: string): boolean {
  return isAskedFor(rulesAbout(schemaWith(rule), who), parseRequestInfo(method, path, ''));
}

const EVERYONE = [{ kind: 'Group', group: { name: '*' } }];
const ANYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const JANE = user('jane', 'system:authenticated');

const SUBJECTS: readonly (readonly [subject: object, who: User, isAbout: boolean])[] = [
  [{ kind: 'User', user: { name: 'jane' } }, JANE, true],
  [{ kind: 'User', user: { name: 'jan' } }, JANE, false],
  [{ kind: 'User', user: { name: '*' } }, JANE, true],
  [{ kind: 'Group', group: { name: 'system:authenticated' } }, JANE, true],
  [{ kind: 'Group', group: { name: 'jane' } }, JANE, false],
  [{ kind: 'Group', group: { name: '*' } }, user('nobody'), true],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: 'b' } }, user('system:serviceaccount:a:b'), true],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } }, user('system:serviceaccount:a:b'), true],
  [
    { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: 'bc' } },
    user('system:serviceaccount:a:b'),
    false,
  ],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'b', name: '*' } }, user('system:serviceaccount:a:b'), false],
  [
    { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } },
    user('system:serviceaccount:ab:c'),
    false,
  ],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: '', name: '*' } }, JANE, false],
  [{ kind: 'Planet', user: { name: '*' } }, JANE, false],
];

test('subjects name users, groups and service accounts, or all of them', (t) => {
  for (const [subject, who, isAbout] of SUBJECTS) {
    const rule = { subjects: [subject], resourceRules: [ANYTHING] };
    t.is(matches(rule, who, 'GET', '/api/v1/pods'), isAbout, JSON.stringify([subject, who.name]));
  }
});

const RESOURCES: readonly (readonly [rule: object, method: string, path: string, isAskedFor: boolean])[] = [
  [{}, 'GET', '/api/v1/pods', true],
  [{}, 'GET', '/healthz', false],
  [{ verbs: ['get'] }, 'GET', '/api/v1/namespaces/a/pods/b', true],
  [{ verbs: ['get'] }, 'GET', '/api/v1/namespaces/a/pods', false],
  [{ verbs: ['get', 'list'] }, 'GET', '/api/v1/namespaces/a/pods', true],
  [{ apiGroups: [''] }, 'GET', '/api/v1/pods', true],
  [{ apiGroups: [''] }, 'GET', '/apis/apps/v1/deployments', false],
  [{ apiGroups: ['apps', ''] }, 'GET', '/apis/apps/v1/deployments', true],
  [{ resources: ['pods'] }, 'GET', '/api/v1/namespaces/a/pods/b', true],
  [{ resources: ['pods'] }, 'GET', '/api/v1/namespaces/a/pods/b/status', false],
  [{ resources: ['pods/status'] }, 'GET', '/api/v1/namespaces/a/pods/b/status', true],
  [{ resources: ['*'] }, 'GET', '/api/v1/namespaces/a/pods/b/status', true],
  [{ namespaces: ['a'] }, 'GET', '/api/v1/namespaces/a/pods', true],
  [{ namespaces: ['a'] }, 'GET', '/api/v1/namespaces/b/pods', false],
  [{ namespaces: ['a'], clusterScope: false }, 'GET', '/api/v1/pods', false],
  [{ namespaces: ['a'], clusterScope: true }, 'GET', '/api/v1/pods', true],
  [{ namespaces: [], clusterScope: true }, 'GET', '/api/v1/nodes/n', true],
  [{ namespaces: [], clusterScope: true }, 'GET', '/api/v1/namespaces/a/pods', false],
  [{ namespaces: ['a'], clusterScope: false }, 'GET', '/api/v1/namespaces/a', true],
];

test('resource rules go by verb, group, resource with its subresource, and where it is', (t) => {
  for (const [more, method, path, expected] of RESOURCES) {
    const rule = { subjects: EVERYONE, resourceRules: [{ ...ANYTHING, ...more }] };
    t.is(matches(rule, JANE, method, path), expected, JSON.stringify([more, path]));
  }
});

const PATHS: readonly (readonly [rule: object, method: string, path: string, isAskedFor: boolean])[] = [
  [{ verbs: ['*'], nonResourceURLs: ['*'] }, 'GET', '/anything/at/all', true],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, 'GET', '/healthz', true],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, 'HEAD', '/healthz', false],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, 'GET', '/healthz/ping', false],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, 'GET', '/healthz/ping', true],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, 'GET', '/healthz', false],
  [{ verbs: ['*'], nonResourceURLs: ['*'] }, 'GET', '/api/v1/pods', false],
];

test('path rules go by method and path, or what begins as it', (t) => {
  for (const [rule, method, path, expected] of PATHS) {
    const made = { subjects: EVERYONE, nonResourceRules: [rule] };
    t.is(matches(made, JANE, method, path), expected, JSON.stringify([rule, path]));
  }
});

test('one rule of a schema must be about both who asks and what for', (t) => {
  const jane = { kind: 'User', user: { name: 'jane' } };
  const john = { kind: 'User', user: { name: 'john' } };
  const rules = [
    { subjects: [jane], resourceRules: [{ ...ANYTHING, resources: ['pods'] }] },
    { subjects: [john], resourceRules: [{ ...ANYTHING, resources: ['nodes'] }] },
  ];
  const schema = { ...schemaWith(rules[0]!), rules: rules.flatMap((rule) => schemaWith(rule).rules) };
  const asks = (name: string, path: string) =>
    isAskedFor(rulesAbout(schema, user(name)), parseRequestInfo('GET', path, ''));
  t.deepEqual(
    [asks('jane', '/api/v1/pods'), asks('jane', '/api/v1/nodes'), asks('john', '/api/v1/nodes')],
    [true, false, true],
  );
});

test('schemas are asked by precedence, then by name, and those without a level not at all', (t) => {
  const schema = (name: string, matchingPrecedence: number, level = 'exempt') => ({
    metadata: { name, uid: name },
    spec: { matchingPrecedence, priorityLevelConfiguration: { name: level }, rules: [] },
  });
  const { schemas } = flowConfiguration(
    DIALECT,
    [schema('b', 5), schema('a', 5), schema('late', 9999), schema('lost', 3, 'nowhere'), schema('early', 2)],
    [],
  );
  t.deepEqual(
    schemas.map(({ name }) => name),
    ['exempt', 'early', 'a', 'b', 'late', 'catch-all'],
  );
});

test('without any objects the mandatory ones hold', (t) => {
  const { schemas, levels } = flowConfiguration(DIALECT, [], []);
  t.deepEqual(
    schemas.map(({ name, level }) => [name, level]),
    [
      ['exempt', 'exempt'],
      ['catch-all', 'catch-all'],
    ],
  );
  t.deepEqual(levels.map(({ name, shares, queuing }) => [name, shares, queuing]).sort(), [
    ['catch-all', 5, undefined],
    ['exempt', undefined, undefined],
  ]);
});

test('the levels of a new cluster share 600 seats as they do there', (t) => {
  const { levels } = standard();
  const sum = levels.reduce((all, { shares = 0 }) => all + shares, 0);
  t.is(sum, 205);
  const limits = levels.map(({ name, shares }) => [name, shares && concurrencyLimit(600, shares, sum)]);
  t.deepEqual(Object.fromEntries(limits), {
    'catch-all': 15,
    exempt: undefined,
    'global-default': 59,
    'leader-election': 30,
    system: 88,
    'workload-high': 118,
    'workload-low': 293,
  });
});

test('whatever a configuration object holds is read without a throw', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const object = (spec: unknown) => ({ metadata: { name: 'x', uid: 'y' }, spec });
      flowConfiguration(DIALECT, [object(one)], [object(other)]);
      return true;
    }),
  );
  t.pass();
});

/** Deals one card after the other from a deck, by the digits of the hash in a number system of falling bases. */
function slowHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const deck = Array.from({ length: deckSize }, (_, card) => card);
  let rest = hash;
  const hand: number[] = [];
  for (let index = 0; index < handSize; index++) {
    const at = Number(rest % BigInt(deck.length));
    rest /= BigInt(deck.length);
    hand.push(...deck.splice(at, 1));
  }
  return hand;
}

test('a hand is what drawing from a deck gives, every card of it another', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.integer({ min: 1, max: 200 }),
      fc.nat(8),
      (hash, deck, more) => {
        const handSize = Math.min(deck, more + 1);
        const hand = dealHand(hash, deck, handSize);
        t.deepEqual([...hand], slowHand(hash, deck, handSize));
        return new Set(hand).size === handSize && hand.every((card) => card >= 0 && card < deck);
      },
    ),
  );
});

test('every hand of a small deck is dealt as often as any other', (t) => {
  const counts = new Map<string, number>();
  for (let hash = 0n; hash < 60n; hash++) {
    const hand = dealHand(hash, 5, 3).join(' ');
    counts.set(hand, (counts.get(hand) ?? 0) + 1);
  }
  t.is(counts.size, 60);
  t.true([...counts.values()].every((count) => count === 1));
});

test('flows are told apart by schema and by distinguisher', (t) => {
  t.is(flowHash('a', 'bc'), flowHash('a', 'bc'));
  t.not(flowHash('a', 'bc'), flowHash('ab', 'c'));
  t.not(flowHash('a', 'b'), flowHash('a', 'c'));
  t.true(flowHash('x', 'y') < 2n ** 64n);
});

/** The chance that so many elephants cover a mouse's whole hand, as published with the original. */
const CHANCES: readonly (readonly [handSize: number, deckSize: number, elephants: number, chance: number])[] = [
  [12, 32, 1, 4.428838398950118e-9],
  [12, 32, 4, 0.11431348830099144],
  [12, 32, 16, 0.9935089607656024],
  [10, 32, 4, 0.0626479840223545],
  [9, 64, 16, 0.4282314876454858],
  [8, 128, 4, 3.4055790161620863e-6],
  [8, 128, 16, 0.02746173137155063],
  [6, 256, 16, 0.0008895654642000348],
  [6, 1024, 16, 4.517408062903668e-7],
];

/** The exact chance that the union of hands covers another, by how many cards are covered after each. */
function squished(handSize: number, deckSize: number, elephants: number): number {
  const choose = (n: number, k: number): number => {
    let result = 1;
    for (let index = 0; index < k; index++) result = (result * (n - index)) / (index + 1);
    return k > n ? 0 : result;
  };
  let covered = new Map([[0, 1]]);
  for (let elephant = 0; elephant < elephants; elephant++) {
    const next = new Map<number, number>();
    for (const [cards, chance] of covered) {
      for (let fresh = 0; fresh <= handSize; fresh++) {
        const ways = choose(deckSize - cards, fresh) * choose(cards, handSize - fresh);
        const part = (chance * ways) / choose(deckSize, handSize);
        if (part > 0) next.set(cards + fresh, (next.get(cards + fresh) ?? 0) + part);
      }
    }
    covered = next;
  }
  let sum = 0;
  for (const [cards, chance] of covered) sum += (chance * choose(cards, handSize)) / choose(deckSize, handSize);
  return sum;
}

test('the chance that elephants cover all queues of a mouse is that of the paper, and dealing comes to it', (t) => {
  for (const [handSize, deckSize, elephants, chance] of CHANCES) {
    t.true(Math.abs(squished(handSize, deckSize, elephants) / chance - 1) < 1e-9, `${handSize} of ${deckSize}`);
    if (chance < 0.01) continue;
    let hits = 0;
    const tries = 1500;
    for (let attempt = 0; attempt < tries; attempt++) {
      const handOf = (who: string) => dealHand(flowHash(`schema-${attempt}`, who), deckSize, handSize);
      const covered = new Set(Array.from({ length: elephants }, (_, index) => handOf(`elephant-${index}`)).flat());
      if (handOf('mouse').every((card) => covered.has(card))) hits++;
    }
    // Five standard deviations.
    t.true(
      Math.abs(hits / tries - chance) < 5 * Math.sqrt((chance * (1 - chance)) / tries),
      `${handSize} of ${deckSize}`,
    );
  }
});
