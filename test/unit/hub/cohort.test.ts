import test from 'ava';
import { ResourceCache } from '../../../actors/hub/caches/resource-cache.ts';
import { frameEvents } from '../../../actors/hub/frames/frames.ts';
import { compileSelection } from '../../../actors/hub/selection.ts';
import { type Cohort, EventAttributes, seenThrough } from '../../../actors/hub/watches/cohort.ts';
import { CohortIndex } from '../../../actors/hub/watches/cohort-index.ts';
import { WatchMetrics } from '../../../actors/hub/watches/watch-metrics.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { renderingOf } from '../rendering/representations.ts';
import { Records, type SampleObject } from './records.ts';

const FIELDS = ['metadata.name', 'metadata.namespace', 'spec.nodeName', 'status.phase'];

function sample(namespace: string, name: string, node: string, labels: Record<string, string> = {}): SampleObject {
  return { namespace, name, labels, fields: [name, namespace, node, 'Running'] };
}

function cohort(namespace: string, fieldSelector = '', labelSelector = ''): Cohort {
  return {
    key: `${namespace} ${fieldSelector} ${labelSelector}`,
    cache: new ResourceCache('core/samples'),
    selection: compileSelection({ storageKey: 'core/samples', namespace, fieldSelector, labelSelector }, FIELDS),
    bookmarks: false,
    rendering: renderingOf({ group: '', version: 'v1', kind: 'Sample' }),
    renderingText: '',
    series: new WatchMetrics(new MetricsRegistry()).of({ group: '', version: 'v1', kind: 'Sample' }),
    columnsDue: new Set(),
    live: new Set(),
    members: 1,
    pending: [],
    lastSentMs: 0,
  };
}

const IN = sample('a', 'x', 'n1', { tier: 'front' });
const OUT = sample('a', 'x', 'n1', { tier: 'back' });

const TRANSITIONS: readonly (readonly [
  what: string,
  before: SampleObject | undefined,
  after: SampleObject | undefined,
  seen: { readonly type: string; readonly tier: string; readonly resourceVersion: string } | undefined,
])[] = [
  ['created inside', undefined, IN, { type: 'ADDED', tier: 'front', resourceVersion: '9' }],
  ['created outside', undefined, OUT, undefined],
  ['updated inside', IN, IN, { type: 'MODIFIED', tier: 'front', resourceVersion: '9' }],
  // As it last was inside, with the revision at which it left.
  ['leaving', IN, OUT, { type: 'DELETED', tier: 'front', resourceVersion: '9' }],
  ['entering', OUT, IN, { type: 'ADDED', tier: 'front', resourceVersion: '9' }],
  ['updated outside', OUT, OUT, undefined],
  ['deleted inside', IN, undefined, { type: 'DELETED', tier: 'front', resourceVersion: '9' }],
  ['deleted outside', OUT, undefined, undefined],
];

for (const [what, before, after, expected] of TRANSITIONS) {
  test(`an object ${what} a selection is ${expected?.type ?? 'not seen'}`, (t) => {
    const records = new Records();
    const event = records.event(before, after, 9);
    const { selection } = cohort('a', '', 'tier=front');
    const seen = seenThrough(selection, event, new EventAttributes(event, records.slabs));
    if (expected === undefined) {
      t.is(seen, undefined);
      return;
    }
    t.truthy(seen);
    const frame = JSON.parse(frameEvents([seen!], records.slabs).toString('utf8'));
    t.is(frame.type, expected.type);
    t.is(frame.object.metadata.resourceVersion, expected.resourceVersion);
    t.is(frame.object.metadata.labels.tier, expected.tier);
  });
}

test('without a selector an event is what it is, in its namespace only', (t) => {
  const records = new Records();
  for (const [before, after, type] of [
    [undefined, IN, 'ADDED'],
    [OUT, IN, 'MODIFIED'],
    [IN, undefined, 'DELETED'],
  ] as const) {
    const event = records.event(before, after, 4);
    const attributes = new EventAttributes(event, records.slabs);
    t.is(seenThrough(cohort('').selection, event, attributes)?.type, type);
    t.is(seenThrough(cohort('a').selection, event, attributes)?.type, type);
    t.is(seenThrough(cohort('a-b').selection, event, attributes), undefined);
  }
});

const NAMESPACES = ['', 'a', 'a-b', 'b'];
const FIELD_SELECTORS = [
  '',
  'metadata.name=x',
  'metadata.name=y',
  'metadata.name!=x',
  'spec.nodeName=n1',
  'spec.nodeName=n2',
  'spec.nodeName=',
  'spec.nodeName!=n1',
  'metadata.name=x,spec.nodeName=n2',
  'metadata.name=x,metadata.name=y',
  'status.phase=Running',
  'metadata.namespace=a',
];
const LABEL_SELECTORS = ['', 'tier=front', 'tier=back', 'tier!=front', '!tier', 'tier in (front,back)', 'zone=z'];

function randomEvent(random: SeededRandom, records: Records) {
  const [namespace, name] = [NAMESPACES[1 + random.below(3)]!, ['x', 'y', 'z'][random.below(3)]!];
  const version = () =>
    sample(
      namespace,
      name,
      ['', 'n1', 'n2'][random.below(3)]!,
      random.below(2) === 0 ? {} : { tier: ['front', 'back'][random.below(2)]! },
    );
  const [before, after] = [
    [undefined, version()],
    [version(), version()],
    [version(), undefined],
  ][random.below(3)]!;
  return records.event(before, after, 9);
}

test('the index finds every cohort that sees an event, each once, and none that fixes another value', (t) => {
  const random = new SeededRandom(3);
  for (let round = 0; round < 150; round++) {
    const records = new Records(64 * 1024);
    const index = new CohortIndex();
    const cohorts = new Map<string, Cohort>();
    for (let count = random.below(60); count > 0; count--) {
      const made = cohort(
        NAMESPACES[random.below(NAMESPACES.length)]!,
        FIELD_SELECTORS[random.below(FIELD_SELECTORS.length)]!,
        LABEL_SELECTORS[random.below(LABEL_SELECTORS.length)]!,
      );
      if (cohorts.has(made.key)) continue;
      cohorts.set(made.key, made);
      index.add(made);
    }
    for (const [key, made] of cohorts) {
      if (random.below(4) !== 0) continue;
      index.remove(made);
      cohorts.delete(key);
    }
    t.is(index.size, cohorts.size);
    for (let count = 0; count < 10; count++) {
      const event = randomEvent(random, records);
      const attributes = new EventAttributes(event, records.slabs);
      const visited: Cohort[] = [];
      index.forEachCandidate(
        event,
        attributes,
        (field) => FIELDS.indexOf(field),
        (found) => visited.push(found),
      );
      t.is(new Set(visited).size, visited.length);
      const sides = attributes.before === undefined ? [attributes.now] : [attributes.now, attributes.before];
      for (const candidate of cohorts.values()) {
        const found = visited.includes(candidate);
        if (seenThrough(candidate.selection, event, attributes) !== undefined) t.true(found, candidate.key);
        const { fixed, namespace } = candidate.selection;
        const isElsewhere = namespace !== '' && !event.entry.key.startsWith(`${namespace}/`);
        const pinsAnother =
          isElsewhere ||
          (fixed !== undefined &&
            !sides.some(({ fields, labels }) =>
              fixed.of === 'label'
                ? labels[fixed.name] === fixed.value
                : fields[FIELDS.indexOf(fixed.name)] === fixed.value,
            ));
        if (pinsAnother) t.false(found, candidate.key);
      }
    }
    for (const made of cohorts.values()) index.remove(made);
    const event = randomEvent(random, records);
    const attributes = new EventAttributes(event, records.slabs);
    index.forEachCandidate(
      event,
      attributes,
      () => {
        throw new Error('a field is looked at that nobody fixes');
      },
      () => t.fail('a removed cohort is found'),
    );
  }
});

test('attributes are unpacked once for all cohorts that look', (t) => {
  const records = new Records();
  const event = records.event(IN, OUT, 9);
  const attributes = new EventAttributes(event, records.slabs);
  t.is(attributes.now, attributes.now);
  t.is(attributes.before, attributes.before);
  t.is(attributes.before?.labels.tier, 'front');
  t.is(new EventAttributes(records.event(undefined, IN, 9), records.slabs).before, undefined);
});
