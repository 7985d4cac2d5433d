// Labels as one text: `a=b,c=d`, as annotations and settings hold them. Sets of labels, compared and joined.
import { qualifiedNameProblems, textProblems } from '../../../../api/metadata/formats.ts';

export type Labels = Readonly<Record<string, string>>;

/** The labels that a text names; a text that says what is wrong with it. */
export function labelsOfText(text: string): Labels | string {
  const labels: Record<string, string> = {};
  if (text === '') return labels;
  for (const part of text.split(',')) {
    const sides = part.split('=');
    if (sides.length !== 2) return `invalid selector: [${sides.join(' ')}]`;
    const [key, value] = sides.map((side) => side.trim()) as [string, string];
    const [problem] = [...qualifiedNameProblems(key), ...textProblems('labelValue', value)];
    if (problem !== undefined) return `invalid label ${JSON.stringify(part)}: ${problem}`;
    labels[key] = value;
  }
  return labels;
}

/** Whether a key has one value here and another there. */
export function conflict(one: Labels, other: Labels): boolean {
  return Object.entries(one).some(([key, value]) => Object.hasOwn(other, key) && other[key] !== value);
}

/** Whether the labels are among those that are allowed. Where none are named, all are. */
export function areAllowed(labels: Labels, allowed: Labels): boolean {
  if (Object.keys(allowed).length === 0) return true;
  return Object.entries(labels).every(([key, value]) => Object.hasOwn(allowed, key) && allowed[key] === value);
}
