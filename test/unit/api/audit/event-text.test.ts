// What is said of events, beside the same made by way of an object, for events of every shape that a seed makes.
import test from 'ava';
import type { AuditEvent } from '../../../../api/audit/event.ts';
import {
  type AuditVersion,
  eventListText,
  eventSayer,
  requestTexts,
  TextParts,
} from '../../../../api/audit/event-text.ts';
import type { User } from '../../../../api/authorization/attributes.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';

const TEXTS = [
  '',
  'plain',
  'with "quotes"',
  'back\\slash',
  'tab\tand\nline',
  'ünïcödé €',
  '\ud800',
  '</x>',
  '~ !#[]',
  '\u007f\u2028',
];

/** One for all, as sinks have it. */
const PARTS = new TextParts();

function said(say: ReturnType<typeof eventSayer>, event: AuditEvent): string {
  say(event, PARTS);
  return PARTS.take();
}

class Events {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  next(): AuditEvent {
    return {
      request: {
        texts: undefined,
        level: this.#of(['Metadata', 'Request', 'RequestResponse'] as const),
        auditID: this.#text(),
        requestURI: this.#text(),
        verb: this.#text(),
        user: this.#of([null, this.#user()]),
        sourceIPs: this.#of([[], ['127.0.0.1'], ['::1', '10.0.0.1']]),
        userAgent: this.#text(),
        objectRef: this.#of([undefined, this.#object()]),
        receivedMs: Math.floor(this.#random.next() * 2e12),
      },
      stage: this.#of(['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const),
      stageMs: Math.floor(this.#random.next() * 2e12),
      impersonatedUser: this.#of([undefined, this.#user()]),
      responseStatus: this.#of([
        undefined,
        {},
        { code: 200 },
        { code: 404, status: 'Failure', reason: 'NotFound', message: this.#text() },
      ]),
      requestObject: this.#of([undefined, null, { a: this.#text() }]),
      responseObject: this.#of([undefined, [1, 'b']]),
      annotations: this.#of([{}, { one: this.#text() }, { z: '1', a: this.#text(), m: '"' }]),
    };
  }

  #user(): User {
    const extra = this.#of([{}, { scopes: ['a', this.#text()] }]);
    return { name: this.#text(), uid: this.#text(), groups: this.#of([[], ['g'], ['g', this.#text()]]), extra };
  }

  #object(): NonNullable<AuditEvent['request']['objectRef']> {
    const [namespace, name, uid, resourceVersion, subresource] = Array.from({ length: 5 }, () => this.#text());
    const apiGroup = this.#of(['', 'apps', this.#text()]);
    return {
      ...{ resource: 'pods', namespace: namespace!, name: name!, uid: uid!, apiGroup },
      ...{ apiVersion: 'v1', resourceVersion: resourceVersion!, subresource: subresource! },
    };
  }

  #text(): string {
    return this.#of(TEXTS);
  }

  #of<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random.next() * choices.length)]!;
  }
}

function withoutNothing(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== '' && value !== undefined));
}

/** The event as one object, by the rules of the three versions. */
function eventObject(version: AuditVersion, event: AuditEvent): object {
  const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, -5)}Z`;
  const micro = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
  const userOf = ({ name, uid, groups, extra }: User): object => ({
    username: name,
    ...withoutNothing({ uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  });
  const { request, impersonatedUser, annotations, responseStatus } = event;
  const { objectRef, user } = request;
  const { apiGroup = '', apiVersion = '', ...named } = objectRef ?? {};
  const home =
    version === 'v1alpha1'
      ? { apiVersion: apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}` }
      : { apiGroup, apiVersion };
  return {
    kind: 'Event',
    apiVersion: `audit.example/${version}`,
    ...(version === 'v1'
      ? {}
      : { metadata: { creationTimestamp: seconds(request.receivedMs) }, timestamp: seconds(event.stageMs) }),
    ...{
      level: request.level,
      auditID: request.auditID,
      stage: event.stage,
      requestURI: request.requestURI,
      verb: request.verb,
    },
    user: user === null ? {} : userOf(user),
    ...(impersonatedUser && { impersonatedUser: userOf(impersonatedUser) }),
    ...(request.sourceIPs.length > 0 && { sourceIPs: request.sourceIPs }),
    ...withoutNothing({ userAgent: request.userAgent }),
    ...(objectRef && { objectRef: withoutNothing({ ...named, ...home }) }),
    ...(responseStatus && { responseStatus: { metadata: {}, ...responseStatus } }),
    ...withoutNothing({ requestObject: event.requestObject, responseObject: event.responseObject }),
    ...{ requestReceivedTimestamp: micro(request.receivedMs), stageTimestamp: micro(event.stageMs) },
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

for (const version of ['v1', 'v1beta1', 'v1alpha1'] as const) {
  test(`audit events of ${version} are said as the objects that they are`, (t) => {
    const events = new Events(7);
    const say = eventSayer(version, 'audit.example');
    for (let made = 0; made < 500; made++) {
      const event = events.next();
      t.deepEqual(JSON.parse(said(say, event)), JSON.parse(JSON.stringify(eventObject(version, event))));
    }
  });
}

test('audit events of a request whose texts were made once are said as without them', (t) => {
  const events = new Events(11);
  for (const version of ['v1', 'v1beta1', 'v1alpha1'] as const) {
    const say = eventSayer(version, 'g');
    for (let made = 0; made < 200; made++) {
      const event = events.next();
      t.is(
        said(say, { ...event, request: { ...event.request, texts: requestTexts(event.request) } }),
        said(say, event),
      );
    }
  }
});

test('objects of one kind are said by their names, also where another of their members looks like the mark of one', (t) => {
  const event = new Events(3).next();
  const about = { resource: 'pods', namespace: 'n', uid: '', apiGroup: '', apiVersion: 'v1', resourceVersion: '' };
  for (const [name, subresource] of [
    ['a', ''],
    ['b', ''],
    ['b', 'status'],
    ['c', '\u0001'],
    ['d', '\u0001'],
    ['"', ''],
  ] as const) {
    const { about: text } = requestTexts({ ...event.request, objectRef: { ...about, name, subresource } });
    t.deepEqual(JSON.parse(`{${text.slice(1)}}`), { objectRef: withoutNothing({ ...about, name, subresource }) });
  }
});

test('audit events that share their annotations, and others between them, have their own', (t) => {
  const say = eventSayer('v1', 'g');
  const event = new Events(2).next();
  const [shared, other] = [{ a: '1' }, { b: '2' }];
  const ends = [shared, {}, shared, other, shared].map((annotations) => {
    const text = said(say, { ...event, annotations });
    return text.slice(text.indexOf('"stageTimestamp"')).replace(/^[^,}]*/, '');
  });
  const [a, b] = [',"annotations":{"a":"1"}}', ',"annotations":{"b":"2"}}'];
  t.deepEqual(ends, [a, '}', a, b, a]);
});

test('annotations of an audit event come in the order of their names', (t) => {
  const event = { ...new Events(1).next(), annotations: { b: '2', a: '1' } };
  t.true(said(eventSayer('v1', 'g'), event).endsWith(',"annotations":{"a":"1","b":"2"}}'));
});

test('a list of audit events holds them as they are said', (t) => {
  const list = JSON.parse(eventListText('v1', 'g', ['{"a":1}', '{"b":2}'])) as object;
  t.deepEqual(list, { kind: 'EventList', apiVersion: 'g/v1', metadata: {}, items: [{ a: 1 }, { b: 2 }] });
});
