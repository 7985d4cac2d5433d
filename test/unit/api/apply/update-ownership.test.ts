// Who owns what after creates and updates that are no applies, what clients can write into managedFields, and the way from
// client-side apply.
import test from 'ava';
import { problemOfEntries } from '../../../../api/apply/managed-entries.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { ManagedFieldsEntry } from '../../../../api/metadata/object-meta.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { LiveObject, type Writable } from './live-object.ts';

const CONFIG_MAP = 'core/v1.ConfigMap';
const DEPLOYMENT = 'apps/v1.Deployment';
const ANNOTATION = 'kubectl.orch.io/last-applied-configuration';

function configMap(data: JsonObject, manager = 'maker'): LiveObject {
  const live = new LiveObject(CONFIG_MAP);
  live.create(manager, { data });
  return live;
}

interface Case {
  readonly does: string;
  readonly change: (object: Writable) => void;
  /** Owners afterwards; before, `maker/Update` owns .data, .data.x and .data.y. */
  readonly owners: Readonly<Record<string, readonly string[]>>;
}

const UPDATES: readonly Case[] = [
  {
    does: 'owns what it adds',
    change: (object) => {
      object.data.z = '1';
    },
    owners: { '.data.z': ['other/Update'], '.data.x': ['maker/Update'] },
  },
  {
    does: 'takes over what it changes',
    change: (object) => {
      object.data.x = '9';
    },
    owners: { '.data.x': ['other/Update'], '.data.y': ['maker/Update'] },
  },
  {
    does: 'leaves nobody the owner of what it removes',
    change: (object) => {
      delete object.data.x;
    },
    owners: { '.data.x': [], '.data.y': ['maker/Update'], '.data': ['maker/Update'] },
  },
  {
    does: 'leaves nobody the owner of a branch that it removes',
    change: (object) => {
      delete object.data;
    },
    owners: { '.data': [], '.data.x': [], '.data.y': [] },
  },
  {
    does: 'owns nothing when it changes nothing',
    change: () => undefined,
    owners: { '.data.x': ['maker/Update'] },
  },
  {
    does: 'owns a branch that it adds, and what is in it',
    change: (object) => {
      object.metadata.labels = { a: 'b' };
    },
    owners: { '.metadata.labels': ['other/Update'], '.metadata.labels.a': ['other/Update'] },
  },
];

for (const { does, change, owners } of UPDATES) {
  test(`an update ${does}`, (t) => {
    const live = configMap({ x: '1', y: '1' });
    live.update('other', change);
    for (const [path, names] of Object.entries(owners)) t.deepEqual(live.ownersOf(path), names, path);
  });
}

test('an object in place of another value is owned with its members, and what takes its place leaves nobody theirs', (t) => {
  const live = new LiveObject('custom');
  live.create('maker', { x: 1 });
  live.update('u', (object) => {
    object.x = { a: 1 };
  });
  t.deepEqual(live.fieldsOf('u'), ['.x', '.x.a']);
  live.update('v', (object) => {
    object.x = [];
  });
  t.deepEqual(live.ownersOf('.x'), ['v/Update']);
  t.deepEqual(live.ownersOf('.x.a'), []);
});

test('an update takes fields from an applier', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.apply('a', { data: { x: '1', y: '1' } });
  live.update('u', (object) => {
    object.data.x = '2';
  });
  t.deepEqual(live.ownersOf('.data.x'), ['u/Update']);
  t.deepEqual(live.ownersOf('.data.y'), ['a/Apply']);
});

test('updates of one manager add up to one entry, whose time changes with its fields only', (t) => {
  const live = configMap({ x: '1' });
  const set = (name: string, value: string) =>
    live.update('u', (object) => {
      object.data[name] = value;
    });
  set('a', '1');
  const first = live.entries.find(({ manager }) => manager === 'u')!.time;
  set('a', '2');
  t.is(live.entries.find(({ manager }) => manager === 'u')!.time, first);
  set('b', '1');
  t.not(live.entries.find(({ manager }) => manager === 'u')!.time, first);
  t.is(live.entries.length, 2);
  t.deepEqual(live.fieldsOf('u'), ['.data.a', '.data.b']);
});

test('an updater has an entry for each version of the API', (t) => {
  const live = configMap({ x: '1' });
  live.update(
    'u',
    (object) => {
      object.data.a = '1';
    },
    '',
    'v1',
  );
  live.update(
    'u',
    (object) => {
      object.data.b = '1';
    },
    '',
    'v2',
  );
  t.deepEqual(
    live.entries.filter(({ manager }) => manager === 'u').map(({ apiVersion }) => apiVersion),
    ['v1', 'v2'],
  );
});

test('an updater does not own what it removes of its own', (t) => {
  const live = configMap({ x: '1', y: '1' });
  live.update('maker', (object) => {
    delete object.data.x;
    object.data.y = '2';
  });
  t.deepEqual(live.fieldsOf('maker'), ['.data', '.data.y']);
});

test('an object that nobody tracks stays so when it is updated', (t) => {
  const live = new LiveObject(CONFIG_MAP);
  live.createUntracked({ data: { x: '1' } });
  live.update('u', (object) => {
    object.data.x = '2';
  });
  t.deepEqual(live.entries, []);
});

test('a status update owns what it changes of the status', (t) => {
  const live = new LiveObject(DEPLOYMENT);
  live.create('maker', { spec: { replicas: 1 } });
  live.update(
    'agent',
    (object) => {
      object.status = { replicas: 3, conditions: [{ type: 'Ready', status: 'True' }] };
    },
    'status',
  );
  t.deepEqual(live.ownersOf('.status.replicas'), ['agent/Update']);
  t.deepEqual(live.ownersOf('.status.conditions[type="Ready"].status'), ['agent/Update']);
  t.deepEqual(live.ownersOf('.spec.replicas'), ['maker/Update']);
});

test('the oldest updaters beyond ten become one', (t) => {
  const live = configMap({ x: '1' }, 'u00');
  for (let n = 1; n <= 14; n++) {
    live.update(`u${String(n).padStart(2, '0')}`, (object) => {
      object.data[`k${n}`] = '1';
    });
  }
  const names = live.entries.map(({ manager }) => manager);
  t.is(names.length, 10);
  t.is(names[0], 'ancient-changes');
  t.is(names.at(-1), 'u14');
  t.true(live.fieldsOf('ancient-changes').includes('.data.x'));
  t.true(live.fieldsOf('ancient-changes').includes('.data.k5'));
  t.deepEqual(live.fieldsOf('u06'), ['.data.k6']);
});

test('updaters of different versions become one each', (t) => {
  const live = configMap({ x: '1' }, 'u00');
  for (let n = 1; n <= 12; n++) {
    const version = n % 2 === 0 ? 'v1' : 'v2';
    live.update(
      `u${String(n).padStart(2, '0')}`,
      (object) => {
        object.data[`k${n}`] = '1';
      },
      '',
      version,
    );
  }
  const ancient = live.entries.filter(({ manager }) => manager === 'ancient-changes');
  t.deepEqual(ancient.map(({ apiVersion }) => apiVersion).sort(), ['v1', 'v2']);
  t.is(live.entries.length, 10);
});

test('an old updater that is the only one of its version keeps its name beyond the limit', (t) => {
  const live = configMap({ x: '1' }, 'u00');
  const versions = ['v2', ...Array.from({ length: 10 }, () => 'v1')];
  for (const [n, version] of versions.entries()) {
    const add = (object: Writable): void => {
      object.data[`k${n}`] = '1';
    };
    live.update(`u${String(n + 1).padStart(2, '0')}`, add, '', version);
  }
  t.is(live.entries.length, 10);
  t.deepEqual(
    live.entries.slice(0, 2).map(({ manager, apiVersion }) => `${manager} ${apiVersion}`),
    ['u01 v2', 'ancient-changes v1'],
  );
});

test('entries of a client beyond the limit become one, though nothing else is changed', (t) => {
  const live = configMap({ x: '1' });
  live.update('u', (object) => {
    const [entry] = object.metadata.managedFields;
    object.metadata.managedFields = Array.from({ length: 12 }, (_, n) => ({
      ...entry,
      manager: `m${n}`,
      time: `20${10 + n}-01-01T00:00:00Z`,
      fieldsV1: { [`f:${n}`]: {} },
    }));
  });
  const [first] = live.entries;
  t.is(live.entries.length, 10);
  t.like(first, { manager: 'ancient-changes', time: '2012-01-01T00:00:00Z' });
  t.deepEqual(first?.fieldsV1, { 'f:0': {}, 'f:1': {}, 'f:2': {} });
});

test('appliers do not count towards the limit', (t) => {
  const live = configMap({ x: '1' });
  for (let n = 0; n < 15; n++) live.apply(`a${n}`, { data: { [`k${n}`]: '1' } });
  t.is(live.entries.length, 16);
});

test('a client can edit managedFields by an update', (t) => {
  const live = configMap({ x: '1', y: '1' });
  live.update('u', (object) => {
    object.metadata.managedFields[0].manager = 'renamed';
    object.metadata.managedFields[0].operation = 'Apply';
  });
  t.deepEqual(live.ownersOf('.data.x'), ['renamed/Apply']);
  live.apply('renamed', { data: { y: '1' } });
  t.deepEqual(live.content, { data: { y: '1' } });
});

test('entries of a client are brought into one form', (t) => {
  const live = configMap({ x: '1', y: '1' });
  live.update('u', (object) => {
    const [entry] = object.metadata.managedFields;
    object.metadata.managedFields = [{ ...entry, fieldsV1: { 'f:data': { 'f:y': {}, '.': {}, 'f:x': { '.': {} } } } }];
  });
  t.is(JSON.stringify(live.entries.map(({ fieldsV1 }) => fieldsV1)), '[{"f:data":{".":{},"f:x":{},"f:y":{}}}]');
});

test('of the fields that a client names, those of a kind that is not known are left out, and null is a field with nothing in it', (t) => {
  const live = configMap({ x: '1', y: '1' });
  live.update('u', (object) => {
    object.metadata.managedFields[0].fieldsV1 = { 'f:data': { 'f:x': null, 'z:new': { data: 1 } } };
  });
  t.deepEqual(
    live.entries.map(({ fieldsV1 }) => fieldsV1),
    [{ 'f:data': { 'f:x': {} } }],
  );
  live.update('u', (object) => {
    object.metadata.managedFields[0].fieldsV1 = { 'z:new': {} };
  });
  t.deepEqual(live.entries, []);
});

test('an entry of a client that names neither manager nor time stays without them', (t) => {
  const live = configMap({ x: '1' });
  const entry = {
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:x': {} } },
  };
  live.update('u', (object) => {
    object.metadata.managedFields = [entry];
  });
  t.deepEqual(live.entries, [entry]);
});

const GOOD = { operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } };
const PROBLEMS: readonly (readonly [entry: ManagedFieldsEntry, problem: string | undefined])[] = [
  [GOOD, undefined],
  [{ ...GOOD, operation: 'Update', fieldsV1: undefined }, undefined],
  [{ ...GOOD, operation: 'Delete', apiVersion: '' }, 'operation must be `Apply` or `Update`'],
  [{ ...GOOD, apiVersion: '', fieldsType: '' }, 'apiVersion must not be empty'],
  [{ ...GOOD, fieldsType: '' }, 'missing fieldsType in managed fields entry 1'],
  [{ ...GOOD, fieldsType: 'FieldsV2' }, 'invalid fieldsType "FieldsV2" in managed fields entry 1'],
  [{ ...GOOD, fieldsV1: { data: {} } }, 'error decoding versioned set in managed fields entry 1'],
];

test('what is wrong with entries is told of the first that is wrong, in the words of clients', (t) => {
  for (const [entry, problem] of PROBLEMS) t.is(problemOfEntries([GOOD, entry]), problem);
});

test('of entries of a client for one manager the last is kept, whenever that was', (t) => {
  const live = configMap({ x: '1', y: '1' });
  const [later, earlier] = ['2020-01-02T00:00:00Z', '2020-01-01T00:00:00Z'];
  const entry = { manager: 'm', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  for (const operation of ['Update', 'Apply']) {
    live.update('u', (object) => {
      object.metadata.managedFields = [
        { ...entry, operation, time: later, fieldsV1: { 'f:data': { 'f:x': {} } } },
        { ...entry, operation, time: earlier, fieldsV1: { 'f:data': { 'f:y': {} } } },
      ];
    });
    t.deepEqual(
      live.entries.map(({ time, fieldsV1 }) => [time, fieldsV1]),
      [[earlier, { 'f:data': { 'f:y': {} } }]],
    );
  }
});

test('many entries of a client take time in proportion to their number', (t) => {
  const live = configMap({ x: '1' });
  const count = 20_000;
  live.update('u', (object) => {
    const [entry] = object.metadata.managedFields;
    object.metadata.managedFields = Array.from({ length: count }, (_, n) => ({
      ...entry,
      manager: `m${n}`,
      fieldsV1: { [`f:${n}`]: {} },
    }));
  });
  t.is(live.entries.length, 10);
  live.update('u', (object) => {
    object.data.y = '1';
  });
  t.is(live.entries.length, 10);
});

test('one empty entry ends the tracking', (t) => {
  const live = configMap({ x: '1' });
  live.update('u', (object) => {
    object.metadata.managedFields = [{}];
    object.data.x = '2';
  });
  t.deepEqual(live.entries, []);
  live.apply('a', { data: { x: '2' } });
  t.deepEqual(live.ownersOf('.data.x'), ['a/Apply', 'before-first-apply/Update']);
});

const UNREADABLE: readonly (readonly [what: string, entries: unknown])[] = [
  ['none at all', undefined],
  ['an unknown operation', [{ manager: 'm', operation: 'Take', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }]],
  ['no version', [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }]],
  ['an unknown kind of fields', [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV2', fieldsV1: {} }]],
  ['fields that are none', [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: { data: {} } }]],
];

for (const [what, entries] of UNREADABLE) {
  test(`managedFields of a client that cannot be used are not: ${what}`, (t) => {
    const live = configMap({ x: '1' });
    live.update('u', (object) => {
      if (entries === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = entries;
    });
    t.deepEqual(live.ownersOf('.data.x'), ['maker/Update']);
  });
}

test('managedFields cannot be edited through a subresource', (t) => {
  const live = new LiveObject(DEPLOYMENT);
  live.create('maker', { spec: { replicas: 1 } });
  live.update(
    'u',
    (object) => {
      object.metadata.managedFields = [{}];
    },
    'status',
  );
  t.deepEqual(live.ownersOf('.spec.replicas'), ['maker/Update']);
});

/** An object as client-side apply leaves it. */
function appliedByAnnotation(data: JsonObject): LiveObject {
  const live = new LiveObject(CONFIG_MAP);
  const annotation = JSON.stringify({ apiVersion: 'v1', data, kind: 'ConfigMap', metadata: { name: 'it' } });
  live.create('kubectl-client-side-apply', { metadata: { annotations: { [ANNOTATION]: annotation } }, data });
  return live;
}

test('what the client has applied by annotation it may change without force', (t) => {
  const live = appliedByAnnotation({ x: '1' });
  live.apply('kubectl', { data: { x: '2' } });
  t.deepEqual(live.content.data, { x: '2' });
  t.deepEqual(live.ownersOf('.data.x'), ['kubectl/Apply']);
});

test('the annotation follows what the client applies', (t) => {
  const live = appliedByAnnotation({ x: '1' });
  live.apply('kubectl', { data: { x: '2' } });
  const { annotations } = live.content.metadata as { annotations: Record<string, string> };
  t.is(annotations[ANNOTATION], '{"apiVersion":"v1","data":{"x":"2"},"kind":"ConfigMap","metadata":{"name":"it"}}\n');
});

test('the annotation follows what the client applies, and nothing else of the metadata goes with it', (t) => {
  const live = appliedByAnnotation({ x: '1' });
  live.update('u', (object) => {
    object.metadata.labels = { tier: 'back' };
    object.metadata.annotations.mine = 'yes';
  });
  live.apply('kubectl', { metadata: { annotations: { given: 'now' } }, data: { x: '2' } });
  t.like(live.content.metadata, { labels: { tier: 'back' }, annotations: { mine: 'yes', given: 'now' } });
  const { annotations } = live.content.metadata as { annotations: Record<string, string> };
  t.is(
    annotations[ANNOTATION],
    '{"apiVersion":"v1","data":{"x":"2"},"kind":"ConfigMap","metadata":{"annotations":{"given":"now"},"name":"it"}}\n',
  );
});

test('the annotation is written as the client writes it, which escapes what may stand in HTML', (t) => {
  const live = appliedByAnnotation({ x: '1' });
  live.apply('kubectl', { data: { x: 'a < b && c > d\u2028é' } });
  const { annotations } = live.content.metadata as { annotations: Record<string, string> };
  t.true(annotations[ANNOTATION]?.includes('"data":{"x":"a \\u003c b \\u0026\\u0026 c \\u003e d\\u2028é"}'));
});

test('an object without the annotation does not get one', (t) => {
  const live = configMap({ x: '1' });
  live.apply('kubectl', { data: { y: '2' } });
  t.is((live.content.metadata as JsonObject | undefined)?.annotations, undefined);
});

const NOT_ALLOWED: readonly (readonly [what: string, make: () => LiveObject, manager: string])[] = [
  ['another manager', () => appliedByAnnotation({ x: '1' }), 'other'],
  [
    'a field changed since',
    () => {
      const live = appliedByAnnotation({ x: '1' });
      live.update('u', (object) => {
        object.data.x = '5';
      });
      return live;
    },
    'kubectl',
  ],
  [
    'an annotation that cannot be read',
    () => {
      const live = new LiveObject(CONFIG_MAP);
      live.create('u', { metadata: { annotations: { [ANNOTATION]: '{' } }, data: { x: '1' } });
      return live;
    },
    'kubectl',
  ],
  [
    'an annotation of another version',
    () => {
      const live = new LiveObject(CONFIG_MAP);
      const text = '{"apiVersion":"v2","kind":"ConfigMap","data":{"x":"1"}}';
      live.create('u', { metadata: { annotations: { [ANNOTATION]: text } }, data: { x: '1' } });
      return live;
    },
    'kubectl',
  ],
];

for (const [what, make, manager] of NOT_ALLOWED) {
  test(`the annotation allows no conflict: ${what}`, (t) => {
    const error = t.throws(() => make().apply(manager, { data: { x: '2' } }));
    t.true(isStatusError(error) && error.status.code === 409);
  });
}
