// JSON and merge patches: the standards' own examples, and what holds of any two documents. The patches of differences are
// made here, by code that shares nothing with what applies them.
import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import { applyJsonPatch } from '../../../../api/patch/json-patch.ts';
import { applyMergePatch } from '../../../../api/patch/merge-patch.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { casesOf } from '../../../server/effort.ts';
import { frozen } from '../sample-type.ts';
import { RFC_6902, RFC_7386 } from './rfc-vectors.ts';

const RUN = { numRuns: casesOf(100), seed: 20_211_206 };

for (const [section, document, patch, expected] of RFC_6902) {
  test(`RFC 6902, ${section}`, (t) => {
    const apply = (): JsonObject => applyJsonPatch(frozen(document), frozen(patch));
    if (expected !== undefined) t.deepEqual(apply(), expected);
    else t.true(isStatusError(t.throws(apply)));
  });
}

for (const [index, [original, patch, result]] of RFC_7386.entries()) {
  test(`RFC 7386, appendix A, example ${index + 1}`, (t) => {
    t.deepEqual(applyMergePatch(frozen({ v: original }), frozen({ v: patch })), { v: result });
  });
}

const key = fc.constantFrom('a', 'b', 'c', '', '/', '~', '~1', 'a/b', 'constructor', 'é');
const scalar = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('', 'x', 'y'), fc.boolean());
const { document, full } = fc.letrec<{ value: unknown; document: JsonObject; full: JsonObject; member: unknown }>(
  (tie) => ({
    value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('document')),
    document: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
    member: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.constant(null),
      fc.array(tie('member'), { maxLength: 3 }),
      tie('full'),
    ),
    /** With nulls as well. */
    full: fc.dictionary(key, tie('member'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  }),
);

test('the JSON patch of the difference between two documents turns the one into the other', (t) => {
  fc.assert(
    fc.property(full, full, (before, after) => {
      const patch = operations('', before, after);
      t.deepEqual(applyJsonPatch(frozen(before), frozen(patch)), after);
    }),
    RUN,
  );
});

test('a JSON patch that tests what there was applies, and is refused on anything else', (t) => {
  fc.assert(
    fc.property(full, full, (before, other) => {
      const patch = [{ op: 'test', path: '', value: before }];
      t.deepEqual(applyJsonPatch(frozen(before), patch), before);
      if (JSON.stringify(sorted(before)) === JSON.stringify(sorted(other))) return;
      t.true(isStatusError(t.throws(() => applyJsonPatch(frozen(other), patch))));
    }),
    RUN,
  );
});

test('the merge patch of the difference between two documents turns the one into the other, once or twice', (t) => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const patch = frozen(mergePatch(before, after));
      const patched = applyMergePatch(frozen(before), patch);
      t.deepEqual(patched, after);
      t.deepEqual(applyMergePatch(patched, patch), after);
    }),
    RUN,
  );
});

test('a merge patch does what the algorithm of RFC 7386 does, but for nulls in lists', (t) => {
  fc.assert(
    fc.property(full, full, (before, patch) => {
      t.deepEqual(applyMergePatch(frozen(before), frozen(patch)), merged(before, patch) as JsonObject);
    }),
    RUN,
  );
});

test('whatever a patch says of prototypes, none is changed', (t) => {
  const name = fc.constantFrom('__proto__', 'constructor', 'prototype', 'a');
  const nasty = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, scalar, fc.dictionary(name, tie('value'), { maxKeys: 3 })),
  })).value;
  const pointer = fc.array(name, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join('/')}`);
  const step = fc.record({
    op: fc.constantFrom('add', 'replace', 'copy', 'move'),
    path: pointer,
    from: pointer,
    value: nasty,
  });
  fc.assert(
    fc.property(full, nasty, fc.array(step, { maxLength: 4 }), (before, patch, steps) => {
      for (const patched of [() => applyMergePatch(before, patch), () => applyJsonPatch(before, steps)]) {
        try {
          t.is(Object.getPrototypeOf(patched()), Object.prototype);
        } catch (error) {
          if (!isStatusError(error)) throw error;
        }
        t.is(({} as { a?: unknown }).a, undefined);
        t.is({}.constructor, Object);
      }
    }),
    RUN,
  );
});

function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  const copy = { ...object };
  Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true });
  return copy;
}

function own(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** RFC 7386, section 2. */
function merged(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return isJsonObject(target) ? patch : pruned(patch);
  if (!isJsonObject(patch)) return patch;
  let result: JsonObject = isJsonObject(target) ? target : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null) result = withMember(result, name, merged(own(result, name), value));
    else if (Object.hasOwn(result, name)) {
      const left = Object.entries(result).filter(([other]) => other !== name);
      result = left.reduce<JsonObject>((object, [other, kept]) => withMember(object, other, kept), {});
    }
  }
  return result;
}

/** Without nulls, at any depth. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((element) => element !== null).map(pruned);
  if (!isJsonObject(value)) return value;
  const left = Object.entries(value).filter(([, member]) => member !== null);
  return left.reduce<JsonObject>((object, [name, member]) => withMember(object, name, pruned(member)), {});
}

function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  let patch: JsonObject = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch = withMember(patch, name, null);
  for (const [name, value] of Object.entries(after)) {
    const earlier = own(before, name);
    if (isJsonObject(value) && isJsonObject(earlier)) patch = withMember(patch, name, mergePatch(earlier, value));
    else if (JSON.stringify(earlier) !== JSON.stringify(value)) patch = withMember(patch, name, value);
  }
  return patch;
}

/** Removals from the end, then changes, then additions: what a simple client would say. */
function operations(path: string, before: unknown, after: unknown): object[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const shared = Math.min(before.length, after.length);
    const gone = before
      .slice(shared)
      .map((_, index) => ({ op: 'remove', path: `${path}/${before.length - 1 - index}` }));
    const changed = before
      .slice(0, shared)
      .flatMap((value, index) => operations(`${path}/${index}`, value, after[index]));
    const added = after.slice(shared).map((value) => ({ op: 'add', path: `${path}/-`, value }));
    return [...gone, ...changed, ...added];
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const at = (name: string): string => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
    return [
      ...gone.map((name) => ({ op: 'remove', path: at(name) })),
      ...Object.entries(after).flatMap(([name, value]) =>
        Object.hasOwn(before, name)
          ? operations(at(name), before[name], value)
          : [{ op: 'add', path: at(name), value }],
      ),
    ];
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ op: 'replace', path, value: after }];
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
