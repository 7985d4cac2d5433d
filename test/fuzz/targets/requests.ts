// Addresses: the query, the path with what it asks for, and the parameters of reads.
import { EXTRA_PATHS } from '../../../actors/ingress/paths/paths.ts';
import { refusalOfPath } from '../../../actors/ingress/paths/served-paths.ts';
import { getFreshness, listQuery, watchStart } from '../../../actors/ingress/reads/read-parameters.ts';
import { parseQuery } from '../../../api/requests/query.ts';
import { authorizationNamespace, parseRequestInfo } from '../../../api/requests/request-info.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT } from '../generate/documents.ts';
import { ODD_TEXTS } from '../generate/junk.ts';
import { mutatedText, repetition } from '../generate/mutate-text.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { accepted, requireSame, type Target, Violation } from '../target.ts';
import { fieldSelectorText, labelSelectorText } from './selectors.ts';

export const REGISTRY = createRegistry(DIALECT, { featureGates: { EphemeralContainers: true } });
const TYPES = REGISTRY.all();

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'get', 'X'];
const OTHER_PATHS: readonly string[] = [
  ...['/', '/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/version', '/healthz/ping', '/x'],
  ...EXTRA_PATHS,
];
const PIECES: readonly string[] = [
  '/',
  '//',
  '%2F',
  '/..',
  '/.',
  '%',
  '%2',
  '%00',
  '?',
  'a',
  '/proxy/x',
  '/watch',
  'ä',
  '%C3%A4',
];
const NUMBERS: readonly string[] = [
  '0',
  '1',
  '-1',
  '500',
  '1e3',
  '9007199254740993',
  '99999999999999999999',
  '',
  ' 1',
  '0x1',
];
const BOOLEANS: readonly string[] = ['true', 'false', '1', '0', '', 'True', 'x'];
const PARAMETERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['limit', NUMBERS],
  ['resourceVersion', NUMBERS],
  ['resourceVersionMatch', ['Exact', 'NotOlderThan', '', 'x']],
  ['timeoutSeconds', NUMBERS],
  ['watch', BOOLEANS],
  ['allowWatchBookmarks', BOOLEANS],
  ['sendInitialEvents', BOOLEANS],
  ['pretty', BOOLEANS],
  ['includeObject', ['None', 'Metadata', 'Object', '', 'x']],
  ['dryRun', ['All', '', 'x']],
  ['fieldManager', ['a', '', 'x'.repeat(200), '\n']],
  ['force', BOOLEANS],
  ['gracePeriodSeconds', NUMBERS],
  ['propagationPolicy', ['Orphan', 'Background', 'Foreground', 'x']],
  ['fieldValidation', ['Strict', 'Warn', 'Ignore', 'x']],
  ['continue', ['a', 'AAAAAAAAAAAAAAAAAAAAAAAA', '%']],
];

/** The path of something: a resource nearly always. */
export function pathText(dice: Dice): string {
  if (dice.oneIn(12)) return dice.pick(OTHER_PATHS);
  const type = dice.pick(TYPES);
  let path = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  if (dice.oneIn(20)) path += dice.pick(['/watch', '/proxy']);
  if (type.namespaced ? !dice.oneIn(6) : dice.oneIn(20))
    path += `/namespaces/${dice.pick(['default', 'fuzz', 'none'])}`;
  path += `/${type.plural}`;
  if (dice.oneIn(2)) path += `/${encodeURIComponent(dice.pick(['a', 'web', 'default', 'x.y', 'système']))}`;
  if (dice.oneIn(4)) path += `/${dice.pick([...type.subresources.keys(), 'status', 'none', 'proxy/a/b/'])}`;
  return dice.oneIn(3) ? mutatedText(path, dice, PIECES) : path;
}

/** The query of a read or write, without its `?`. */
export function queryText(dice: Dice): string {
  const parts: string[] = [];
  for (let left = dice.small(5); left > 0; left--) {
    const roll = dice.below(8);
    if (roll === 0) parts.push(`labelSelector=${encodedText(labelSelectorText(dice), dice)}`);
    else if (roll === 1) parts.push(`fieldSelector=${encodedText(fieldSelectorText(dice), dice)}`);
    else {
      const [name, values] = dice.pick(PARAMETERS);
      parts.push(`${name}=${encodedText(dice.pick(dice.oneIn(8) ? ODD_TEXTS : values), dice)}`);
    }
  }
  const query = parts.join('&');
  return dice.oneIn(4)
    ? mutatedText(query, dice, ['&', '=', '+', '%', '%4', 'watch', 'labelSelector=', '%F0%9F'])
    : query;
}

/** Percent-encoded as clients do; sometimes not at all. Lone surrogates have no encoding. */
function encodedText(text: string, dice: Dice): string {
  return dice.oneIn(10) ? text : encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd'));
}

function generate(dice: Dice): Input {
  const isLong = dice.oneIn(2000);
  return {
    text: {
      method: dice.pick(METHODS),
      path: isLong ? repetition(dice, PIECES, 20_000) : pathText(dice),
      query: isLong ? repetition(dice, ['&', '=', 'a', 'a=b&', '%20', '+'], 20_000) : queryText(dice),
    },
    body: NO_BYTES,
  };
}

function run({ text: { method = '', path = '', query = '' } }: Input): void {
  const parsed = parseQuery(query);
  const info = parseRequestInfo(method, path, parsed);
  requireSame(JSON.stringify(parseRequestInfo(method, path, query)), JSON.stringify(info), 'the query read twice');
  if (!info.isResource) return;
  if ([info.namespace, info.name, info.resource].some((part) => part === '..' || part.includes('/')))
    throw new Violation(`a part of ${path} climbs`);
  authorizationNamespace(info);
  const type = REGISTRY.byPath(info.group, info.version, info.resource);
  if (type === undefined) return;
  refusalOfPath(type, info, method);
  accepted(() => getFreshness(parsed));
  const list = accepted(() => listQuery(info, type, parsed, DIALECT.metaGroup));
  if (list !== undefined && !(list.limit >= 0)) throw new Violation(`a limit of ${list.limit}`);
  accepted(() => watchStart(info, type, parsed, DIALECT.metaGroup));
}

export const requests: Target = { name: 'requests', weight: 13, generate, run };
