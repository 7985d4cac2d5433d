// What a list is asked for: which part of a collection, and how fresh (SPEC.md "Query parameters" and "Resource-version
// semantics"). The same for lists and for what is done to a listed collection. Pure.
import { int64Parameter } from './requests/int64-parameter.ts';
import type { KnownType } from './resources/resource-table.ts';
import { parseFieldTerms, storedFieldSelector } from './selectors/field-selector.ts';
import { parseLabelSelector } from './selectors/label-selector.ts';
import { badRequest, quote } from './status/failures.ts';
import { type FieldError, forbidden as forbiddenField, invalidFrom, notSupported } from './status/field-error.ts';
import { StatusError } from './status/status.ts';

/** How fresh a list must be. */
export type ListFreshness =
  | { readonly kind: 'mostRecent' }
  | { readonly kind: 'any' }
  | { readonly kind: 'notOlderThan'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

/** The parameters by name; undefined for one that is not there. */
export interface ListParameters {
  get(name: string): string | undefined;
}

/** Which objects of a collection. */
export interface Selectors {
  readonly labelSelector: string;
  /** In the names under which fields are stored. */
  readonly fieldSelector: string;
}

export interface ListOptions extends Selectors {
  /** 0: no limit. */
  readonly limit: number;
  /** Empty: from the beginning. */
  readonly continueToken: string;
  readonly freshness: ListFreshness;
}

/** What lists and watches are asked for alike. */
export interface AskedOptions extends Selectors {
  /** 0: no limit. */
  readonly limit: number;
  /** Of a watch. 0: the server chooses; one that is negative has passed. */
  readonly timeoutSeconds: number;
}

/** What is said of a resourceVersionMatch, in a list or in a watch. Throws 422. */
type MatchCheck = (parameters: ListParameters, metaGroup: string) => void;

/**
 * What a list or a watch is asked for, but for its version. All of it is checked whoever asks, and in the order of 1.21: of
 * several things that are wrong, clients are told the first. Throws 400 and 422.
 */
export function askedOptions(
  type: KnownType,
  parameters: ListParameters,
  metaGroup: string,
  checkMatch: MatchCheck,
): AskedOptions {
  const timeoutSeconds = countParameter(parameters, 'timeoutSeconds');
  const limit = Math.max(0, countParameter(parameters, 'limit'));
  const labelSelector = parameters.get('labelSelector') ?? '';
  if (labelSelector !== '') parseLabelSelector(labelSelector);
  const fieldText = parameters.get('fieldSelector') ?? '';
  const terms = fieldText === '' ? undefined : parseFieldTerms(fieldText);
  checkMatch(parameters, metaGroup);
  const fieldSelector = terms === undefined ? '' : storedFieldSelector(terms, type);
  return { labelSelector, fieldSelector, limit, timeoutSeconds };
}

/** Every cell of the list table: match × paging × version. Throws 400 and 422. */
export function listOptions(type: KnownType, parameters: ListParameters, metaGroup: string): ListOptions {
  const { labelSelector, fieldSelector, limit } = askedOptions(type, parameters, metaGroup, checkMatchOfList);
  const continueToken = parameters.get('continue') ?? '';
  const version = parseVersion(parameters.get('resourceVersion'));
  if (continueToken !== '' && version !== undefined && version !== 0) {
    throw new StatusError(badRequest('specifying resource version is not allowed when using continue'));
  }
  const freshness = listFreshness(version, parameters.get('resourceVersionMatch') ?? '', limit);
  return { labelSelector, fieldSelector, limit, continueToken, freshness };
}

function listFreshness(version: number | undefined, match: string, limit: number): ListFreshness {
  if (version === undefined) return { kind: 'mostRecent' };
  if (match === 'Exact') return { kind: 'exact', revision: version };
  if (version === 0) return { kind: 'any' };
  return match === '' && limit > 0 ? { kind: 'exact', revision: version } : { kind: 'notOlderThan', revision: version };
}

/** Throws 422. */
export function checkMatchOfList(parameters: ListParameters, metaGroup: string): void {
  const match = parameters.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const errors = matchErrors(match, parameters.get('resourceVersion') ?? '', parameters.get('continue') ?? '');
  if (errors.length > 0) throw new StatusError(invalidFrom('ListOptions', metaGroup, '', errors));
}

const MATCH = 'resourceVersionMatch';

/** What is wrong with a match, in the order of 1.21. */
function matchErrors(match: string, version: string, continueToken: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (version === '')
    errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (continueToken !== '')
    errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan')
    errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && version === '0')
    errors.push(forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  return errors;
}

/** A watch has no use for a match; what else is wrong with it is told as well. Throws 422. */
export function refuseMatchOfWatch(parameters: ListParameters, metaGroup: string): void {
  const match = parameters.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const others = matchErrors(match, parameters.get('resourceVersion') ?? '', parameters.get('continue') ?? '');
  const error = forbiddenField(MATCH, 'resourceVersionMatch is forbidden for watch');
  throw new StatusError(invalidFrom('ListOptions', metaGroup, '', [error, ...others]));
}

const UINT64_MAX = 2n ** 64n - 1n;

/**
 * A resourceVersion as sent; undefined when unset. One beyond 2^53, which no store of ours reaches, is rounded. Throws 400
 * with the words of 1.21, which answers 500: what a client sends is no failure of the server.
 */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const digits = /^0*(\d{1,20})$/.exec(text)?.[1];
  if (digits !== undefined && (digits.length < 20 || BigInt(digits) <= UINT64_MAX)) return Number(digits);
  const problem = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const detail = `strconv.ParseUint: parsing ${quote(text)}: ${problem}`;
  throw new StatusError(badRequest(`resourceVersion: Invalid value: ${quote(text)}: ${detail}`));
}

/** A parameter that counts something; 0 where it is not given. Throws 400. */
function countParameter(parameters: ListParameters, name: string): number {
  const text = parameters.get(name);
  return text === undefined ? 0 : int64Parameter(text);
}
