// What the answers to one request differ in: code, reason, details and causes of refusals, the headers that clients go by, and what the
// answer is otherwise. What is in it, cases and stories compare.
import type { Answer, ApiObject } from '../server/https-client.ts';
import { differences } from './differences.ts';

const HEADERS = [
  'content-type',
  'cache-control',
  'retry-after',
  'allow',
  'www-authenticate',
  'location',
  'content-encoding',
];
/** Only whether they are there is compared. */
const DRAWN_HEADERS = ['audit-id', 'last-modified', 'etag'];
const WORDS_MAX = 300;
const DETAILS = ['name', 'group', 'kind', 'retryAfterSeconds'];

/** Empty where both say the same. Words are not compared, since those of refusals may be our own; they tell why only one refuses. */
export function requestLines(original: Answer, ours: Answer): readonly string[] {
  const [one, other] = [told(original), told(ours)];
  if (one !== other) {
    const isTaken = original.status < 400 || ours.status < 400;
    return [`answer: ${one}${isTaken ? why(original) : ''} | ${other}${isTaken ? why(ours) : ''}`];
  }
  const lines = [
    ...HEADERS.map((name) => line(`header ${name}`, original.headers[name], ours.headers[name])),
    ...DRAWN_HEADERS.map((name) => line(`has ${name}`, name in original.headers, name in ours.headers)),
  ].filter((found) => found !== '');
  if (!isJson(original) || !isJson(ours)) return lines;
  const [first, second] = [original.json, ours.json];
  if (original.status < 400) lines.push(line('what', whatIs(first), whatIs(second)));
  else {
    for (const name of DETAILS) lines.push(line(`details.${name}`, first.details?.[name], second.details?.[name]));
    lines.push(...differences(original, ours).filter((found) => !found.startsWith('words: ')));
  }
  return lines.filter((found) => found !== '');
}

function told(answer: Answer): string {
  const reason = answer.status >= 400 && isJson(answer) ? answer.json.reason : undefined;
  return reason === undefined ? String(answer.status) : `${answer.status} ${reason}`;
}

/** Of what kind an answer is, and its members. */
function whatIs(answer: ApiObject): string {
  return `${answer.apiVersion ?? ''} ${answer.kind ?? ''} of ${Object.keys(answer).sort().join()}`;
}

/** Why it was refused, after what it was told with; nothing where it was not. */
function why(answer: Answer): string {
  if (answer.status < 400) return '';
  const words = (isJson(answer) ? answer.json.message : answer.text) ?? '';
  return ` ${words.slice(0, WORDS_MAX).replaceAll('\n', ' ')}`;
}

function isJson({ headers, text }: Answer): boolean {
  return /json/.test(headers['content-type'] ?? '') && text !== '';
}

function line(name: string, one: unknown, other: unknown): string {
  return one === other ? '' : `${name}: ${String(one ?? '–')} | ${String(other ?? '–')}`;
}
