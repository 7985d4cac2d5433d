// What a definition in a protected group is told when nobody has approved of it.
import test from 'ava';
import { approvalProblem } from '../../../../api/custom/definitions/api-approval.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { validationOf } from '../validation/objects.ts';

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

const VALIDATION = validationOf('kubernetes');

function protectedDefinition(version: 'v1' | 'v1beta1', approved: string) {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const spec = {
    group: 'sample.k8s.io',
    scope: 'Namespaced',
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
    versions: [{ name: 'v1', served: true, storage: true, ...(version === 'v1' && { schema }) }],
    conversion: { strategy: 'None' },
    preserveUnknownFields: version === 'v1beta1',
  };
  const annotations = approved === '' ? {} : { 'api-approved.kubernetes.io': approved };
  const group = 'apiextensions.k8s.io';
  const kind = 'CustomResourceDefinition';
  const status = { storedVersions: ['v1'] };
  const object = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'foos.sample.k8s.io', annotations },
    spec,
    status,
  };
  return { object, type: { group, version, kind } };
}

test('a definition in a protected group needs no approval when it is written in v1beta1, as in Kubernetes', (t) => {
  const lacking = ['metadata.annotations[api-approved.kubernetes.io]'];
  for (const [version, paths] of [
    ['v1', lacking],
    ['v1beta1', []],
  ] as const) {
    const { object: none, type } = protectedDefinition(version, '');
    const { object: approved } = protectedDefinition(version, 'https://example.com/1');
    const { object: odd } = protectedDefinition(version, 'soon');
    const told = (errors: readonly FieldError[]) => errors.map(({ path }) => path);
    t.deepEqual(told(VALIDATION.create(none, type)), paths, `${version}: made without`);
    t.deepEqual(told(VALIDATION.create(odd, type)), paths, `${version}: made with what is none`);
    t.deepEqual(told(VALIDATION.update(none, approved, type, '')), paths, `${version}: taken away`);
    t.deepEqual(told(VALIDATION.update(none, none, type, '')), [], `${version}: as it was`);
  }
});
