// The table against its reference: every type of the fixture is there, equal in every field, and nothing else is.
import test from 'ava';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { resourceTable, splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { fixture } from './fixture.ts';

interface ResourceFact {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly listKind: string | null;
  readonly storageVersion: string | null;
  readonly deleteReturns?: string;
  readonly fieldSelectors?: readonly string[];
  readonly subresources: readonly SubresourceFact[];
  readonly replacement: { readonly group: string; readonly version: string; readonly kind: string } | null;
}

interface SubresourceFact {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly group?: string;
  readonly version?: string;
  readonly featureGate?: string;
}

interface StrategyFact {
  readonly kind: string;
  readonly onCreate: readonly string[];
  readonly onUpdate: readonly string[];
  readonly putCreates: boolean;
  readonly putWithoutResourceVersion: boolean;
  readonly defaultGC: string;
  readonly gcByVersion?: Readonly<Record<string, string>>;
}

const TABLE = resourceTable(DIALECTS.orch);
const FACTS = fixture<ResourceFact>('resources');
const idOf = (type: { group: string; version: string; plural: string }) =>
  `${type.group}/${type.version}/${type.plural}`;
const BY_ID = new Map(TABLE.map((type) => [idOf(type), type]));

/** Stored, for now, in the preferred version instead of the reference's. */
const STORED_IN_PREFERRED = new Set([
  'cronjobs',
  'poddisruptionbudgets',
  'endpointslices',
  'customresourcedefinitions',
]);

function subresourceFact(type: KnownType, name: string): SubresourceFact {
  const { kind, verbs, group, version, featureGate } = type.subresources.get(name)!;
  const elsewhere = group !== type.group || version !== type.version ? { group, version } : {};
  const gate = featureGate === undefined ? {} : { featureGate, servedByDefault: false };
  return { name, kind, verbs, ...elsewhere, ...gate };
}

/** A type of the table in the fixture's words. */
function factOf(type: KnownType, fact: ResourceFact): unknown {
  return {
    group: type.group,
    version: type.version,
    kind: type.kind,
    plural: type.plural,
    singular: type.singular,
    shortNames: type.shortNames,
    categories: type.categories,
    namespaced: type.namespaced,
    verbs: [...type.verbs],
    listKind: type.verbs.has('list') ? type.listKind : null,
    subresources: [...type.subresources.keys()].map((name) => subresourceFact(type, name)),
    preferredVersion: type.preferredVersion,
    storageVersion: type.storageApiVersion === '' ? null : type.storageApiVersion,
    ...type.lifecycle,
    servedByDefault: type.servedByDefault,
    ...(type.persisted ? { deleteReturns: type.traits.deleteReturns === 'object' ? fact.kind : 'Status' } : {}),
    persisted: type.persisted,
    ...(type.verbs.has('list') ? { fieldSelectors: type.selectableFields } : {}),
  };
}

/** Of releases after the reference's, and off unless it is switched on. */
const LATER = /selfsubjectreviews/;

test('the table lists exactly the types of the reference', (t) => {
  t.deepEqual([...BY_ID.keys()].filter((id) => !LATER.test(id)).sort(), FACTS.map(idOf).sort());
  t.is(BY_ID.size, TABLE.length);
});

for (const fact of FACTS) {
  test(`the table has ${idOf(fact)} as the reference describes it`, (t) => {
    const type = BY_ID.get(idOf(fact))!;
    const storageVersion = STORED_IN_PREFERRED.has(fact.plural) ? `${fact.group}/v1` : fact.storageVersion;
    t.deepEqual(factOf(type, fact), { ...fact, storageVersion });
  });
}

const ALIASES: Readonly<Record<string, string>> = {
  '': 'core',
  events: 'core',
  extensions: 'networking',
  internal: 'apiserverinternal',
};

/** `networking.Ingress`: how the strategy and name format tables call a kind, less the version some of them give. */
function kindKey(type: KnownType): string {
  const first = type.group.split('.')[0]!;
  return `${ALIASES[first] ?? first}.${type.kind}`;
}

const withoutVersion = (kind: string) => kind.replace(/\/v[^.]*/, '');

const GENERATION_WORDS: Readonly<Record<string, readonly string[]>> = {
  'spec changes': ['spec'],
  'spec or annotations change': ['spec', 'metadata.annotations'],
  'webhooks change': ['webhooks'],
  'anything but metadata, or labels, change': ['content', 'metadata.labels'],
  'tokenRequests or requiresRepublish change': ['spec'],
};

function generationPartsIn(onUpdate: readonly string[]): readonly string[] {
  const rule = onUpdate.find((text) => text.startsWith('generation + 1 when '));
  return rule === undefined ? [] : GENERATION_WORDS[rule.slice('generation + 1 when '.length)]!;
}

function traitsFromFact(fact: StrategyFact, type: KnownType): unknown {
  const keepsStatus = fact.onUpdate.some((text) => /status kept from stored(?! \(not in)/.test(text));
  const statusUnless = fact.onUpdate.some((text) => text.includes(`(not in ${type.version})`));
  const exceptVersion = fact.onUpdate.some((text) => text.includes('(not in '));
  const dropsOnCreate = fact.onCreate.some((text) => text.startsWith('status cleared') || /^status.* = /.test(text));
  const hasStatus = keepsStatus || (exceptVersion && !statusUnless);
  const gc = fact.gcByVersion?.[type.version] ?? fact.defaultGC;
  return {
    putCreates: fact.putCreates,
    putWithoutResourceVersion: fact.putWithoutResourceVersion,
    initialGeneration: fact.onCreate.includes('generation = 1') ? 1 : 0,
    generationParts: generationPartsIn(fact.onUpdate),
    hasStatus,
    keepsStatusOnCreate: hasStatus && !dropsOnCreate,
    defaultPropagation: gc[0]!.toUpperCase() + gc.slice(1),
  };
}

test('every stored type follows the create and update rules of the reference', (t) => {
  const facts = new Map(fixture<StrategyFact>('strategies').map((fact) => [withoutVersion(fact.kind), fact]));
  for (const type of TABLE.filter(({ persisted }) => persisted)) {
    const {
      initialStatus: _status,
      deleteReturns: _returns,
      nameFormat: _format,
      statusKeepsMetadata: _kept,
      ...traits
    } = type.traits;
    t.deepEqual(traits, traitsFromFact(facts.get(kindKey(type))!, type) as typeof traits, idOf(type));
  }
});

test('every stored type has the name format of the reference', (t) => {
  const formats = new Map(
    fixture<{ kind: string; name: string }>('name-formats').map(({ kind, name }) => [withoutVersion(kind), name]),
  );
  for (const type of TABLE.filter(({ persisted }) => persisted)) {
    const expected = formats.get(kindKey(type));
    // That one has a rule of its own.
    const format = expected === '<group>.<resource>' ? 'pathSegment' : (expected ?? 'dns1123Subdomain');
    t.is(type.traits.nameFormat, format as typeof type.traits.nameFormat, idOf(type));
  }
});

test('pods and namespaces begin with a phase, nothing else with a status', (t) => {
  const begun = TABLE.filter(({ traits }) => traits.initialStatus !== undefined);
  t.deepEqual(
    begun.map(({ plural, traits }) => [plural, traits.initialStatus]),
    [
      ['namespaces', { phase: 'Active' }],
      ['pods', { phase: 'Pending' }],
    ],
  );
});

test('types that share objects share their storage key', (t) => {
  const keys = (plural: string) => TABLE.filter((type) => type.plural === plural).map((type) => type.storageKey);
  t.deepEqual(keys('events'), ['core/events', 'core/events', 'core/events']);
  t.deepEqual(new Set(keys('ingresses')), new Set(['networking.orch.io/ingresses']));
  t.deepEqual(keys('deployments'), ['apps/deployments']);
});

test('in the kubernetes dialect the groups carry their real names', (t) => {
  const groups = [...new Set(resourceTable(DIALECTS.kubernetes).map(({ group }) => group))].sort();
  t.deepEqual(groups, [
    '',
    'admissionregistration.k8s.io',
    'apiextensions.k8s.io',
    'apiregistration.k8s.io',
    'apps',
    'authentication.k8s.io',
    'authorization.k8s.io',
    'autoscaling',
    'batch',
    'certificates.k8s.io',
    'coordination.k8s.io',
    'discovery.k8s.io',
    'events.k8s.io',
    'extensions',
    'flowcontrol.apiserver.k8s.io',
    'internal.apiserver.k8s.io',
    'networking.k8s.io',
    'node.k8s.io',
    'policy',
    'rbac.authorization.k8s.io',
    'scheduling.k8s.io',
    'storage.k8s.io',
  ]);
});

test('no marker is left unspelled in either dialect', (t) => {
  for (const dialect of Object.values(DIALECTS)) {
    const text = JSON.stringify(resourceTable(dialect), (_, value: unknown) =>
      value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
    );
    t.false(text.includes('@'));
  }
});

test('an apiVersion splits into group and version', (t) => {
  t.deepEqual(splitApiVersion('v1'), { group: '', version: 'v1' });
  t.deepEqual(splitApiVersion('apps/v1'), { group: 'apps', version: 'v1' });
});
