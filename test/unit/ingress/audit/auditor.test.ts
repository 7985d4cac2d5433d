// What the record of a request says of it as it came, and of the decision about it.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../../actors/audit/protocol.ts';
import type { RequestAudit } from '../../../../actors/auditing/request-audit.ts';
import type { Admitted } from '../../../../actors/auth/protocol.ts';
import { Auditor } from '../../../../actors/ingress/audit/auditor.ts';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { NO_METRICS } from '../../controllers/fake-context.ts';

const USER = { name: 'jane', uid: '', groups: [], extra: {} };
const ACCESS = {
  ...{ verb: 'get', isResource: false, group: '', version: '', resource: '', subresource: '' },
  ...{ namespace: '', name: '', path: '/version' },
};

/** What is recorded of a request that was admitted so. */
function told(admitted: Admitted, isImpersonating = false) {
  const time = new VirtualTime();
  const auditor = new Auditor({
    context: { clock: time, timers: time, metrics: NO_METRICS },
    dialect: DIALECTS.orch,
    waits: 'none',
  } as unknown as ConstructorParameters<typeof Auditor>[0]);
  const annotations: Record<string, string> = {};
  const steps: string[] = [];
  const audit = {
    impersonatedUser: undefined as unknown,
    received: () => void steps.push('received'),
    refused: () => void steps.push('refused'),
    annotate: (more: object) => Object.assign(annotations, more),
  };
  void auditor.admitted(audit as unknown as RequestAudit, admitted, isImpersonating);
  return { annotations, steps, impersonatedUser: audit.impersonatedUser };
}

/** The annotations of a request that was admitted so. */
function annotated(admitted: Admitted): Readonly<Record<string, string>> {
  return told(admitted).annotations;
}

test('a request that is refused has the decision and its reason in its record, one that nobody could decide about neither', (t) => {
  const decision = 'authorization.orch.io/decision';
  const reason = 'authorization.orch.io/reason';
  const refusal = { user: USER, access: ACCESS, reason: 'no' };
  t.deepEqual(annotated({ user: USER }), { [decision]: 'allow', [reason]: '' });
  t.deepEqual(annotated({ user: USER, refusal }), { [decision]: 'forbid', [reason]: 'no' });
  t.deepEqual(annotated({ user: USER, refusal: { ...refusal, error: 'gone' } }), { [reason]: 'internal error' });
});

test('whom a request runs as is recorded where that is not who asks, and no decision about it where they may not', (t) => {
  const impersonator = { ...USER, name: 'admin' };
  const refusal = { user: impersonator, access: ACCESS, reason: 'no' };
  t.deepEqual(told({ user: USER, impersonator }, true), {
    annotations: { 'authorization.orch.io/decision': 'allow', 'authorization.orch.io/reason': '' },
    steps: ['received'],
    impersonatedUser: USER,
  });
  t.is(told({ user: USER }).impersonatedUser, undefined);
  t.deepEqual(told({ user: USER, refusal }, true), {
    annotations: {},
    steps: ['received', 'refused'],
    impersonatedUser: undefined,
  });
});

interface Came {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly remoteAddress?: string;
  readonly user?: typeof USER | null;
}

/** The first event of requests that one auditor is shown, each as it came. */
function recorded(...all: readonly Came[]): readonly UnreadAuditEvent[] {
  const time = new VirtualTime();
  const events: UnreadAuditEvent[] = [];
  const auditor = new Auditor({
    context: { clock: time, timers: time, metrics: NO_METRICS },
    audit: { tell: (message: { readonly events: readonly UnreadAuditEvent[] }) => void events.push(...message.events) },
    policy: { rules: [{ ...ANY, level: 'Metadata', omitStages: [] }] },
    dialect: DIALECTS.orch,
    waits: 'none',
  } as unknown as ConstructorParameters<typeof Auditor>[0]);
  for (const { headers = {}, query = '', remoteAddress = '10.0.0.9', user = USER } of all) {
    const request = {
      method: 'GET',
      path: '/version',
      query,
      remoteAddress,
      header: (name: string) => headers[name] ?? '',
    };
    const exchange = { request, response: {}, requestId: 'ours', longRunning: false, startedMs: time.monotonicMs() };
    void auditor.begin(exchange as unknown as Exchange, user, ACCESS)?.received();
  }
  auditor.flush();
  return events;
}

const ANY = { users: [], userGroups: [], verbs: [], namespaces: [], resources: [], nonResourceURLs: [] };

test('a request is recorded as coming from what its proxies say, and last from where its connection comes', (t) => {
  const forwarded = (text: string): Came => ({ headers: { 'x-forwarded-for': text } });
  const real = (text: string): Came => ({ headers: { 'x-real-ip': text } });
  const cases: readonly (readonly [Came, readonly string[]])[] = [
    [{}, ['10.0.0.9']],
    [{}, ['10.0.0.9']],
    [{ remoteAddress: '10.0.0.8' }, ['10.0.0.8']],
    [{ remoteAddress: '' }, []],
    [forwarded('192.0.2.1'), ['192.0.2.1', '10.0.0.9']],
    [forwarded('192.0.2.1 , nobody,,2001:db8::1'), ['192.0.2.1', '2001:db8::1', '10.0.0.9']],
    [forwarded('192.0.2.1, 10.0.0.9'), ['192.0.2.1', '10.0.0.9']],
    [forwarded('10.0.0.9, 192.0.2.1'), ['10.0.0.9', '192.0.2.1', '10.0.0.9']],
    [real('192.0.2.2'), ['192.0.2.2', '10.0.0.9']],
    [real('nobody'), ['10.0.0.9']],
    [{ headers: { 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.2' } }, ['192.0.2.1', '192.0.2.2', '10.0.0.9']],
    [{ headers: { 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.1' } }, ['192.0.2.1', '10.0.0.9']],
    [{ ...forwarded('192.0.2.1'), remoteAddress: '' }, ['192.0.2.1']],
  ];
  const events = recorded(...cases.map(([came]) => came));
  t.deepEqual(
    events.map(({ request }) => request.sourceIPs),
    cases.map(([, addresses]) => addresses),
  );
});

test('an address that a proxy spells in another way is recorded in the usual one, and once', (t) => {
  const [event] = recorded({
    headers: { 'x-forwarded-for': '2001:DB8:0::01, ::ffff:10.0.0.9', 'x-real-ip': '2001:db8::1' },
  });
  t.deepEqual(event?.request.sourceIPs, ['2001:db8::1', '10.0.0.9']);
});

test('a request is recorded with its query, the id that its client gave it and the beginning of a long user agent', (t) => {
  const [plain, long] = recorded(
    { query: 'timeout=1s', headers: { 'audit-id': 'theirs', 'user-agent': 'a'.repeat(1024) } },
    { headers: { 'audit-id': 'i'.repeat(1025), 'user-agent': 'a'.repeat(1025) } },
  );
  t.like(plain?.request, { requestURI: '/version?timeout=1s', auditID: 'theirs', userAgent: 'a'.repeat(1024) });
  t.like(long?.request, {
    requestURI: '/version',
    auditID: 'i'.repeat(1024),
    userAgent: `${'a'.repeat(1024)}...TRUNCATED`,
  });
  t.is(recorded({})[0]?.request.auditID, 'ours');
});
