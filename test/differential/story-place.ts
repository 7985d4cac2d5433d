// What a story is about and what its steps are made of.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Dice } from '../fuzz/generate/dice.ts';
import type { Asked } from './report.ts';

/** What each of the servers has made of the same thing: a version, a uid, an object. */
export interface Pair<T> {
  readonly original: T;
  readonly ours: T;
}

export type Side = keyof Pair<unknown>;

/** What a story is about, and what it has come to. */
export interface Scene {
  readonly namespace: string;
  readonly types: readonly KnownType[];
  /** What was last answered of each object, by its path. */
  readonly objects: Map<string, Pair<JsonObject>>;
  /** Versions that were answered, the latest last. */
  readonly versions: Pair<string>[];
  /** `continue` of the last list, with the path that it was asked of. */
  token?: { readonly path: string; readonly value: Pair<string> };
}

/** A request of which each server is told its own versions and uids. */
export type Step = Omit<Asked, 'path' | 'body'> & {
  readonly path: (side: Side) => string;
  readonly body?: (side: Side) => object;
};

export interface Place {
  readonly dice: Dice;
  readonly scene: Scene;
  readonly type: KnownType;
  readonly all: string;
  readonly one: string;
  readonly name: string;
  /** What there is under the name. */
  readonly found: Pair<JsonObject> | undefined;
}

/** A step without the type that it is about. */
export type Made = Omit<Step, 'group' | 'plural' | 'version'>;

export const LABELS = [
  'a=b',
  'a!=b',
  'a in (b,c)',
  '!a',
  'a',
  'app=x',
  'a==b,app',
  'a in ()',
  'a=b=c',
  '=',
  'a>1',
  'a>b',
  'x y',
];

export const same =
  <T>(value: T) =>
  (): T =>
    value;

/** `?a=b&c=d` of those that are said; the values go as they are. */
export function query(...parts: readonly (string | false | undefined)[]): string {
  const said = parts.filter((part) => typeof part === 'string' && part !== '');
  return said.length === 0 ? '' : `?${said.join('&')}`;
}

export const sometimes = (dice: Dice, times: number, text: string): string => (dice.oneIn(times) ? text : '');
