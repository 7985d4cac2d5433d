// Which rules somebody may grant: those that the rules they hold cover, judged against asking for every access there is.
import test from 'ava';
import { uncovered, uncoveredWithin } from '../../../../api/authorization/escalation.ts';
import type { PolicyRule } from '../../../../api/authorization/policy-rule.ts';
import { generatedPolicy } from './rbac-reference.ts';

interface Row {
  readonly held: readonly PolicyRule[];
  readonly granted: readonly PolicyRule[];
  readonly missing: readonly PolicyRule[];
}

const PODS = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const ALL = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

const ROWS: readonly Row[] = [
  { held: [PODS], granted: [PODS], missing: [] },
  { held: [ALL], granted: [PODS, { ...PODS, resources: ['pods/log'], resourceNames: ['a'] }], missing: [] },
  { held: [], granted: [], missing: [] },
  {
    held: [PODS],
    granted: [{ ...PODS, verbs: ['get', 'delete'] }],
    missing: [{ ...PODS, verbs: ['delete'] }],
  },
  { held: [PODS], granted: [ALL], missing: [ALL] },
  {
    held: [],
    granted: [{ ...PODS, resources: ['pods', 'nodes'] }],
    missing: ['pods', 'nodes'].flatMap((resource) =>
      ['get', 'list'].map((verb) => ({ verbs: [verb], apiGroups: [''], resources: [resource] })),
    ),
  },
  { held: [PODS], granted: [{ ...PODS, resourceNames: ['a'] }], missing: [] },
  {
    held: [{ ...PODS, resourceNames: ['a'] }],
    granted: [PODS],
    missing: ['get', 'list'].map((verb) => ({ ...PODS, verbs: [verb] })),
  },
  {
    held: [
      { ...PODS, verbs: ['get'] },
      { ...PODS, verbs: ['list'] },
    ],
    granted: [PODS],
    missing: [],
  },
  {
    held: [{ verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] }],
    granted: [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }],
    missing: [],
  },
  {
    held: [{ verbs: ['get'], nonResourceURLs: ['/logs/*'] }],
    granted: [{ verbs: ['get'], nonResourceURLs: ['/logs/a', '/logs/b/*', '/metrics'] }],
    missing: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
  },
  {
    held: [ALL],
    granted: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
    missing: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
  },
];

ROWS.forEach(({ held, granted, missing }, index) => {
  test(`row ${index}: what ${JSON.stringify(held)} does not cover of ${JSON.stringify(granted)}`, (t) => {
    t.deepEqual(uncovered(held, granted), missing);
  });
});

test('rules that come to too many parts, or to too many comparisons with those that are held, are not judged', (t) => {
  const bounds = { partsMax: 1000, comparisonsMax: 100_000 };
  const some = (count: number, word: string) => Array.from({ length: count }, (_, index) => `${word}${index}`);
  const product = { verbs: some(1000, 'v'), apiGroups: some(1000, 'g'), resources: some(1000, 'r') };
  t.is(uncoveredWithin([PODS], [product], bounds), undefined);
  t.deepEqual(uncoveredWithin([product], [product], bounds), [], 'nor cut up where one rule covers it');
  const held = some(1000, 'n').map((name) => ({ ...PODS, resourceNames: [name] }));
  t.is(uncoveredWithin(held, [...held].reverse(), bounds), undefined);
  t.deepEqual(uncoveredWithin(held, held.slice(0, 10), bounds), []);
  const urls = { verbs: ['get'], nonResourceURLs: some(1000, '/a') };
  t.is(uncoveredWithin([urls], [urls], bounds), undefined);
  t.deepEqual(uncoveredWithin([urls], [{ ...urls, nonResourceURLs: ['/a7', '/b'] }], bounds), [
    { ...urls, nonResourceURLs: ['/b'] },
  ]);
});

const VERBS = ['get', 'list', 'create', 'delete', 'other'];
const GROUPS = ['', 'apps', 'other'];
const RESOURCES = ['pods', 'pods/log', 'secrets', 'deployments', 'deployments/scale', 'jobs/scale', 'jobs'];
const NAMES = ['', 'a', 'b', 'c', 'd'];
const PATHS = ['/healthz', '/healthz/', '/healthz/x', '/logs/', '/logs/x', '/metrics', '/other', '/'];

const known = new WeakMap<PolicyRule, ReadonlySet<string>>();

/** Every access of a small world, as one text each, that a rule alone allows. */
function accesses(rule: PolicyRule): ReadonlySet<string> {
  const found = known.get(rule) ?? listed(rule);
  known.set(rule, found);
  return found;
}

function listed(rule: PolicyRule): ReadonlySet<string> {
  const has = (list: readonly string[] = [], value: string): boolean => list.includes('*') || list.includes(value);
  const found = new Set<string>();
  for (const verb of VERBS.filter((one) => has(rule.verbs, one))) {
    for (const path of PATHS) {
      const isMatched = (rule.nonResourceURLs ?? []).some((url) =>
        url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path,
      );
      if (isMatched) found.add(`${verb} ${path}`);
    }
    for (const group of GROUPS.filter((one) => has(rule.apiGroups, one))) {
      for (const resource of RESOURCES) {
        const ofAnything = resource.includes('/') ? `*/${resource.split('/')[1]}` : resource;
        if (!has(rule.resources, resource) && !has(rule.resources, ofAnything)) continue;
        for (const name of NAMES) {
          const names = rule.resourceNames ?? [];
          if (names.length === 0 || names.includes(name)) found.add(`${verb} ${group} ${resource} ${name}`);
        }
      }
    }
  }
  return found;
}

test('what is covered allows nothing that was not held, over 500 generated sets of rules', (t) => {
  let coveredSets = 0;
  for (let seed = 1; seed <= 500; seed++) {
    const held = generatedPolicy(seed).policy.roles.flatMap(({ rules }) => rules);
    const granted = generatedPolicy(seed + 10_000).policy.roles.flatMap(({ rules }) => rules);
    const may = new Set(held.flatMap((rule) => [...accesses(rule)]));
    const missing = uncovered(held, granted);
    for (const rule of granted) {
      if (uncovered(held, [rule]).length > 0) continue;
      coveredSets++;
      for (const one of accesses(rule)) if (!may.has(one)) t.fail(`seed ${seed}: ${one} by ${JSON.stringify(rule)}`);
    }
    // A missing part allows something that was not held, but where several rules hold it together.
    for (const part of missing) {
      const isHeldWhole = held.some((rule) => [...accesses(part)].every((one) => accesses(rule).has(one)));
      const hasWildcard = JSON.stringify(part).includes('*');
      if (isHeldWhole && !hasWildcard && accesses(part).size > 0)
        t.fail(`seed ${seed}: ${JSON.stringify(part)} is held`);
    }
  }
  t.true(coveredSets > 50, `${coveredSets} rules were covered`);
});
