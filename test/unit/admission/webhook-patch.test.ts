// What a webhook's patch makes of an object, and what it leaves as it is.
import test from 'ava';
import { NO_OBJECT } from '../../../actors/admission/attributes.ts';
import type { Hook } from '../../../actors/admission/hooks/hook.ts';
import { patchedBy } from '../../../actors/admission/plugins/mutating-admission-webhook/webhook-patch.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { frozen } from '../api/sample-type.ts';

const schema = schemaOf(DIALECTS.orch);

/** Of a built-in object, whose schema is looked up by what it says that it is. */
const patchOf = (object: JsonObject, answer: Parameters<typeof patchedBy>[1]) =>
  patchedBy({ name: 'w' } as Hook, answer, { object } as Parameters<typeof patchedBy>[2], schema, () => true);

function patched(object: JsonObject, operations: readonly object[]) {
  const answer = { patch: JSON.stringify(operations), patchType: 'JSONPatch' };
  return patchOf(object, answer as Parameters<typeof patchedBy>[1]);
}

test('what a patch leaves alone is still others’, and is not changed in being completed', (t) => {
  const object = frozen({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const made = patched(object, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }])?.object;
  const { metadata, spec } = made as unknown as { metadata: object; spec: { containers: object[] } };
  t.like(metadata, { name: 'a', labels: { a: 'b' } });
  t.like(spec.containers[0], { image: 'i', imagePullPolicy: 'Always' });
  t.is((object.spec.containers[0] as Record<string, unknown>).imagePullPolicy, undefined);
});

test('a patch without operations changes nothing, also where there is no object that could be changed', (t) => {
  t.is(patched(NO_OBJECT, []), undefined);
  const error = t.throws(() => patched(NO_OBJECT, [{ op: 'add', path: '/a', value: 1 }]));
  t.true(isStatusError(error) && error.status.code === 500);
});

test('a patch that nests without end refuses the write, also where nothing of that becomes part of the object', (t) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const patch = `[{"op":"add","path":"/data","value":{"a":"b"},"why":${deep}}]`;
  const answer = { patch, patchType: 'JSONPatch' } as Parameters<typeof patchedBy>[1];
  const error = t.throws(() => patchOf(object, answer));
  t.true(isStatusError(error) && error.status.code === 500);
  t.regex(error!.message, /the patch of admission webhook "w" nests deeper than 1000 levels$/);
});

test('a half of a character in a patch is U+FFFD, as in whatever else is written', (t) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const patch = '[{"op":"add","path":"/data","value":{"a":"x\\ud800y"}}]';
  const answer = { patch, patchType: 'JSONPatch' } as Parameters<typeof patchedBy>[1];
  t.deepEqual(patchOf(object, answer)?.object?.data, { a: 'x\ufffdy' });
});

test('a patch that would write the prototype key refuses the write and says so', (t) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const answer = { patch: '[{"op":"add","path":"/data","value":{"__proto__":"b"}}]', patchType: 'JSONPatch' };
  const error = t.throws(() => patchOf(object, answer as Parameters<typeof patchedBy>[1]));
  t.true(isStatusError(error) && error.status.code === 500);
  t.regex(error!.message, /the patch of admission webhook "w" cannot be read: the body has a field named "__proto__"$/);
});

test('a patch that takes away what a built-in object says that it is leaves it what it is, and makes it nothing else', (t) => {
  const metadata = { name: 'a', creationTimestamp: null };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } };
  const removals = ['/kind', '/apiVersion'].map((path) => ({ op: 'remove', path }));
  t.is(patched(object, removals)?.object, undefined);
  t.deepEqual(patched(object, [...removals, { op: 'replace', path: '/data/a', value: 'c' }])?.object, {
    ...object,
    data: { a: 'c' },
  });
  t.throws(() => patched(object, [{ op: 'replace', path: '/kind', value: 'Secret' }]), {
    message: /makes another kind/,
  });
  const custom = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
  t.throws(() => patched(custom, removals), { message: /makes another kind/ });
});
