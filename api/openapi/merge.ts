// The document of this server with those of extension servers: of theirs the paths that they answer for, and the definitions that
// those speak of. Pure. What they send may be anything: a document that cannot be used is left out whole.
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject, memberOf } from '../json/json-value.ts';
import { partAt } from '../json/object-fields.ts';
import { freeName } from './definitions.ts';
import type { SwaggerDocument } from './swagger.ts';

/** What an extension server answered at `/openapi/v2`. Plain data. */
export interface RemoteDocument {
  /** The paths of the groups and versions that it answers for. */
  readonly roots: readonly string[];
  readonly text: string;
}

const DEFINITIONS = '#/definitions/';
/** An assignment under this name would not make a member. */
const NO_NAME = '__proto__';

/**
 * The merged document. Paths of this server stay its own; a definition of the same name that says something else gets another name.
 *
 * @param use throws for a document that could not be sent.
 */
export function withRemoteDocuments(
  document: SwaggerDocument,
  remotes: readonly RemoteDocument[],
  use: (part: SwaggerDocument) => void,
): SwaggerDocument {
  let merged = document;
  for (const remote of remotes) {
    try {
      const part = partOf(merged, remote);
      use({ ...merged, ...part } as SwaggerDocument);
      merged = {
        ...merged,
        paths: { ...part.paths, ...merged.paths },
        definitions: { ...merged.definitions, ...part.definitions },
      } as SwaggerDocument;
    } catch {
      // Nothing of it is shown.
    }
  }
  return merged;
}

interface Part {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

function partOf(document: SwaggerDocument, { roots, text }: RemoteDocument): Part {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new TypeError('no document');
  const isAnswered = (path: string): boolean => roots.some((root) => path === root || path.startsWith(`${root}/`));
  const answered = Object.entries(partAt(value, 'paths')).filter(([path]) => isAnswered(path));
  const paths = Object.fromEntries(answered.map(([path, item]) => [path, spelledOut(item, value)]));
  const theirs = partAt(value, 'definitions');
  const used = referredTo(paths, theirs);
  const names = namesFor(used, theirs, document.definitions as JsonObject);
  const rename = (part: unknown): unknown => renamed(part, names);
  const definitions = [...names].map(([name, to]) => [to, rename(theirs[name])] as const);
  return { paths: rename(paths) as JsonObject, definitions: Object.fromEntries(definitions) };
}

/** What their definitions are called beside ours: as they are, where ours say the same in everything that they speak of. */
function namesFor(used: ReadonlySet<string>, theirs: JsonObject, ours: JsonObject): ReadonlyMap<string, string> {
  const spokenOf = new Map([...used].map((name) => [name, namesIn(theirs[name])]));
  const others = new Set([...used].filter((name) => Object.hasOwn(ours, name) && !deepEqual(ours[name], theirs[name])));
  for (let before = -1; before < others.size; ) {
    before = others.size;
    for (const name of used)
      if (Object.hasOwn(ours, name) && spokenOf.get(name)!.some((one) => others.has(one))) others.add(name);
  }
  const isTaken = (name: string, one: string): boolean => {
    if (one === name) return others.has(name);
    // One that speaks of others may mean those of a third document by their names.
    return Object.hasOwn(ours, one)
      ? spokenOf.get(name)!.length > 0 || !deepEqual(ours[one], theirs[name])
      : used.has(one);
  };
  return new Map([...used].map((name) => [name, freeName(name, (one) => isTaken(name, one))]));
}

/** The definitions that something speaks of itself. */
function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isJsonObject(value)) return [];
  const name = nameIn(value);
  return [...(name === undefined ? [] : [name]), ...Object.values(value).flatMap(namesIn)];
}

/** Members of a document that hold parts of its paths by name. */
const NAMED_PARTS = /^#\/(parameters|responses)\/(.+)$/;
/** What a document may say once for all its operations. */
const OF_ALL_OPERATIONS = ['consumes', 'produces'] as const;

/** A path by itself: with what its document says for all paths, and the parts that it only names. */
function spelledOut(item: unknown, document: JsonObject): JsonObject {
  const spelled = withNamedParts(item, document);
  if (!isJsonObject(spelled)) throw new TypeError('a path that is no object');
  const common = OF_ALL_OPERATIONS.flatMap((name) => (document[name] === undefined ? [] : [[name, document[name]]]));
  const operations = Object.entries(spelled).map(([name, member]) => [
    name,
    isJsonObject(member) && !name.startsWith('x-') ? { ...Object.fromEntries(common), ...member } : member,
  ]);
  return Object.fromEntries(operations) as JsonObject;
}

function withNamedParts(value: unknown, document: JsonObject): unknown {
  if (Array.isArray(value)) return value.map((element) => withNamedParts(element, document));
  if (!isJsonObject(value)) return value;
  const [, kind, name] = (typeof value.$ref === 'string' && NAMED_PARTS.exec(value.$ref)) || [];
  if (kind !== undefined) return memberOf(partAt(document, kind), name!) ?? value;
  const members = Object.entries(value).filter(([key]) => key !== NO_NAME);
  return Object.fromEntries(members.map(([key, member]) => [key, withNamedParts(member, document)]));
}

/** The names of the definitions that something speaks of, and of those that they speak of. */
function referredTo(paths: unknown, definitions: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [paths];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) for (const item of value) open.push(item);
    else if (isJsonObject(value)) {
      const name = nameIn(value);
      if (name !== undefined && !found.has(name) && Object.hasOwn(definitions, name) && name !== NO_NAME) {
        found.add(name);
        open.push(definitions[name]);
      }
      for (const member of Object.values(value)) open.push(member);
    }
  }
  return found;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (!isJsonObject(value)) return value;
  const name = nameIn(value);
  const members = Object.entries(value).filter(([key]) => key !== NO_NAME);
  return Object.fromEntries(
    members.map(([key, member]) =>
      key === '$ref' && name !== undefined
        ? [key, DEFINITIONS + (names.get(name) ?? name)]
        : [key, renamed(member, names)],
    ),
  );
}

/** The definition that a schema stands for. */
function nameIn({ $ref }: JsonObject): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(DEFINITIONS) ? $ref.slice(DEFINITIONS.length) : undefined;
}
