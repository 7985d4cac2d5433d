// Objects that are made the same way have one hidden class in V8: with one of its own each, no cache of the code that reads them
// helps, and the class takes more room than the object.
import { setFlagsFromString } from 'node:v8';
import test from 'ava';
import { renaming } from '../../../api/conversion/step.ts';
import { ownCopy } from '../../../api/json/own-copy.ts';
import { applyMergePatch } from '../../../api/patch/merge-patch.ts';
import { notFound } from '../../../api/status/failures.ts';
import { invalidFrom, required } from '../../../api/status/field-error.ts';

setFlagsFromString('--allow-natives-syntax');
const haveOneClass = new Function('one', 'other', 'return %HaveSameMap(one, other) && %HasFastProperties(one)') as (
  one: object,
  other: object,
) => boolean;

// As in a server, copies are made of objects of many classes.
for (let n = 0; n < 20; n++) ownCopy({ [`member${n}`]: n });

const PODS = { group: '', plural: 'pods' };

/** How often a thing is made before two of them are compared: V8 learns with the first few. */
const TIMES = 20;

const MADE: readonly (readonly [what: string, make: (n: number) => object])[] = [
  ['a refusal', (n) => notFound(PODS, `pod-${n}`)],
  ['what a refusal is about', (n) => notFound(PODS, `pod-${n}`).details!],
  ['what an invalid object is told', (n) => invalidFrom('Pod', '', `pod-${n}`, [required('spec', '')]).details!],
  ['an object that a merge patch adds to', (n) => applyMergePatch({ a: 1, b: 2 }, { c: n })],
  ['an object that a merge patch takes from', (n) => applyMergePatch({ a: n, b: 2, c: 3 }, { b: null })],
  [
    'what a merge patch puts into a list',
    (n) => (applyMergePatch({}, { list: [{ a: n, b: null }] }).list as object[])[0]!,
  ],
  ['an object in another version', (n) => renaming({ note: 'message' }).up({ a: 1, note: `n${n}` }, {} as never)],
];

for (const [what, make] of MADE) {
  test(`${what} has the hidden class of others like it`, (t) => {
    const made = Array.from({ length: TIMES }, (_, n) => make(n));
    t.true(haveOneClass(made.at(-1)!, made.at(-2)!));
  });
}
