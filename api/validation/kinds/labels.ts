// Rules of labels, annotations and selectors wherever they stand in specs. A valid value allocates nothing: the functions
// that collect errors with paths are called only once something looks wrong.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { qualifiedNameProblems, textProblems } from '../../metadata/formats.ts';
import { validateAnnotations } from '../../metadata/object-meta-rules.ts';
import { type LabelSelector as CompiledSelector, labelSelectorFromObject } from '../../selectors/label-selector.ts';
import { isStatusError } from '../../status/status.ts';
import { validateLabelSelector } from '../label-selector.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';

export type Labels = Readonly<Record<string, string>>;

/** Keys are qualified names, values label values. */
export const labels: Rule<Labels> = (value, at) => {
  for (const key in value) {
    at.problems('', key, qualifiedNameProblems(key));
    at.problems('', value[key], textProblems('labelValue', value[key]!));
  }
};

const annotations: Rule<Labels> = (value, at) => {
  const before = validateAnnotations(value, '');
  if (before.length > 0) at.addAll(validateAnnotations(value, at.path()));
};

/** What rules read of a LabelSelector. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly JsonObject[];
}

const labelSelector: Rule<LabelSelector> = (selector, at) => {
  if (selector.matchExpressions === undefined && isPlain(selector.matchLabels)) return;
  at.addAll(validateLabelSelector(selector, at.path()));
};

function isPlain(matchLabels: Labels | undefined): boolean {
  for (const key in matchLabels) {
    if (qualifiedNameProblems(key).length > 0 || textProblems('labelValue', matchLabels[key]!).length > 0) return false;
  }
  return true;
}

/** True for a selector that selects everything: one without terms. */
export function isEmptySelector(selector: LabelSelector | undefined | null): boolean {
  for (const _ in selector?.matchLabels) return false;
  return (selector?.matchExpressions?.length ?? 0) === 0;
}

/** Whether a selector selects these labels. One that cannot be read has been reported, or is let be, and selects all. */
export function selects(selector: LabelSelector, of: Labels | undefined): boolean {
  if ((selector.matchExpressions?.length ?? 0) === 0) {
    return hasLabels(of, selector.matchLabels) || !isPlain(selector.matchLabels);
  }
  return readSelector(selector)?.matches(of) ?? true;
}

/** Every one of the labels is there; one that cannot be is not. */
export function hasLabels(of: Labels | undefined, wanted: Labels | undefined): boolean {
  for (const key in wanted) if (of?.[key] !== wanted[key]) return false;
  return true;
}

/** True unless a selector has what no label can have. One that is missing can be read: it selects nothing. */
export function isReadable(selector: LabelSelector | undefined | null): boolean {
  if ((selector?.matchExpressions?.length ?? 0) === 0) return isPlain(selector?.matchLabels);
  return readSelector(selector) !== undefined;
}

function readSelector(selector: unknown): CompiledSelector | undefined {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (isStatusError(error)) return undefined;
    throw error;
  }
}

/** The labels of metadata inside a spec, reported below `metadata`. */
export function embeddedLabels(metadata: unknown, at: Report): void {
  if (!isJsonObject(metadata) || !isJsonObject(metadata.labels)) return;
  at.enter('labels');
  labels(metadata.labels as Labels, at);
  at.leave();
}

/** The annotations of metadata inside a spec, reported below `metadata`. */
export function embeddedAnnotations(metadata: unknown, at: Report): void {
  if (!isJsonObject(metadata) || !isJsonObject(metadata.annotations)) return;
  at.enter('annotations');
  annotations(metadata.annotations as Labels, at);
  at.leave();
}

export const labelTypes: RuleTable = {
  'meta.LabelSelector': { rules: [labelSelector] },
};
