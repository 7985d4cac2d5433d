import test from 'ava';
import type { Freshness } from '../../../../actors/hub/protocol.ts';
import { getFreshness, listQuery, watchStart } from '../../../../actors/ingress/reads/read-parameters.ts';
import { parseVersion } from '../../../../api/list-options.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { parseRequestInfo, type ResourceRequestInfo } from '../../../../api/requests/request-info.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { isStatusError, type Status } from '../../../../api/status/status.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const { metaGroup } = DIALECTS.orch;
const PODS = createRegistry(DIALECTS.orch).storageType('core/pods')!;

const MOST_RECENT: Freshness = { kind: 'mostRecent' };
const ANY: Freshness = { kind: 'any' };
const NOT_OLDER: Freshness = { kind: 'notOlderThan', revision: 7 };
const EXACT: Freshness = { kind: 'exact', revision: 7 };

function info(query: string): ResourceRequestInfo {
  const parsed = parseRequestInfo('GET', '/api/v1/namespaces/a/pods', query);
  if (!parsed.isResource) throw new Error('no resource');
  return parsed;
}

/** The status that is thrown; undefined when nothing is. */
function refusalOf(work: () => unknown): Status | undefined {
  try {
    work();
  } catch (error) {
    if (isStatusError(error)) return error.status;
    throw error;
  }
  return undefined;
}

const list = (query: string) => listQuery(info(query), PODS, parseQuery(query), metaGroup);

/** SPEC.md "Resource-version semantics", the list table: a freshness, or the code of the refusal. */
const LIST_TABLE: readonly (readonly [match: string, paging: string, unset: Cell, zero: Cell, other: Cell])[] = [
  ['', '', MOST_RECENT, ANY, NOT_OLDER],
  ['', 'limit=5', MOST_RECENT, ANY, EXACT],
  ['', 'limit=5&continue=token', 'token', 'token', 400],
  ['Exact', '', 422, 422, EXACT],
  ['Exact', 'limit=5', 422, 422, EXACT],
  ['Exact', 'limit=5&continue=token', 422, 422, 422],
  ['NotOlderThan', '', 422, ANY, NOT_OLDER],
  ['NotOlderThan', 'limit=5', 422, ANY, NOT_OLDER],
  ['NotOlderThan', 'limit=5&continue=token', 422, 422, 422],
  ['Sideways', '', 422, 422, 422],
];
type Cell = Freshness | number | 'token';

for (const [match, paging, ...cells] of LIST_TABLE) {
  for (const [column, version] of ['', '0', '7'].entries()) {
    const query = [match && `resourceVersionMatch=${match}`, paging, version && `resourceVersion=${version}`]
      .filter((part) => part !== '')
      .join('&');
    test(`a list with ${query === '' ? 'no parameters' : query} is answered as the table says`, (t) => {
      const cell = cells[column]!;
      if (typeof cell === 'number') {
        t.is(refusalOf(() => list(query))?.code, cell);
        return;
      }
      const answer = list(query);
      // A token carries its own revision: what freshness says does not matter then.
      if (cell === 'token') t.is(answer.continueToken, 'token');
      else {
        t.deepEqual(answer.freshness, cell);
        t.is(answer.continueToken, '');
      }
      t.is(answer.limit, paging === '' ? 0 : 5);
      t.deepEqual([answer.storageKey, answer.namespace], ['core/pods', 'a']);
    });
  }
}

test('what is wrong with a resourceVersionMatch is said of ListOptions, in one cause each', (t) => {
  const status = refusalOf(() => list('resourceVersionMatch=Sideways&continue=x'));
  t.is(status?.reason, 'Invalid');
  t.deepEqual([status?.details?.kind, status?.details?.group], ['ListOptions', metaGroup]);
  t.deepEqual(
    status?.details?.causes?.map(({ reason, field }) => [reason, field]),
    [
      ['FieldValueForbidden', 'resourceVersionMatch'],
      ['FieldValueForbidden', 'resourceVersionMatch'],
      ['FieldValueNotSupported', 'resourceVersionMatch'],
    ],
  );
});

test('a get is answered as the table says', (t) => {
  t.deepEqual(getFreshness(parseQuery('')), MOST_RECENT);
  t.deepEqual(getFreshness(parseQuery('resourceVersion=')), MOST_RECENT);
  t.deepEqual(getFreshness(parseQuery('resourceVersion=0')), ANY);
  t.deepEqual(getFreshness(parseQuery('resourceVersion=7')), NOT_OLDER);
});

test('a get that asks for an export is refused: what is there would be more than is expected', (t) => {
  for (const query of ['export=true', 'export=1', 'export', 'exact=false&export=yes']) {
    const status = refusalOf(() => getFreshness(parseQuery(query)));
    t.is(status?.code, 400, query);
    t.is(status?.message, 'the export parameter, deprecated since v1.14, is no longer supported');
  }
  for (const query of ['export=false', 'export=0', 'exact=true']) {
    t.deepEqual(getFreshness(parseQuery(query)), MOST_RECENT, query);
  }
});

const watch = (query: string) => watchStart(info(query), PODS, parseQuery(query), metaGroup);

test('a watch starts as the table says', (t) => {
  const selection = { storageKey: 'core/pods', namespace: 'a', labelSelector: '', fieldSelector: '' };
  const start = { ...selection, bookmarks: false, sendInitialEventsEnd: false, timeoutSeconds: undefined };
  t.deepEqual(watch(''), { ...start, afterRevision: undefined, freshness: MOST_RECENT });
  t.deepEqual(watch('resourceVersion='), { ...start, afterRevision: undefined, freshness: MOST_RECENT });
  t.deepEqual(watch('resourceVersion=0'), { ...start, afterRevision: undefined, freshness: ANY });
  t.is(watch('resourceVersion=7').afterRevision, 7);
});

test('a watch may ask for bookmarks, a time to end, and its initial events with a revision', (t) => {
  for (const [text, wanted] of [
    ['true', true],
    ['1', true],
    ['', true],
    ['false', false],
    ['0', false],
  ] as const) {
    t.is(watch(`allowWatchBookmarks=${text}`).bookmarks, wanted, text);
  }
  t.is(watch('timeoutSeconds=30').timeoutSeconds, 30);
  t.is(watch('timeoutSeconds=-5').timeoutSeconds, -5, 'its time is over');
  for (const none of ['', 'timeoutSeconds=0']) {
    t.is(watch(none).timeoutSeconds, undefined, none);
  }
  const initial = watch(
    'sendInitialEvents=true&resourceVersion=7&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1',
  );
  t.deepEqual([initial.afterRevision, initial.freshness, initial.sendInitialEventsEnd], [undefined, NOT_OLDER, true]);
  t.false(watch('sendInitialEvents=true').sendInitialEventsEnd);
});

test('what a watch cannot be asked is refused', (t) => {
  for (const match of ['Exact', 'NotOlderThan', 'Sideways']) {
    const status = refusalOf(() => watch(`resourceVersion=7&resourceVersionMatch=${match}`));
    t.deepEqual([status?.code, status?.details?.kind], [422, 'ListOptions']);
  }
  t.is(refusalOf(() => watch('timeoutSeconds=soon'))?.code, 400);
  t.is(refusalOf(() => watch('resourceVersion=x'))?.code, 400);
});

test('versions are whole numbers of 64 bits, and others are answered as in Kubernetes', (t) => {
  for (const text of [undefined, '']) t.is(parseVersion(text), undefined);
  t.is(parseVersion('0'), 0);
  t.is(parseVersion('0017'), 17);
  t.is(parseVersion(String(Number.MAX_SAFE_INTEGER)), Number.MAX_SAFE_INTEGER);
  for (const text of ['9007199254740992', '18446744073709551615']) t.is(parseVersion(text), Number(text));
  const problems: readonly (readonly [text: string, problem: string])[] = [
    ...['-1', '+1', '1.0', '1e3', ' 1', '0x1', 'abc', '١', 'NaN', '__proto__'].map(
      (text) => [text, 'invalid syntax'] as const,
    ),
    ...['18446744073709551616', '1'.repeat(400)].map((text) => [text, 'value out of range'] as const),
  ];
  for (const [text, problem] of problems) {
    const status = refusalOf(() => parseVersion(text));
    t.deepEqual([status?.code, status?.reason], [400, 'BadRequest'], text);
    t.is(
      status?.message,
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${problem}`,
    );
  }
});

test('a limit is a count, and one below 1 is none', (t) => {
  for (const [text, limit] of [
    ['5', 5],
    ['%2B5', 5],
    ['0', 0],
    ['-1', 0],
    ['999999999999999', 999999999999999],
    ['9223372036854775807', 2 ** 63],
  ] as const) {
    t.is(list(`limit=${text}`).limit, limit, text);
  }
  for (const [text, problem] of [
    ['', 'invalid syntax'],
    ['x', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    ['1e3', 'invalid syntax'],
    ['9223372036854775808', 'value out of range'],
    ['9'.repeat(30), 'value out of range'],
  ] as const) {
    const status = refusalOf(() => list(`limit=${text}`));
    t.deepEqual([status?.code, status?.message], [400, `strconv.ParseInt: parsing "${text}": ${problem}`]);
  }
});

test('what is wrong with a match is told in the order of Kubernetes, of a watch as well', (t) => {
  const unset = 'resourceVersionMatch is forbidden unless resourceVersion is provided';
  const continued = 'resourceVersionMatch is forbidden when continue is provided';
  const unknown = 'Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""';
  const causes = (status: ReturnType<typeof refusalOf>): unknown =>
    status?.details?.causes?.map((cause) => cause.message);
  const query = 'resourceVersionMatch=About&continue=x';
  const all = [`Forbidden: ${unset}`, `Forbidden: ${continued}`, unknown];
  t.deepEqual(causes(refusalOf(() => list(query))), all);
  t.deepEqual(causes(refusalOf(() => watch(query))), [
    'Forbidden: resourceVersionMatch is forbidden for watch',
    ...all,
  ]);
});

test('selectors are passed on as they are written, and refused when they cannot be read', (t) => {
  const query = 'labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dn1';
  for (const asked of [list(query), watch(query)]) {
    t.deepEqual([asked.storageKey, asked.namespace], ['core/pods', 'a']);
    t.deepEqual([asked.labelSelector, asked.fieldSelector], ['a=b,c', 'spec.nodeName=n1']);
  }
  for (const wrong of [
    'labelSelector=a%20in',
    'labelSelector=%3D',
    'fieldSelector=spec.image%3Dx',
    'fieldSelector=x',
  ]) {
    for (const ask of [list, watch]) t.is(refusalOf(() => ask(wrong))?.code, 400, wrong);
  }
});

test('of several parameters that are wrong the first is told, in the order of Kubernetes', (t) => {
  const wrongs: readonly (readonly [query: string, told: RegExp])[] = [
    ['timeoutSeconds=t', /parsing "t"/],
    ['limit=l', /parsing "l"/],
    ['labelSelector=%3D', /expected: !, identifier/],
    ['fieldSelector=x', /can't understand 'x'/],
    ['resourceVersionMatch=Sideways', /^ListOptions.*is invalid/],
    ['fieldSelector=spec.image%3Dx', /field label not supported: spec.image/],
    ['resourceVersion=v', /resourceVersion: Invalid value: "v"/],
  ];
  for (const [at, [first, told]] of wrongs.entries()) {
    for (const [second] of wrongs.slice(at + 1)) {
      if (first.split('=')[0] === second.split('=')[0]) continue;
      for (const ask of [list, watch]) t.regex(refusalOf(() => ask(`${second}&${first}`))?.message ?? '', told);
    }
  }
});

test('a watch of one object is refused a selector of another, and one that says nothing is none', (t) => {
  const named = (query: string) => {
    const parsed = parseRequestInfo('GET', '/api/v1/watch/namespaces/a/pods/web', query);
    if (!parsed.isResource) throw new Error('no resource');
    return watchStart(parsed, PODS, parseQuery(query), metaGroup).fieldSelector;
  };
  for (const query of ['', 'fieldSelector=%3D', 'fieldSelector=metadata.name%3D%3Dweb'])
    t.is(named(query), 'metadata.name=web', query);
  t.is(named('fieldSelector=spec.nodeName%3Dn,metadata.name%3Dweb'), 'metadata.name=web,spec.nodeName=n');
  for (const other of ['metadata.name%3Dother', 'metadata.name!%3Dweb', 'spec.nodeName%3Dweb'])
    t.is(refusalOf(() => named(`fieldSelector=${other}`))?.code, 400, other);
});

test('a watch of one object that is in a namespace names that as well', (t) => {
  const of = (path: string) => {
    const parsed = parseRequestInfo('GET', path, '');
    if (!parsed.isResource) throw new Error('no resource');
    return () => watchStart(parsed, PODS, parseQuery(''), metaGroup);
  };
  t.is(refusalOf(of('/api/v1/watch/pods/web'))?.code, 404);
  t.is(refusalOf(of('/api/v1/watch/namespaces/a/pods/web')), undefined);
});
