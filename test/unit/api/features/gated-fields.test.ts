// Every row of the table of gated fields, on objects that hold nothing else: dropped while the gate is closed, kept while it
// is open, and kept where the stored object uses the feature.
import test from 'ava';
import { gatedFieldDropper } from '../../../../api/features/drop-gated.ts';
import { GATED_FIELDS } from '../../../../api/features/gated-fields.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { FeatureGateName } from '../../../../config/feature-gates.ts';
import { FEATURE_GATE_TABLE } from '../../../../config/options/feature-gate-table.ts';

const schema = schemaOf(DIALECTS.orch);

/** The steps from a kind to a place where a type stands. */
type Path = readonly { readonly name: string; readonly cardinality: string }[];

/** The kinds under which a type stands, each with one way to it. */
function placesOf(wanted: string): readonly { readonly root: TypeSchema; readonly path: Path }[] {
  return schema.typeNames
    .map((name) => schema.type(name))
    .filter(({ hasTypeMeta, kind }) => hasTypeMeta && !kind.endsWith('List'))
    .flatMap((root) => {
      const path = pathTo(root, wanted, new Set());
      return path === undefined ? [] : [{ root, path }];
    });
}

function pathTo(type: TypeSchema, wanted: string, seen: Set<TypeSchema>): Path | undefined {
  if (type.name === wanted || type.name.replace(/\/[^.]*/, '') === wanted) return [];
  if (type.form !== 'message' || seen.has(type)) return undefined;
  seen.add(type);
  for (const field of type.fields) {
    const rest = field.type === undefined ? undefined : pathTo(field.type, wanted, seen);
    if (rest !== undefined) return [{ name: field.name, cardinality: field.cardinality }, ...rest];
  }
  return undefined;
}

/** An object that holds `value` at the end of a path, besides a neighbour that no gate guards. */
function objectWith(path: Path, field: string, value: unknown): Record<string, unknown> {
  const [step, ...rest] = path;
  if (step === undefined) return { neighbour: 1, [field]: value };
  const inner = objectWith(rest, field, value);
  const member = step.cardinality === 'list' ? [{}, inner] : step.cardinality === 'map' ? { key: inner } : inner;
  return { [step.name]: member };
}

const closed = (gate: FeatureGateName) => (name: FeatureGateName) => name !== gate;
const VALUE = { kind: 'Foreign', apiGroup: 'x.test', name: 'x' };

let rows = 0;
for (const [typeName, fields] of Object.entries(GATED_FIELDS)) {
  for (const { field, gate, kinds, instead, most } of fields) {
    rows++;
    test(`${field} of ${typeName} goes with the gate ${gate}`, (t) => {
      const places = placesOf(typeName).filter(({ root }) => kinds?.includes(root.kind) ?? true);
      t.true(places.length > 0);
      const value = most === undefined ? VALUE : Array.from({ length: most + 1 }, () => VALUE);
      for (const { root, path } of places) {
        const given = (): Record<string, unknown> => objectWith(path, field, value);
        const without = objectWith(path, field, value);
        let end: Record<string, unknown> = without;
        for (const { name, cardinality } of path) {
          const member = end[name] as Record<string, unknown>;
          end = (
            cardinality === 'list' ? (member as unknown as unknown[])[1] : cardinality === 'map' ? member.key : member
          ) as Record<string, unknown>;
        }
        if (most !== undefined) end[field] = Array.from({ length: most }, () => VALUE);
        else if (instead === undefined) delete end[field];
        else end[field] = instead;
        const drop = gatedFieldDropper(closed(gate));
        const dropped = given();
        drop(dropped, undefined, root);
        t.deepEqual(dropped, without, root.name);
        const inUse = given();
        drop(inUse, given(), root);
        t.deepEqual(inUse, given(), root.name);
        const notInUse = given();
        drop(notInUse, without as JsonObject, root);
        t.deepEqual(notInUse, without, root.name);
        const open = given();
        gatedFieldDropper(() => true)(open, undefined, root);
        t.deepEqual(open, given(), root.name);
      }
    });
  }
}

test('every gate of the table of fields is one there is, and the table is not empty', (t) => {
  const names = new Set<string>(FEATURE_GATE_TABLE.map(({ name }) => name));
  for (const fields of Object.values(GATED_FIELDS)) for (const { gate } of fields) t.true(names.has(gate), gate);
  t.true(rows > 40);
});

test('the source of a claim that was always possible is kept', (t) => {
  const drop = gatedFieldDropper(closed('AnyVolumeDataSource'));
  const claim = schema.kind('', 'v1', 'PersistentVolumeClaim')!;
  for (const dataSource of [
    { kind: 'PersistentVolumeClaim', name: 'x' },
    { kind: 'VolumeSnapshot', apiGroup: 'snapshot.storage.orch.io', name: 'x' },
  ]) {
    const object = { spec: { dataSource } };
    drop(object, undefined, claim);
    t.deepEqual(object, { spec: { dataSource } });
  }
});

test('a feature that one part of the stored object uses is kept in every part of the new one', (t) => {
  const drop = gatedFieldDropper(closed('ProcMountType'));
  const pod = schema.kind('', 'v1', 'Pod')!;
  const container = (name: string): JsonObject => ({ name, securityContext: { procMount: 'Unmasked' } });
  const object = { spec: { containers: [container('a')], initContainers: [container('b')] } };
  drop(object, { spec: { containers: [container('a')] } }, pod);
  t.deepEqual(object, { spec: { containers: [container('a')], initContainers: [container('b')] } });
});

test('a way to mount /proc that is gated becomes the usual one, which is kept', (t) => {
  const drop = gatedFieldDropper(closed('ProcMountType'));
  const pod = schema.kind('', 'v1', 'Pod')!;
  for (const procMount of ['Unmasked', 'Default']) {
    const object = { spec: { containers: [{ name: 'a', securityContext: { procMount } }] } };
    drop(object, undefined, pod);
    t.deepEqual(object.spec.containers, [{ name: 'a', securityContext: { procMount: 'Default' } }]);
  }
});

test('values of odd shapes are passed over', (t) => {
  const drop = gatedFieldDropper(() => false);
  const pod = schema.kind('', 'v1', 'Pod')!;
  for (const spec of [null, 1, 'x', [], { containers: null }, { containers: [null, 1, 'x'] }, { volumes: {} }]) {
    const object = { spec };
    drop(object, undefined, pod);
    t.deepEqual(object, { spec });
  }
});
