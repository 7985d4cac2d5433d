// What two servers' answers to one request differ in, once what differs by nature is taken out: uids, versions, times, what was drawn.
import { isJsonObject } from '../../api/json/json-value.ts';
import type { Answer } from '../server/https-client.ts';

/** Values that each server makes of its own. Below them nothing is looked at. */
const DRAWN = new Set([
  ...['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'time', 'selfLink', 'continue'],
]);
const SHOWN_CHARACTERS = 160;

/** A line for each place: `status`, `code` and causes of refusals, places of objects. Empty where both say the same. */
export function differences(original: Answer, ours: Answer): readonly string[] {
  if (original.status !== ours.status) {
    return [`answer: ${original.status} ${why(original)} | ${ours.status} ${why(ours)}`];
  }
  if (original.status >= 400) return refusalDifferences(original, ours);
  const lines: string[] = [];
  compare('', bodyOf(original), bodyOf(ours), lines);
  return lines;
}

/** Why it was refused; nothing where it was not. */
function why(answer: Answer): string {
  return answer.status < 400 ? '' : short(String((bodyOf(answer) as { message?: unknown }).message ?? ''));
}

function refusalDifferences(original: Answer, ours: Answer): readonly string[] {
  const [one, other] = [causesOf(original), causesOf(ours)];
  const lines = [
    ...one.filter((cause) => !other.includes(cause)).map((cause) => `cause ${cause} | –`),
    ...other.filter((cause) => !one.includes(cause)).map((cause) => `cause – | ${cause}`),
  ];
  if (lines.length === 0 && one.join() !== other.join()) lines.push(`order of causes: ${one.join()} | ${other.join()}`);
  const [first, second] = [why(original), why(ours)];
  if (lines.length === 0 && one.length < 2 && first !== second) lines.push(`words: ${first} | ${second}`);
  return lines;
}

/** Each once: the original says some of them twice of an update. */
function causesOf(answer: Answer): readonly string[] {
  const { details } = answer.json;
  return [...new Set((details?.causes ?? []).map(({ field, reason }) => `${plainPath(field)} ${reason}`))];
}

/** The original names what all versions of a definition have alike by where v1beta1 says it for all. */
const FOR_ALL = /^spec\.(?:versions\[\d+\]\.)?(?:schema\.|validation\.|(?=subresources|additionalPrinterColumns))/;

function plainPath(field = ''): string {
  const path = field.replace(FOR_ALL, 'spec.…').replace('JSONPath', 'jsonPath');
  return path
    .replace(/^spec\.conversion\.(?:webhook\.clientConfig|webhookClientConfig)/, 'spec.conversion.client')
    .replace('spec.conversion.webhook.conversion', 'spec.conversion.conversion');
}

function bodyOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch {
    return answer.text;
  }
}

function compare(path: string, one: unknown, other: unknown, lines: string[]): void {
  if (Array.isArray(one) && Array.isArray(other)) {
    for (let at = 0; at < Math.max(one.length, other.length); at++)
      compare(`${path}[${at}]`, one[at] as unknown, other[at] as unknown, lines);
    return;
  }
  if (isJsonObject(one) && isJsonObject(other)) {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (!DRAWN.has(name)) compare(`${path}.${name}`, one[name], other[name], lines);
    return;
  }
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first !== second) lines.push(`${path}: ${short(first)} | ${short(second)}`);
}

function short(text = '–'): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
