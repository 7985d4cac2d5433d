// Lists as long as a body can hold them, where they are held against others of the same object: in time in proportion to their length.
import test from 'ava';
import { readDefinition } from '../../../api/custom/definitions/definition.ts';
import { definitionStatus, takenNames } from '../../../api/custom/definitions/definition-status.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { partAt } from '../../../api/json/object-fields.ts';
import { certificateSigningRequest } from '../../../api/strategy/certificates/certificate-signing-request.ts';
import type { WriteFacts } from '../../../api/strategy/strategy.ts';
import { readinessGatesText } from '../../../api/table/pod-status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { sampleType } from './sample-type.ts';

const NOW = '2026-01-01T00:00:00Z';

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

test('short names that a definition has already are its own, however many', (t) => {
  const names = { plural: 'things', kind: 'Thing', shortNames: many(200_000, (index) => `t${index}`) };
  const object = { spec: { group: 'example.com', names, versions: [] }, status: { acceptedNames: names } };
  const taken = takenNames([readDefinition(object, 1).names]);
  const status = definitionStatus(object, readDefinition(object, 1), taken, '', NOW, DIALECTS.orch);
  t.deepEqual(partAt(status, 'acceptedNames').shortNames, names.shortNames);
});

test('conditions of a certificate request keep their times, however many', (t) => {
  const conditions = many(100_000, (index) => ({ type: `T${index}`, status: 'True' }));
  const stored = { status: { conditions: conditions.map((one) => ({ ...one, lastTransitionTime: 'then' })) } };
  const turned = [...conditions.slice(0, -1), { type: 'T0', status: 'False' }];
  const facts = { subresource: 'approval', nowIso: NOW, type: sampleType() } as WriteFacts;
  const { status } = certificateSigningRequest.onUpdate!({ status: { conditions: turned } }, stored, facts);
  const after = (status as { conditions: readonly JsonObject[] }).conditions;
  t.deepEqual(after[1], { type: 'T1', status: 'True', lastUpdateTime: NOW, lastTransitionTime: 'then' });
  t.deepEqual(after.at(-1), { type: 'T0', status: 'False', lastUpdateTime: NOW, lastTransitionTime: NOW });
});

test('readiness gates of a pod are counted, however many', (t) => {
  const conditions = many(100_000, (index) => ({ type: `T${index}`, status: 'True' }));
  const readinessGates = conditions.map(({ type }) => ({ conditionType: type }));
  const again = { type: 'T0', status: 'False' };
  t.is(
    readinessGatesText({ spec: { readinessGates }, status: { conditions: [again, ...conditions] } }),
    '99999/100000',
  );
});
