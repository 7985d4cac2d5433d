// The values that the scale of a custom object is made of, wherever the object is written.
import test from 'ava';
import { scaleErrors } from '../../../../api/custom/definitions/scale-values.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';

const SCALE = { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', labelSelectorPath: '.status.s' };
const told = (object: JsonObject, isStatusAlone = false): readonly string[] =>
  scaleErrors(object, SCALE, isStatusAlone).map(({ path, message }) => `${path}: ${message}`);

test('an object whose replicas or selector no scale could have is refused', (t) => {
  t.deepEqual(told({ spec: { r: 3 }, status: { r: 0, s: 'a=b' } }), []);
  t.deepEqual(told({ spec: null }), []);
  t.deepEqual(told({ spec: { r: -1 }, status: { r: 2 ** 31 } }), [
    '.spec.r: Invalid value: -1: should be a non-negative integer',
    '.status.r: Invalid value: 2147483648: should be less than or equal to 2147483647',
  ]);
  t.deepEqual(told({ spec: { r: 9007199254740993n } }), [
    '.spec.r: Invalid value: 9007199254740993: should be less than or equal to 2147483647',
  ]);
  t.deepEqual(told({ spec: { r: '1' }, status: { s: 7 } }), [
    '.spec.r: Invalid value: 0: .spec.r accessor error: 1 is of the type string, expected int64',
    '.status.s: Invalid value: "": .status.s accessor error: 7 is of the type int64, expected string',
  ]);
  t.deepEqual(told({ spec: { r: { b: 'c', a: [1, 'x'] } } }), [
    '.spec.r: Invalid value: 0: .spec.r accessor error: map[a:[1 x] b:c] is of the type map[string]interface {}, expected int64',
  ]);
  t.deepEqual(told({ spec: 'x' }), [
    '.spec.r: Invalid value: 0: .spec.r accessor error: x is of the type string, expected map[string]interface{}',
  ]);
});

test('who writes the status alone is told of the status alone', (t) => {
  t.deepEqual(told({ spec: { r: -1 } }, true), []);
});

test('an object of a kind without a scale is held to nothing of it', (t) => {
  t.deepEqual(scaleErrors({ spec: { r: -1 } }, undefined, false), []);
});
