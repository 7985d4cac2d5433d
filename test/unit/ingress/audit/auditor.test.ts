// What the record of a request says of the decision about it.
import test from 'ava';
import type { RequestAudit } from '../../../../actors/auditing/request-audit.ts';
import type { Admitted } from '../../../../actors/auth/protocol.ts';
import { Auditor } from '../../../../actors/ingress/audit/auditor.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { NO_METRICS } from '../../controllers/fake-context.ts';

const USER = { name: 'jane', uid: '', groups: [], extra: {} };
const ACCESS = {
  ...{ verb: 'get', isResource: false, group: '', version: '', resource: '', subresource: '' },
  ...{ namespace: '', name: '', path: '/version' },
};

/** The annotations of a request that was admitted so. */
function annotated(admitted: Admitted): Readonly<Record<string, string>> {
  const time = new VirtualTime();
  const auditor = new Auditor({
    context: { clock: time, timers: time, metrics: NO_METRICS },
    dialect: DIALECTS.orch,
    waits: 'none',
  } as unknown as ConstructorParameters<typeof Auditor>[0]);
  const annotations: Record<string, string> = {};
  const audit = {
    received: () => undefined,
    refused: () => undefined,
    annotate: (more: object) => Object.assign(annotations, more),
  };
  void auditor.admitted(audit as unknown as RequestAudit, admitted, false);
  return annotations;
}

test('a request that is refused has the decision and its reason in its record, one that nobody could decide about neither', (t) => {
  const decision = 'authorization.orch.io/decision';
  const reason = 'authorization.orch.io/reason';
  const refusal = { user: USER, access: ACCESS, reason: 'no' };
  t.deepEqual(annotated({ user: USER }), { [decision]: 'allow', [reason]: '' });
  t.deepEqual(annotated({ user: USER, refusal }), { [decision]: 'forbid', [reason]: 'no' });
  t.deepEqual(annotated({ user: USER, refusal: { ...refusal, error: 'gone' } }), { [reason]: 'internal error' });
});
