// What keeps a stored definition from being structural, its schemas or that it prunes nothing: older versions of the API let such in.

import type { Dialect } from '../../config/dialect.ts';
import type { Definition } from '../custom/definitions/definition.ts';
import { parseSchema } from '../custom/definitions/schema-text.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { Report } from './report.ts';
import { checkCustomSchema } from './structural-schema.ts';

const PROBLEMS_LISTED_MAX = 20;

/** Empty where nothing does. */
export function schemaProblemsOf({ versions, keepsUnknown }: Definition, dialect: Dialect): string {
  const errors: FieldError[] = keepsUnknown ? [invalid('spec.preserveUnknownFields', true, 'must be false')] : [];
  for (const [index, { schemaText, hasStatus }] of versions.entries()) {
    if (schemaText === undefined) continue;
    const schema = parseSchema(schemaText);
    const report = new Report(dialect, { allowPrivileged: false, gate: () => false });
    report.begin(schema);
    report.enter(`spec.versions[${index}].schema.openAPIV3Schema`);
    checkCustomSchema(schema, { structural: true, mayDefault: true, anyType: true, hasStatus }, report);
    report.leave();
    errors.push(...report.end());
  }
  const texts = errors.slice(0, PROBLEMS_LISTED_MAX).map(({ path, message }) => `${path}: ${message}`);
  return texts.length > 1 ? `[${texts.join(', ')}]` : (texts[0] ?? '');
}
