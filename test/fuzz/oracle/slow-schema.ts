// What a structural schema says of a value, read off the rules one by one, slowly, and without compiling anything: what is
// left of the value when it is pruned, what it is with its defaults, and what is wrong with it. Made to be plainly right;
// shares no code with the server.

type Value = unknown;
type Dict = Record<string, Value>;

const WORD = 'x-orch-';

const isDict = (value: Value): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value);
const dictOf = (value: Value): Dict => (isDict(value) ? value : {});
const listOf = (value: Value): readonly Value[] => (Array.isArray(value) ? (value as Value[]) : []);
const own = (dict: Dict, name: string): Value => (Object.hasOwn(dict, name) ? dict[name] : undefined);

/** The value without what the schema does not know. */
export function slowlyPruned(value: Value, schema: Dict | undefined, isRoot = false, isInOpenList = false): Value {
  const says = schema ?? {};
  const keeps = isInOpenList || own(says, `${WORD}preserve-unknown-fields`) === true;
  const items = own(says, 'items');
  const rest = own(says, 'additionalProperties');
  if (Array.isArray(value)) {
    if (items === undefined && keeps) return value;
    return value.map((item) => slowlyPruned(item, isDict(items) ? items : undefined, false, keeps));
  }
  if (!isDict(value)) return value;
  const isWhole = isRoot || own(says, `${WORD}embedded-resource`) === true;
  const result: Dict = {};
  for (const [name, member] of Object.entries(value)) {
    const property = own(dictOf(own(says, 'properties')), name);
    if (isWhole && ['apiVersion', 'kind', 'metadata'].includes(name)) result[name] = member;
    else if (isDict(property)) result[name] = slowlyPruned(member, property);
    else if (isDict(rest)) result[name] = slowlyPruned(member, rest);
    else if (rest === true) result[name] = slowlyPruned(member, undefined);
    else if (keeps) result[name] = member;
  }
  return result;
}

/** The value with its defaults, without nulls that count as left out. */
export function slowlyDefaulted(value: Value, schema: Dict): Value {
  const whenAbsent = (says: Dict): Value => own(says, 'default') ?? undefined;
  const counts = (member: Value, says: Dict): boolean => member === null && own(says, 'nullable') !== true;
  if (Array.isArray(value)) {
    const items = own(schema, 'items');
    if (!isDict(items)) return value;
    return value.map((item) => {
      const given = counts(item, items) ? whenAbsent(items) : undefined;
      return slowlyDefaulted(given === undefined ? item : structuredClone(given), items);
    });
  }
  if (!isDict(value)) return value;
  const properties = dictOf(own(schema, 'properties'));
  const rest = own(schema, 'additionalProperties');
  const result: Dict = {};
  for (const [name, member] of Object.entries(value)) {
    const property = own(properties, name);
    if (isDict(property)) {
      if (!counts(member, property)) result[name] = slowlyDefaulted(member, property);
    } else if (isDict(rest)) {
      const given = counts(member, rest) ? whenAbsent(rest) : member;
      if (given !== undefined) result[name] = slowlyDefaulted(structuredClone(given), rest);
    } else result[name] = member;
  }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(result, name) || !isDict(property)) continue;
    const given = whenAbsent(property);
    if (given !== undefined) result[name] = slowlyDefaulted(structuredClone(given), property);
  }
  return result;
}

interface Finding {
  /** `path: what`, without the words of the message. */
  readonly wrong: readonly string[];
  /** How much was looked at, by which of several failing alternatives is chosen. */
  readonly weight: number;
}

const NOTHING: Finding = { wrong: [], weight: 0 };
const joined = (all: readonly Finding[]): Finding => ({
  wrong: all.flatMap(({ wrong }) => wrong),
  weight: all.reduce((sum, { weight }) => sum + weight, 0),
});
const found = (path: string, ...what: readonly string[]): Finding => ({
  wrong: what.map((one) => `${path}: ${one}`),
  weight: 0,
});
const seen = (weight: number): Finding => ({ wrong: [], weight });
const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function nameOf(value: Value): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return value === Math.trunc(value) ? 'integer' : 'number';
  return typeof value;
}

/** What is wrong with a value, as `path: keyword`, each once and in the order in which it is told. */
export function slowlyFound(value: Value, schema: Dict): readonly string[] {
  return [...new Set(look(value, schema, '').wrong)];
}

function look(value: Value, schema: Dict, path: string): Finding {
  if (value === null) return joined([lookType(value, schema, path), lookEnum(value, schema, path)]);
  return joined([
    lookType(value, schema, path),
    seen(4),
    lookJunctors(value, schema, path),
    typeof value === 'string' ? lookText(value, schema, path) : NOTHING,
    typeof value === 'number' ? lookNumber(value, schema, path) : NOTHING,
    Array.isArray(value) ? lookList(value as readonly Value[], schema, path) : NOTHING,
    lookEnum(value, schema, path),
    isDict(value) ? lookMembers(value, schema, path) : NOTHING,
  ]);
}

function lookType(value: Value, schema: Dict, path: string): Finding {
  const type = own(schema, 'type');
  const types = own(schema, `${WORD}int-or-string`) === true ? ['integer', 'string'] : type === undefined ? [] : [type];
  if (types.length === 0) return NOTHING;
  const actual = nameOf(value);
  const isRight = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  if (actual === 'null') return own(schema, 'nullable') === true ? seen(1) : found(path, 'type');
  return isRight ? seen(2) : joined([seen(1), found(path, 'type')]);
}

function lookText(text: string, schema: Dict, path: string): Finding {
  const characters = Array.from(text).length;
  const max = own(schema, 'maxLength');
  const min = own(schema, 'minLength');
  const pattern = own(schema, 'pattern');
  if (typeof max === 'number' && characters > max) return joined([seen(1), found(path, 'maxLength')]);
  if (typeof min === 'number' && characters < min) return joined([seen(1), found(path, 'minLength')]);
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text)) {
    return joined([seen(1), found(path, 'pattern')]);
  }
  return seen(1);
}

function lookNumber(value: number, schema: Dict, path: string): Finding {
  // What an integer is held to is one as well, but for factors that would be 0.
  const bound = (given: Value): Value =>
    typeof given === 'number' && value === Math.trunc(value) ? Math.trunc(given) : given;
  const minimum = bound(schema.minimum);
  const maximum = bound(schema.maximum);
  const multipleOf = bound(schema.multipleOf) === 0 ? schema.multipleOf : bound(schema.multipleOf);
  const wrong: string[] = [];
  // Numbers here have two decimals at most.
  const cents = (number: number): number => Math.round(number * 100);
  if (typeof multipleOf === 'number' && cents(value) % cents(multipleOf) !== 0) wrong.push('multipleOf');
  if (typeof minimum === 'number' && !(own(schema, 'exclusiveMinimum') === true ? value > minimum : value >= minimum)) {
    wrong.push('minimum');
  }
  if (typeof maximum === 'number' && !(own(schema, 'exclusiveMaximum') === true ? value < maximum : value <= maximum)) {
    wrong.push('maximum');
  }
  return joined([seen(2), found(path, ...wrong)]);
}

function lookList(list: readonly Value[], schema: Dict, path: string): Finding {
  const items = own(schema, 'items');
  const { minItems, maxItems } = schema;
  return joined([
    seen(2),
    ...(isDict(items) ? list.map((item) => look(item, items, path)) : []),
    typeof minItems === 'number' && list.length < minItems ? found(path, 'minItems') : NOTHING,
    typeof maxItems === 'number' && list.length > maxItems ? found(path, 'maxItems') : NOTHING,
  ]);
}

/** Written out, members in order. */
function written(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  if (!isDict(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${written(value[name])}`).join()}}`;
}

function lookEnum(value: Value, schema: Dict, path: string): Finding {
  const allowed = listOf(own(schema, 'enum'));
  if (allowed.length === 0) return NOTHING;
  const isListed = value !== null && allowed.some((one) => written(one) === written(value));
  return isListed ? NOTHING : found(path, 'enum');
}

function lookMembers(dict: Dict, schema: Dict, path: string): Finding {
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(dict).length;
  if (typeof minProperties === 'number' && count < minProperties)
    return joined([seen(1), found(path, 'minProperties')]);
  if (typeof maxProperties === 'number' && count > maxProperties)
    return joined([seen(1), found(path, 'maxProperties')]);
  const rest = own(schema, 'additionalProperties');
  const inside = Object.entries(dict).map(([name, member]) => {
    const property = own(dictOf(own(schema, 'properties')), name) ?? rest;
    return isDict(property) ? look(member, property, below(path, name)) : NOTHING;
  });
  const missing = listOf(own(schema, 'required')).filter((name) => !Object.hasOwn(dict, name as string));
  return joined([seen(1), ...inside, ...missing.map((name) => found(below(path, name as string), 'required'))]);
}

function lookJunctors(value: Value, schema: Dict, path: string): Finding {
  const tried = (name: string): readonly Finding[] =>
    listOf(own(schema, name)).map((part) => look(value, dictOf(part), path));
  const isRight = ({ wrong }: Finding): boolean => wrong.length === 0;
  const best = (all: readonly Finding[]): Finding =>
    all.reduce((most, one) => (one.weight > most.weight ? one : most), all[0]!);
  const any = tried('anyOf');
  const one = tried('oneOf');
  const every = tried('allOf');
  const inverse = own(schema, 'not');
  const results: Finding[] = [];
  if (any.length > 0) results.push(any.find(isRight) ?? joined([found(`<nil> "${path}"`, 'anyOf'), best(any)]));
  const right = one.filter(isRight).length;
  if (right === 1) results.push(one.find(isRight)!);
  else if (one.length > 0) {
    results.push(joined([found(`<nil> "${path}"`, 'oneOf'), right === 0 ? best(one) : NOTHING]));
  }
  results.push(...every);
  if (!every.every(isRight)) results.push(found(`<nil> "${path}"`, 'allOf'));
  if (isDict(inverse) && isRight(look(value, inverse, path))) results.push(found(`<nil> "${path}"`, 'not'));
  return joined(results);
}
