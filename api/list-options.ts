// What a list is asked for: which part of a collection, and how fresh (SPEC.md "Query parameters" and "Resource-version
// semantics"). The same for lists and for what is done to a listed collection. Pure.
import type { KnownType } from './resources/resource-table.ts';
import { storedFieldSelector } from './selectors/field-selector.ts';
import { parseLabelSelector } from './selectors/label-selector.ts';
import { badRequest, unnamedError } from './status/failures.ts';
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

/** The selectors, checked. Throws 400. */
export function selectorsOf(type: KnownType, parameters: ListParameters): Selectors {
  const labelSelector = parameters.get('labelSelector') ?? '';
  const fieldSelector = parameters.get('fieldSelector') ?? '';
  if (labelSelector !== '') parseLabelSelector(labelSelector);
  return { labelSelector, fieldSelector: fieldSelector === '' ? '' : storedFieldSelector(fieldSelector, type) };
}

/** Every cell of the list table: match × paging × version. Throws 400 and 422. */
export function listOptions(type: KnownType, parameters: ListParameters, metaGroup: string): ListOptions {
  const selectors = selectorsOf(type, parameters);
  return { ...selectors, ...pageOf(parameters, metaGroup) };
}

/** The part of a list that is asked for, and its version. Throws 400 and 422. */
export function pageOf(parameters: ListParameters, metaGroup: string): Omit<ListOptions, keyof Selectors> {
  const { limit } = countsOf(parameters);
  const continueToken = parameters.get('continue') ?? '';
  const match = parameters.get('resourceVersionMatch') ?? '';
  const versionText = parameters.get('resourceVersion') ?? '';
  checkMatch(match, versionText, continueToken, metaGroup);
  const version = parseVersion(versionText);
  if (continueToken !== '' && version !== undefined && version !== 0) {
    throw new StatusError(badRequest('specifying resource version is not allowed when using continue'));
  }
  return { limit, continueToken, freshness: listFreshness(version, match, limit) };
}

function listFreshness(version: number | undefined, match: string, limit: number): ListFreshness {
  if (version === undefined) return { kind: 'mostRecent' };
  if (match === 'Exact') return { kind: 'exact', revision: version };
  if (version === 0) return { kind: 'any' };
  return match === '' && limit > 0 ? { kind: 'exact', revision: version } : { kind: 'notOlderThan', revision: version };
}

function checkMatch(match: string, version: string, continueToken: string, metaGroup: string): void {
  if (match === '') return;
  const errors: FieldError[] = [];
  const path = 'resourceVersionMatch';
  if (continueToken !== '')
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden when continue is provided'));
  if (version === '')
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan')
    errors.push(notSupported(path, match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && version === '0')
    errors.push(forbiddenField(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  if (errors.length > 0) throw new StatusError(invalidFrom('ListOptions', metaGroup, '', errors));
}

/** A resourceVersion as sent; undefined when unset. Throws for what no version of ours looks like. */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const version = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(version)) {
    throw new StatusError({
      ...unnamedError(`invalid resource version ${JSON.stringify(text)}`),
      reason: 'BadRequest',
      code: 400,
    });
  }
  return version;
}

/** The numbers among the parameters, all of them whoever asks: a list that could not be read whole is refused. Throws 400. */
export function countsOf(parameters: ListParameters): { readonly limit: number; readonly timeoutSeconds: number } {
  return { limit: countParameter(parameters, 'limit'), timeoutSeconds: countParameter(parameters, 'timeoutSeconds') };
}

/** A parameter that counts something; 0 where it is not given, or negative. Throws 400. */
function countParameter(parameters: ListParameters, name: string): number {
  const text = parameters.get(name);
  if (text === undefined || text === '') return 0;
  if (!/^-?\d{1,15}$/.test(text))
    throw new StatusError(badRequest(`${name} must be an integer, not ${JSON.stringify(text)}`));
  return Math.max(0, Number(text));
}
