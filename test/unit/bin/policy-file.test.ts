// The policy file of ABAC, as a start reads it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { policyText } from '../../../bin/files/policy-file.ts';
import { DIALECTS } from '../../../config/dialect.ts';

for (const [dialect, group] of [
  ['kubernetes', 'abac.authorization.kubernetes.io'],
  ['orch', 'abac.authorization.orch.io'],
] as const) {
  test(`a policy of the dialect ${dialect} is of the group ${group}, and of no other`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-policy-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'policy');
    const line = (of: string): string =>
      JSON.stringify({ apiVersion: `${of}/v1beta1`, kind: 'Policy', spec: { user: 'a' } });
    writeFileSync(path, line(group));
    t.is(policyText(path, DIALECTS[dialect]), line(group));
    writeFileSync(path, line('abac.authorization.k8s.io'));
    t.throws(() => policyText(path, DIALECTS[dialect]), {
      message: new RegExp(`:1: apiVersion must be ${group}/v1beta1`),
    });
  });
}
