// What it costs to find out who asks and whether they may: the same read under Node,RBAC by a service account's token, and
// under AlwaysAllow by a static token. Slices of both take turns, so that whatever else the machine does falls on both.
import { DIALECTS } from '../../config/dialect.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import { sum } from '../figures/slices.ts';
import type { LoadResult } from '../load-protocol.ts';
import { BENCH_NAMESPACE, createRequest } from '../objects.ts';
import { repeat } from '../populate.ts';
import { addReadObjects, medianCpuRatio, readInTurns } from '../read-turns.ts';

const ROLES = 1000;
const BINDINGS = 2000;
/** Of the bindings, those of the account that reads. */
const OWN_BINDINGS = 10;
const ROUNDS = 8;
/** CPU a read, over that of the static token, that is meant not to be passed. */
const CPU_RATIO_BUDGET = 1.25;

const ACCOUNTS = `/api/v1/namespaces/${BENCH_NAMESPACE}/serviceaccounts`;
const RBAC_GROUP = DIALECTS.orch.spell('rbac.authorization.@group');
const RBAC = `/apis/${RBAC_GROUP}/v1/namespaces/${BENCH_NAMESPACE}`;

export const auth: Workload = {
  name: 'auth',
  summary: 'Reads by a service account under 2,000 role bindings, beside reads by a static token',
  async run(bench, report) {
    bench.requireOwnServer('auth');
    const { plain, judged } = await bench.withTarget(
      (open) =>
        bench.withTarget(
          async (closed) => {
            await Promise.all([open, closed].map((target) => addReadObjects(bench, target)));
            const authorization = `Bearer ${await addPolicy(bench, closed)}`;
            const reader = { ...closed, endpoint: { ...closed.endpoint, authorization } };
            const [plain, judged] = await readInTurns(bench, [open, reader], ROUNDS);
            return { plain: plain!, judged: judged! };
          },
          ['authorization-mode=Node,RBAC'],
        ),
      ['authorization-mode=AlwaysAllow'],
    );
    const parameters = { connections: bench.connections, roles: ROLES, bindings: BINDINGS, rounds: ROUNDS };
    const floor = floorFigures('AlwaysAllow, static token', sum(plain));
    const details = { medianCpuRatio: medianCpuRatio(judged, plain), budget: CPU_RATIO_BUDGET };
    report(figuresOf({ workload: 'auth', parameters, unit: 'requests', result: sum(judged), floor, details }));
  },
};

/** Roles and bindings, and a service account that some of them are for. Resolves with its token. */
async function addPolicy(bench: Bench, target: Target): Promise<string> {
  const rules = [{ apiGroups: [''], resources: ['configmaps', 'pods'], verbs: ['get', 'list', 'watch'] }];
  await repeat(
    bench,
    target,
    createRequest(`${RBAC}/roles`, JSON.stringify({ metadata: { name: 'r-{seq}' }, rules })),
    ROLES,
  );
  const bind = (name: string, account: string, count: number): Promise<LoadResult> =>
    repeat(bench, target, createRequest(`${RBAC}/rolebindings`, bindingOf(name, account)), count);
  await bind('others-{seq}', 'account-{seq}', BINDINGS - OWN_BINDINGS);
  await target.client.expect('POST', ACCOUNTS, JSON.stringify({ metadata: { name: 'reader' } }));
  await bind('own-{seq}', 'reader', OWN_BINDINGS);
  const issued = await target.client.expect('POST', `${ACCOUNTS}/reader/token`, '{"spec":{}}');
  return (JSON.parse(issued) as { status: { token: string } }).status.token;
}

function bindingOf(name: string, account: string): string {
  return JSON.stringify({
    metadata: { name },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: 'r-{object}' },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: BENCH_NAMESPACE }],
  });
}
