// Tables of cases for admission plugins: what is there, what is written, and what comes of it. Every case has a server of its own
// kind of plugin, and starts with the objects that the table names.
import test, { type ExecutionContext } from 'ava';
import type { AdmissionPluginKind } from '../../../../actors/admission/plugins/plugin.ts';
import type { WriteVerb } from '../../../../api/verbs.ts';
import { AdmissionWorld, type Answered, type Request } from '../admission-world.ts';

/** An object, and the collection it is created in. */
export type Present = readonly [collection: string, object: object];

export interface PluginCase {
  /** `a pod without a class`: the subject of the title. */
  readonly what: string;
  /** Beside what is there for all cases. */
  readonly present?: readonly Present[];
  readonly verb?: WriteVerb;
  readonly path: string;
  readonly request?: Request;
  readonly body?: object;
  readonly user?: Request['user'];
  /** Members of the answer, as `matches` compares them; a code alone: it succeeds with that. */
  readonly becomes?: object;
  /** The whole message of the refusal, and its code where that is not 403. */
  readonly refused?: string | RegExp;
  readonly code?: number;
}

export interface PluginTable {
  readonly plugins: readonly AdmissionPluginKind[];
  readonly configurations?: Readonly<Record<string, unknown>>;
  readonly featureGates?: string;
  readonly authorizationModes?: string;
  /** Other options of the server. */
  readonly args?: readonly string[];
  /** Who makes what is there for all cases. */
  readonly user?: Request['user'];
  readonly namespaces?: readonly string[];
  readonly present?: readonly Present[];
}

/** A test for each case. Each has a server of its own. */
export function testPlugin(name: string, table: PluginTable, cases: readonly PluginCase[]): void {
  for (const one of cases) {
    test(`${name}: ${one.what} ${one.refused === undefined ? 'is taken' : 'is refused'}`, async (t) => {
      const world = await AdmissionWorld.start(table);
      for (const [collection, object] of [...(table.present ?? []), ...(one.present ?? [])])
        await world.created(collection, object, {}, table.user);
      const { verb = 'create', path, body, request = {}, user } = one;
      const answer = await world.write(verb, path, { ...request, ...(body && { body }), ...(user && { user }) });
      check(t, one, answer);
      await world.stop();
    });
  }
}

function check(t: ExecutionContext, { refused, code, becomes, verb = 'create' }: PluginCase, answer: Answered): void {
  if (refused !== undefined) {
    t.is(answer.code, code ?? 403, answer.body.message);
    if (typeof refused === 'string') t.is(answer.body.message, refused);
    else t.regex(answer.body.message, refused);
    return;
  }
  t.is(answer.code, code ?? (verb === 'create' ? 201 : 200), answer.body.message);
  if (becomes !== undefined) t.deepEqual(like(answer.body, becomes), becomes);
}

/** Of a value the members that another one has, and theirs; lists and what is no object as they are. */
function like(value: unknown, shape: unknown): unknown {
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape)) {
    if (!Array.isArray(shape) || !Array.isArray(value) || value.length !== shape.length) return value;
    return value.map((item, index) => like(item, shape[index]));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(shape).map(([name, inner]) => [name, like((value as Record<string, unknown>)[name], inner)]),
  );
}

/** A pod with one container, its spec and its container changed. */
export function podOf(spec: object = {}, container: object = {}, metadata: object = {}): object {
  return {
    metadata: { name: 'it', ...metadata },
    spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
  };
}

export const PODS = '/api/v1/namespaces/default/pods';
