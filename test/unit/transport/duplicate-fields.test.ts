import test from 'ava';
import { duplicateFields } from '../../../transport/duplicate-fields.ts';

const cases: readonly (readonly [json: string, paths: readonly string[]])[] = [
  ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"a":2,"a":3}', ['a']],
  ['{"spec":{"list":[{"x":1},{"y":1,"y":[{"z":1,"z":2}]}]}}', ['spec.list[1].y', 'spec.list[1].y[0].z']],
  ['{"a\\u0062":1,"ab":2}', ['ab']],
  ['{"a":"\\"a\\":","a\\"":1}', []],
  ['{"":1,"":2}', ['']],
  ['{ "a" : [ ] , "b" : { } , "b" : "}{" }', ['b']],
  ['[[{"a":1,"a":1}]]', ['[0][0].a']],
  ['"a"', []],
  ['{"__proto__":1,"constructor":1,"constructor":2}', ['constructor']],
];

for (const [json, paths] of cases) {
  test(`finds what ${json} says twice`, (t) => {
    t.notThrows(() => JSON.parse(json));
    t.deepEqual(duplicateFields(json), paths);
  });
}

test('tells at most a hundred fields of a body', (t) => {
  const twice = Array.from({ length: 150 }, (_, index) => `"f${index}":1,"f${index}":2`);
  t.is(duplicateFields(`{${twice.join(',')}}`).length, 100);
});
