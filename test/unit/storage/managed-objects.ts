// Entries of managedFields as this server writes them, and strings that look like the ends of what they stand in.
import fc from 'fast-check';

export type Members = Readonly<Record<string, unknown>>;

export const entry = (fields: unknown, manager = 'm'): Members => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-02T03:04:05Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
});

/** Any text, those given, and texts of nothing but what JSON is made of. */
export const textLike = (hostile: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(fc.string(), fc.constantFrom(...hostile), fc.string({ unit: fc.constantFrom(...'"\\{}[],:a') }));

/** Labels, or whatever maps texts to texts. */
export const stringsOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Record<string, string>> =>
  fc.dictionary(text, text, { maxKeys: 4 });

/** Field sets of two levels. */
export const fieldsOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Members> =>
  fc.dictionary(text, fc.dictionary(text, fc.constant({}), { maxKeys: 3 }), { maxKeys: 4 });
