// Whatever canonical object comes, validation answers: nothing that is missing, empty or odd makes it throw.
import test from 'ava';
import { decode } from '../../../../api/codec/decode.ts';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { strideOf } from '../../../server/effort.ts';
import { validationOf, validObjects } from './objects.ts';

type Path = readonly (string | number)[];

function* places(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* places(item, [...path, index]);
  else if (isJsonObject(value)) for (const name in value) yield* places(value[name], [...path, name]);
}

/** A copy with one place emptied. */
function emptied(object: JsonObject, path: Path, substitute: unknown): JsonObject {
  const copy = jsonCopy(object) as JsonObject;
  let parent: Record<string | number, unknown> = copy as Record<string, unknown>;
  for (const part of path.slice(0, -1)) parent = parent[part] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  if (substitute !== undefined) parent[last] = substitute;
  else if (Array.isArray(parent)) parent.splice(last as number, 1);
  else delete parent[last];
  return copy;
}

/** Of all places and what is put there one in so many; odd, so that every substitute has its turn. */
const STRIDE = strideOf(11);
const SUBSTITUTES: readonly unknown[] = [undefined, null, [], {}, '', 0, -1, 'é/../*', '999999999999999999999'];

/** Canonical, or undefined when the decoder refuses it. */
function canonical(object: JsonObject, schema: Parameters<typeof decode>[1]): JsonObject | undefined {
  try {
    return decode(object, schema).object;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

for (const gates of ['', 'AllAlpha=true']) {
  const validation = validationOf('kubernetes', gates);
  for (const { title, type, object, schema } of validObjects('kubernetes')) {
    test(`no member of ${title} can be missing or odd so that validation fails${gates === '' ? '' : ', all gates on'}`, (t) => {
      let tried = 0;
      let at = title.length;
      const failures = new Set<string>();
      const survives = (step: () => unknown, where: string): void => {
        try {
          step();
        } catch (error) {
          failures.add(
            `${where}: ${String((error as Error).stack)
              .split('\n')
              .slice(0, 3)
              .join()}`,
          );
        }
      };
      for (const path of places(object)) {
        for (const substitute of SUBSTITUTES) {
          if (at++ % STRIDE !== 0) continue;
          const next = canonical(emptied(object, path, substitute), schema);
          if (next === undefined) continue;
          tried++;
          const where = `${path.join('.')} = ${JSON.stringify(substitute)}`;
          survives(() => validation.create(next, type), where);
          for (const subresource of ['', 'status', 'approval']) {
            survives(() => validation.update(next, object, type, subresource), where);
            survives(() => validation.update(object, next, type, subresource), where);
          }
        }
      }
      t.deepEqual([...failures], []);
      t.true(tried > 0);
    });
  }
}

test('an object with nothing in it is refused or accepted, never a failure, in every kind of the schema', (t) => {
  const schema = schemaOf(DIALECTS.orch);
  const validation = validationOf('orch');
  for (const name of schema.typeNames) {
    const type = schema.type(name);
    if (!type.hasTypeMeta) continue;
    const { object } = decode({}, type);
    t.notThrows(() => validation.create(object, type), name);
    t.notThrows(() => validation.update(object, object, type, ''), name);
  }
});
