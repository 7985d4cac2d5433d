// Where definitions and custom objects are checked: here, or in the pool where that would hold the thread.
import test, { type ExecutionContext } from 'ava';
import { LongChecks } from '../../../actors/admission/long-checks.ts';
import { loadPatterns } from '../../../api/custom/checks/patterns.ts';
import type { CustomType } from '../../../api/custom/definitions/custom-type.ts';
import { CustomSchema } from '../../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { objectValidation } from '../../../api/validation/object-validation.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { createJobPool, type JobPool, type PoolJob } from '../../../runtime/jobs/job-pool.ts';

const DIALECT = DIALECTS.orch;
const SCHEMA = schemaOf(DIALECT);
const GROUP = DIALECT.spell('apiextensions.@group');
const DEFINITION_TYPE = { group: GROUP, version: 'v1', kind: 'CustomResourceDefinition' };
/** More than the whole test: only what does not end is late. */
const NEVER_MS = 600_000;
/** Patterns that are more than a thread compiles at once, and more than it keeps. */
const MANY = 600;

test.before(async () => {
  await loadPatterns();
});

/** Checks with a real pool, and the jobs that it was given; `pool: false`: with none. */
function checksOf(t: ExecutionContext, { pool = true } = {}) {
  const jobs: string[] = [];
  const state = { lateAfterMs: NEVER_MS };
  const real = createJobPool();
  t.teardown(() => real.close());
  const counting: JobPool = {
    hasRoom: true,
    run: <Input, Output>(job: PoolJob<Input, Output>, input: Input) => {
      jobs.push(job.name);
      return real.run(job, input);
    },
    stream: () => Promise.reject(new Error('no stream is asked for')),
    close: () => real.close(),
  };
  const after = (_ms: number, callback: () => void) => {
    const timer = setTimeout(callback, state.lateAfterMs);
    return { cancel: () => clearTimeout(timer) };
  };
  const context = {
    timers: { after, soon: (callback: () => void) => setImmediate(callback) },
    log: { warn: () => {}, error: () => {} },
  };
  const checks = new LongChecks({
    context: context as unknown as ConstructorParameters<typeof LongChecks>[0]['context'],
    validation: objectValidation(SCHEMA, { allowPrivileged: true, gate: () => false }),
    dialect: 'orch',
    settings: { allowPrivileged: true, featureGates: '' },
    pool: pool ? counting : undefined,
  });
  return { checks, jobs, state };
}

function customType(schema: JsonObject): CustomType {
  const words = { prefix: DIALECT.openapiExtensionPrefix, metadata: SCHEMA.type('meta/v1.ObjectMeta') };
  const atWork = new CustomSchema({ schema, keepsUnknown: false, ...words });
  return { schema: atWork, version: { schemaText: JSON.stringify(schema) } } as unknown as CustomType;
}

/** A schema of so many members with a pattern each; the last is no pattern where `isWrong`. */
function patterned(count: number, isWrong = false): JsonObject {
  const properties = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `m${at}`,
      { type: 'string', pattern: `^[a-z]{1,${(at % 90) + 1}}x${at}$` },
    ]),
  );
  if (isWrong) properties.wrong = { type: 'string', pattern: '(' };
  return { type: 'object', properties };
}

function definition(schema: JsonObject): JsonObject {
  const names = { plural: 'whales', singular: 'whale', kind: 'Whale', listKind: 'WhaleList' };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const spec = {
    group: 'sea.example.com',
    scope: 'Namespaced',
    names,
    versions: [version],
    conversion: { strategy: 'None' },
  };
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: 'whales.sea.example.com' },
    spec,
  };
}

test('a definition is checked here, and one with many patterns in the pool, to the same errors', async (t) => {
  const { checks, jobs } = checksOf(t);
  const alone = checksOf(t, { pool: false });
  t.deepEqual(checks.errorsInNew(definition(patterned(3)), DEFINITION_TYPE, false), []);
  t.deepEqual(jobs, []);
  for (const isWrong of [false, true]) {
    const large = definition(patterned(MANY, isWrong));
    const errors = await checks.errorsInNew(large, DEFINITION_TYPE, false);
    t.is(errors.length, isWrong ? 1 : 0);
    t.deepEqual(errors, await alone.checks.errorsInNew(large, DEFINITION_TYPE, false));
    t.deepEqual(
      await checks.errorsInChange(large, large, DEFINITION_TYPE, { subresource: '', isLarge: false }),
      errors,
    );
  }
  t.true(jobs.length >= 2);
  t.deepEqual(new Set(jobs), new Set(['errorsInKind']));
});

test('what is large is not tried here first', async (t) => {
  const { checks, jobs } = checksOf(t);
  const small = definition(patterned(3));
  t.deepEqual(await checks.errorsInNew(small, DEFINITION_TYPE, true), []);
  t.deepEqual(await checks.errorsInChange(small, small, DEFINITION_TYPE, { subresource: '', isLarge: true }), []);
  t.deepEqual(jobs, ['errorsInKind', 'errorsInKind']);
});

test('a custom object whose check takes long is checked in the pool, which is told its schema once', async (t) => {
  const { checks, jobs } = checksOf(t);
  const type = customType({ type: 'object', properties: { spec: patterned(MANY) } });
  const good = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`m${at}`, `ax${at}`]));
  t.deepEqual(checks.errorsInCustom({ spec: { m1: 'ax1' } }, type), []);
  t.deepEqual(jobs, []);
  t.deepEqual(await checks.errorsInCustom({ spec: good }, type), []);
  t.deepEqual(jobs, ['errorsInCustom', 'errorsInCustom']);
  const errors = await checks.errorsInCustom({ spec: { ...good, m7: 'AX7' } }, type);
  t.deepEqual(
    errors.map(({ path }) => path),
    ['spec.m7'],
  );
  t.is(jobs.length, 3);
});

test('a check in the pool knows what the object takes the place of', async (t) => {
  const { checks, jobs } = checksOf(t);
  const list = { type: 'array', items: { type: 'string' }, 'x-orch-list-type': 'set' };
  const type = customType({ type: 'object', properties: { spec: patterned(MANY), list } });
  const spec = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`m${at}`, `ax${at}`]));
  const repeats = { spec, list: ['a', 'a'] };
  const errorsAfter = async (before: JsonObject | undefined, isStatusAlone = false): Promise<number> =>
    (await checks.errorsInCustom(repeats, type, before && { before, isStatusAlone })).length;
  t.is(await errorsAfter(undefined), 1);
  t.is(await errorsAfter({ spec }), 1);
  t.is(await errorsAfter(repeats), 0);
  t.is(await errorsAfter({ spec }, true), 0);
  t.true(jobs.length >= 4);
});

test('alternatives of alternatives over many values do not hold the thread', async (t) => {
  const { checks, jobs } = checksOf(t);
  const alternatives = Array.from({ length: 200 }, (_, at) => ({ minimum: at + 1 }));
  const items = { type: 'integer', anyOf: [...alternatives, { minimum: 0 }] };
  const type = customType({ type: 'object', properties: { list: { type: 'array', items } } });
  t.deepEqual(await checks.errorsInCustom({ list: Array.from({ length: 2000 }, () => 0) }, type), []);
  t.true(jobs.length > 0);
});

test('a check that does not end is ended, and the next one is made', async (t) => {
  const { checks, state } = checksOf(t);
  state.lateAfterMs = 200;
  const endless = customType({
    type: 'object',
    properties: { m: { type: 'string', pattern: '(x?){500}(x?y){500}z' } },
  });
  const late = await t.throwsAsync(async () => checks.errorsInCustom({ m: 'x'.repeat(3_000_000) }, endless));
  t.true(isOrchError(late, 'DeadlineExceeded'));
  state.lateAfterMs = NEVER_MS;
  const type = customType({ type: 'object', properties: { spec: patterned(MANY) } });
  const good = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`m${at}`, `ax${at}`]));
  t.deepEqual(await checks.errorsInCustom({ spec: good }, type), []);
});

test('no more checks are taken than may wait, and the others are made', async (t) => {
  const { checks } = checksOf(t);
  const type = customType({ type: 'object', properties: { spec: patterned(MANY) } });
  const good = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`m${at}`, `ax${at}`]));
  const settled = await Promise.allSettled(
    Array.from({ length: 20 }, async () => await checks.errorsInCustom({ spec: good }, type)),
  );
  const refused = settled.filter((one) => one.status === 'rejected');
  t.is(refused.length, 4);
  t.true(refused.every(({ reason }) => isOrchError(reason, 'Overloaded')));
});
