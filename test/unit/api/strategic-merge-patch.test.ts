// Strategic merge patches: what merging by the schema makes of lists, what the directives do, what is refused, and that
// neither the document nor the patch is changed.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { applyStrategicMergePatch } from '../../../api/patch/strategic-merge-patch.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { frozen } from './sample-type.ts';
import { DIRECTIVES, REFUSALS } from './strategic-directive-cases.ts';
import { CONTAINER, MERGES } from './strategic-merge-cases.ts';

const schema = schemaOf(DIALECTS.orch);

for (const { does, type, document, patch, expected } of MERGES) {
  test(`a strategic merge patch ${does}`, (t) => {
    t.deepEqual(outcomeOf(document, patch, type), expected);
  });
}
for (const { does, type, document, patch, expected } of DIRECTIVES) {
  test(`a strategic merge patch: ${does}`, (t) => {
    t.deepEqual(outcomeOf(document, patch, type), expected);
  });
}
for (const { does, type, document, patch, expected } of REFUSALS) {
  test(`a strategic merge patch refuses ${does}`, (t) => {
    t.is(outcomeOf(document, patch, type), expected);
  });
}

test('refusals of a strategic merge patch are in the words that users look up', (t) => {
  const patches: readonly (readonly [patch: JsonObject, text: string])[] = [
    [
      { containers: [{ image: 'x', env: [], tty: true }] },
      'map: map[env:[] image:x tty:true] does not contain declared merge key: name',
    ],
    [{ securityContext: { $retainKeys: 'runAsUser' } }, 'invalid patch format of retainKeys'],
    [{ securityContext: { $retainKeys: [7] } }, 'invalid patch format of retainKeys'],
    [{ securityContext: { $retainKeys: ['runAsUser'], runAsGroup: 1 } }, 'invalid patch format of retainKeys'],
    [{ securityContext: { $patch: 'move' } }, 'unknown patch type: move in map: map[$patch:move]'],
    [
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'a' }, { name: 'a', image: 'x' }] },
      "The order in patch list:\n[map[name:a] map[image:x name:a]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b' }, { name: 'c', $patch: 'delete' }] },
      "The order in patch list:\n[map[name:b] map[$patch:delete name:c]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
  ];
  for (const [patch, message] of patches) {
    t.throws(() => applyStrategicMergePatch({}, frozen(patch), schema.type('core/v1.PodSpec')), { message });
  }
});

test('a strategic merge patch refuses $patch: merge where there is something to merge with', (t) => {
  const type = schema.type('core/v1.PodSpec');
  const document = frozen({ securityContext: { runAsUser: 1 }, containers: [{ name: 'a' }] });
  const refused = (patch: JsonObject, message: string): void => {
    t.throws(() => applyStrategicMergePatch(document, frozen(patch), type), { message });
  };
  refused({ $patch: 'merge' }, 'unknown patch type: merge in map: map[$patch:merge]');
  refused(
    { securityContext: { $patch: 'merge', fsGroup: 2 } },
    'unknown patch type: merge in map: map[$patch:merge fsGroup:2]',
  );
  refused({ containers: [{ $patch: 'merge', name: 'a' }] }, 'merging lists cannot yet be specified in the patch');
});

test('a strategic merge patch that changes nothing answers the document itself', (t) => {
  const document = frozen({
    metadata: { finalizers: ['a', 'b'], labels: { x: 'y' } },
    spec: { containers: [{ name: 'a', args: ['1'] }], volumes: [{ name: 'v' }] },
  });
  const patches: JsonObject[] = [
    {},
    { metadata: { labels: { x: 'y', z: null } } },
    { metadata: { finalizers: [] }, spec: { containers: [] } },
    { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['z'] } },
  ];
  for (const patch of patches) {
    t.is(applyStrategicMergePatch(document, frozen(patch), schema.type('core/v1.Pod')), document);
  }
});

test('a strategic merge patch of long lists takes time in proportion to them', (t) => {
  const count = 30_000;
  const ports = Array.from({ length: count }, (_, index) => ({ containerPort: 1, protocol: `P${index % 3}` }));
  const patch = { ports: ports.map((port, index) => ({ ...port, protocol: `Q${index}` })) };
  const merged = applyStrategicMergePatch({ ports }, patch, schema.type(CONTAINER));
  t.is((merged.ports as unknown[]).length, count);
});

function outcomeOf(document: JsonObject, patch: unknown, type: string | undefined): JsonObject | number {
  try {
    return applyStrategicMergePatch(
      frozen(document),
      frozen(patch),
      type === undefined ? undefined : schema.type(type),
    );
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.status.code ?? 0;
  }
}
