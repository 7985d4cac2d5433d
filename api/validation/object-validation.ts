// The validation of whole objects of every built-in kind, beyond their metadata (object-meta.ts): compiles what the
// tables of kinds/ say, kind by kind on first use. Pure; objects are canonical and have their defaults.
import { conversionsOf } from '../conversion/conversion.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { Schema, TypeSchema } from '../schema/schema.ts';
import type { FieldError } from '../status/field-error.ts';
import { NO_FIELD_ERRORS } from '../status/field-error.ts';
import { type ChangeCheck, compileChanges } from './change-rules.ts';
import { entryOf, RuleCompiler } from './compile-rules.ts';
import { CHANGE_RULES, STATUS_CHANGE_RULES, TYPE_RULES } from './kinds/tables.ts';
import { Report, type ValidationSettings } from './report.ts';
import type { Check } from './rule-steps.ts';

/** Which kind, in which version. */
export interface ValidatedType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Answers with the errors of an object; the shared empty list when there are none. Kinds without a schema have none. */
export interface ObjectValidation {
  /** An object to be created. */
  readonly create: (object: JsonObject, type: ValidatedType) => readonly FieldError[];
  /** An object to replace a stored one; `subresource` says which part of it was written. */
  readonly update: (
    next: JsonObject,
    stored: JsonObject,
    type: ValidatedType,
    subresource: string,
  ) => readonly FieldError[];
}

/** Versions that are looked at in the form of another one, which says all that they do: errors have its paths. */
const LOOKED_AT_AS: Readonly<Record<string, string>> = {
  'autoscaling/v1.HorizontalPodAutoscaler': 'v2beta2',
  'autoscaling/v2beta1.HorizontalPodAutoscaler': 'v2beta2',
  'node/v1alpha1.RuntimeClass': 'v1',
  'storage/v1alpha1.VolumeAttachment': 'v1',
};

interface KindChecks {
  /** Of everything but metadata and status. */
  readonly object: Check | undefined;
  readonly status: Check | undefined;
  /** Of an update, the rules of a create where they hold again among it. */
  readonly change: ChangeCheck;
  /** By the subresource that has change rules of its own. */
  readonly statusChanges: ReadonlyMap<string, ChangeCheck | undefined>;
}

type CompiledKinds = (type: TypeSchema) => KindChecks;

/** What is compiled says nothing of settings, which the report knows: whoever validates by a schema shares it. */
const compiledBySchema = new WeakMap<Schema, CompiledKinds>();

function compiledOf(schema: Schema): CompiledKinds {
  const compiled = compiledBySchema.get(schema) ?? compiledKinds(new RuleCompiler(schema, TYPE_RULES));
  compiledBySchema.set(schema, compiled);
  return compiled;
}

function compiledKinds(compiler: RuleCompiler): CompiledKinds {
  const kinds = new Map<TypeSchema, KindChecks>();
  return (type) => {
    let checks = kinds.get(type);
    if (checks === undefined) {
      checks = compileKind(type, compiler);
      kinds.set(type, checks);
    }
    return checks;
  };
}

/** The validation of a schema's kinds under a server's settings. Calls must not overlap: it is for one thread. */
export function objectValidation(schema: Schema, settings: ValidationSettings): ObjectValidation {
  const compiled = compiledOf(schema);
  const report = new Report(schema.dialect, settings);
  const typeOf = ({ group, version, kind }: ValidatedType): TypeSchema | undefined => schema.kind(group, version, kind);
  const create: ObjectValidation['create'] = (object, validated) => {
    const type = typeOf(validated);
    if (type === undefined) return NO_FIELD_ERRORS;
    const inForm = otherForm(schema, type);
    if (inForm !== undefined) return create(inForm.convert(object), inForm);
    const check = compiled(type).object;
    if (check === undefined) return NO_FIELD_ERRORS;
    report.begin(object);
    check(object, report);
    return report.end();
  };
  const update: ObjectValidation['update'] = (next, stored, validated, subresource) => {
    const type = typeOf(validated);
    if (type === undefined) return NO_FIELD_ERRORS;
    const inForm = otherForm(schema, type);
    if (inForm !== undefined) return update(inForm.convert(next), inForm.convert(stored), inForm, subresource);
    const checks = compiled(type);
    report.begin(next, stored);
    if (checks.statusChanges.has(subresource)) {
      statusPart(checks.status, next, report);
      checks.statusChanges.get(subresource)?.(next, stored, report);
    } else {
      checks.change(next, stored, report);
    }
    return report.end();
  };
  return { create, update };
}

/** The form that objects of a type are looked at in, where it is not their own. */
function otherForm(schema: Schema, { name, group, version, kind }: TypeSchema) {
  if (!Object.hasOwn(LOOKED_AT_AS, name)) return undefined;
  const looked = { group, version: LOOKED_AT_AS[name]!, kind };
  const { convert } = conversionsOf(schema).between({ group, version, kind }, looked);
  return { ...looked, convert };
}

function statusPart(check: Check | undefined, { status }: JsonObject, report: Report): void {
  if (check === undefined || status === undefined || status === null) return;
  report.enter('status');
  check(status, report);
  report.leave();
}

function compileKind(type: TypeSchema, compiler: RuleCompiler): KindChecks {
  const change = entryOf(CHANGE_RULES, type.name);
  const status = type.field('status')?.type;
  const statusChanges = Object.entries(STATUS_CHANGE_RULES).map(([subresource, table]) => {
    const rules = entryOf(table, type.name);
    return [subresource, rules === undefined ? undefined : compileChanges(rules)] as const;
  });
  const object = compiler.check(type);
  return {
    object,
    status: status === undefined ? undefined : compiler.check(status),
    change: compileChanges(change ?? {}, object),
    statusChanges: new Map(statusChanges),
  };
}
