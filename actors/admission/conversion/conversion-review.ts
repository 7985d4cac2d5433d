// Reviews by which a definition's webhook converts objects: what it is asked, and what of its answer is taken. An object stays
// the one it is: the webhook may change what it says, its labels and its annotations. Pure.
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { asText, partAt, textAt } from '../../../api/json/object-fields.ts';
import { metadataOf, type ObjectMeta } from '../../../api/metadata/object-meta.ts';
import { validateAnnotations, validateLabels } from '../../../api/metadata/object-meta-rules.ts';
import { qualifiedKind } from '../../../api/resources/resource-table.ts';

export type ConversionReviewVersion = 'v1' | 'v1beta1';

const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'] satisfies ConversionReviewVersion[];
const REVIEW_KIND = 'ConversionReview';

/** An answer that cannot be used, and why. */
export class UnusableConversion extends Error {}

/** What is asked: objects of one kind, to be had in another version of it. */
export interface Question {
  readonly uid: string;
  readonly desiredApiVersion: string;
  /** The objects, each as JSON. */
  readonly objectTexts: readonly string[];
}

/** The version in which a webhook is asked: the first it names that is spoken here; undefined: there is none. */
export function reviewVersionOf(versions: readonly string[]): ConversionReviewVersion | undefined {
  return versions.find((version) => REVIEW_VERSIONS.includes(version)) as ConversionReviewVersion | undefined;
}

/** The review of a question, as JSON. `group`: that of definitions. */
export function conversionReview(group: string, version: ConversionReviewVersion, question: Question): string {
  const { uid, desiredApiVersion: desiredAPIVersion, objectTexts } = question;
  const request = { uid, desiredAPIVersion, objects: [] };
  const review = JSON.stringify({ kind: REVIEW_KIND, apiVersion: `${group}/${version}`, request });
  const end = ']}}';
  return `${review.slice(0, -end.length)}${objectTexts.join()}${end}`;
}

/**
 * The objects of an answer, in the order of the question's. Throws UnusableConversion, with the webhook's own words where it says
 * that it has failed.
 */
export function convertedObjects(
  answer: unknown,
  group: string,
  version: ConversionReviewVersion,
  uid: string,
): readonly unknown[] {
  if (!isJsonObject(answer)) throw new UnusableConversion('the answer is no object');
  const expected = `${group}/${version}`;
  // The older version never asked for these two.
  const isExact = version === 'v1';
  if (isExact && (answer.apiVersion !== expected || answer.kind !== REVIEW_KIND)) {
    throw new UnusableConversion(
      `expected webhook response of ${expected}, Kind=${REVIEW_KIND}, got ${kindText(answer)}`,
    );
  }
  const { response } = answer;
  if (!isJsonObject(response)) throw new UnusableConversion('no response provided');
  if (isExact && response.uid !== uid) {
    throw new UnusableConversion(`expected response.uid="${uid}", got ${JSON.stringify(asText(response.uid))}`);
  }
  const result = partAt(response, 'result');
  const status = textAt(result, 'status');
  if (status !== 'Success') {
    const message = textAt(result, 'message');
    throw new UnusableConversion(message || `response.result.status was '${status}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? (response.convertedObjects as readonly unknown[]) : [];
}

/** As messages name what objects are. */
export function kindText({ apiVersion, kind }: JsonObject): string {
  return qualifiedKind(asText(apiVersion), asText(kind));
}

/**
 * An object as its webhook has converted it, with the metadata that it had but for labels and annotations.
 *
 * @param where in messages: `object at index 1`, or `object` where one was asked for.
 */
export function accepted(original: JsonObject, converted: unknown, desired: string, where: string): JsonObject {
  const isOne = where === 'object';
  const noun = isOne ? 'object' : `converted ${where}`;
  const refuse = (what: string, problem: string): never => {
    throw new UnusableConversion(`returned invalid ${what}: ${problem}`);
  };
  const whole = isJsonObject(converted) ? converted : {};
  if (whole.apiVersion !== desired) {
    const problem = `invalid groupVersion (expected ${desired}, received ${asText(whole.apiVersion)})`;
    refuse(isOne ? 'object at index 0' : noun, problem);
  }
  if (whole.kind !== original.kind) {
    const problem = `invalid kind (expected ${asText(original.kind)}, received ${asText(whole.kind)})`;
    refuse(isOne ? 'object at index 0' : noun, problem);
  }
  const before = metadataOf(original);
  const after = isJsonObject(whole.metadata) ? (whole.metadata as ObjectMeta) : undefined;
  for (const [member, word] of SAME) {
    const was = before[member] ?? '';
    const is = after?.[member] ?? '';
    if (was !== is) refuse(noun, `must have the same ${word}: ${was} != ${is}`);
  }
  const metadata = `metadata${isOne ? '' : ` in ${where}`}`;
  if (after === undefined) return refuse(metadata, 'missing metadata in converted object');
  const { labels, annotations } = after;
  const [error] = [
    ...(labels === undefined || labels === null ? [] : validateLabels(labels, 'metadata.labels')),
    ...(annotations === undefined || annotations === null
      ? []
      : validateAnnotations(annotations, 'metadata.annotations')),
  ];
  if (error !== undefined) refuse(metadata, `${error.path}: ${error.message}`);
  return { ...whole, metadata: withMarks(before, labels, annotations) };
}

/** What has to stay, and how messages call it. */
const SAME = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const satisfies readonly (readonly [keyof ObjectMeta, string])[];

function withMarks(
  before: ObjectMeta,
  labels: ObjectMeta['labels'],
  annotations: ObjectMeta['annotations'],
): Readonly<Record<string, unknown>> {
  const { labels: _labels, annotations: _annotations, ...kept } = before;
  return {
    ...kept,
    ...(labels === undefined || labels === null ? undefined : { labels }),
    ...(annotations === undefined || annotations === null ? undefined : { annotations }),
  };
}
