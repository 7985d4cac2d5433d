// What a definition in a protected group is told when nobody has approved of it.
import test from 'ava';
import { approvalProblem } from '../../../../api/custom/api-approval.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

test('what a protected group lacks in approval is told in the words of Kubernetes, with where to read of it', (t) => {
  const needed = 'protected groups must have approval annotation "api-approved.kubernetes.io"';
  const page = 'see https://github.com/kubernetes/enhancements/pull/1111';
  t.is(approvalProblem(DIALECTS.kubernetes, 'missing'), `${needed}, ${page}`);
  t.is(
    approvalProblem(DIALECTS.kubernetes, 'invalid'),
    `${needed} with either a URL or a reason starting with "unapproved", ${page}`,
  );
  t.false(approvalProblem(DIALECTS.orch, 'missing').includes('see'));
});
