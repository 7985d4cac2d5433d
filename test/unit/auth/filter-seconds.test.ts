// Goal: what finding out who asks, whether they may be somebody else, and whether they may ask, each take. Method: a clock that goes on
// by a second with each look, and by more where a method waits.
import test from 'ava';
import { Auth } from '../../../actors/auth/auth.ts';
import { tokenDigest } from '../../../actors/auth/authenticators/token-file.ts';
import type { AuthProtocol } from '../../../actors/auth/protocol.ts';
import { pathAccess } from '../../../api/authorization/attributes.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';

const ADMIN = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };
const BOB = { name: 'bob', uid: '', groups: [], extra: {} };

type Admit = AuthProtocol['asks']['admit']['message'];

/** Admits each request in turn; answers how often each filter was measured, and how long they took together. */
async function measured(...requests: readonly Partial<Admit>[]) {
  const metrics = new MetricsRegistry();
  let nowMs = 0;
  const clock = { nowMs: () => 0, monotonicMs: () => nowMs++ * 1000 };
  const auth = new Auth({ metrics, clock } as unknown as ActorContext, {
    tokens: [
      { digest: tokenDigest('admin'), user: ADMIN },
      { digest: tokenDigest('bob'), user: BOB },
    ],
    anonymous: false,
    modes: ['AlwaysDeny'],
    dialect: DIALECTS.orch,
    methods: {},
    serviceAccounts: undefined,
  });
  for (const request of requests)
    await new Promise((resolve, reject) => {
      const message = { type: 'admit', authorization: '', access: pathAccess('get', '/'), ...request } as const;
      auth.onMessage(message, { isAwaited: true, send: resolve, fail: reject });
    });
  const family = metrics.reading().find(({ name }) => name === 'apiserver_request_filter_duration_seconds')!;
  return Object.fromEntries(
    family.series.map(({ labels, value, counts = [] }) => [
      labels.filter,
      [counts.reduce((sum, count) => sum + count, 0), value],
    ]),
  );
}

test('who is let in was measured in both, whoever is refused only as far as they came', async (t) => {
  t.deepEqual(await measured({ authorization: 'Bearer admin' }), {
    authentication: [1, 1],
    authorization: [1, 1],
    impersonation: [0, 0],
  });
  t.like(await measured({ authorization: 'Bearer bob' }), { authentication: [1, 1], authorization: [0, 0] });
  t.like(await measured({}), { authentication: [1, 1], authorization: [0, 0] });
});

test('who acts as somebody else is measured in between, where they may', async (t) => {
  const impersonate = { ...BOB, groups: ['system:masters'] };
  t.like(await measured({ authorization: 'Bearer admin', impersonate }), {
    authorization: [1, 1],
    impersonation: [1, 1],
  });
  t.like(await measured({ authorization: 'Bearer bob', impersonate }), {
    authorization: [0, 0],
    impersonation: [0, 0],
  });
});
