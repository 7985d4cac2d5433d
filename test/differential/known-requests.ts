// What the two servers are known not to agree on about odd requests, and why.
import { isIn, isKnown, type Known } from './known.ts';
import type { Asked } from './report.ts';

const KNOWN: readonly Known[] = [
  {
    line: /^answer: 500\b[^|]*\| (?:4\d\d|200)\b/,
    why: 'what a client got wrong is its error, and what a patch says clearly enough is done',
  },
  { line: /^answer: 404 \| 404 NotFound$/, why: 'of groups that nobody serves a Status is told as well' },
  { line: /^answer: (?:4\d\d.* \| 406|406.* \| 4\d\d)\b/, why: 'which error is told first' },
  {
    line: /^answer: (?:404|409|422)(?: \w+)? \| 400(?: BadRequest)?$/,
    why: 'likewise: what cannot be read comes first',
  },
  {
    line: /^(?:answer: 400 BadRequest \| 422 Invalid$|details\.kind: ListOptions \| DeleteOptions|cause resourceVersionMatch \w+ \| –|cause – \| (?:propagationPolicy|dryRun) )/,
    why: 'likewise: the options of a delete come before those of its list',
  },
  { line: /^answer: 415 UnsupportedMediaType \| 422 Invalid$/, why: 'likewise' },
  {
    line: /^answer: 406 .*\| 20[01]$/,
    why: 'of several forms that are asked for, the next that there is',
  },
  { line: /^answer: 200 \| 406 NotAcceptable /, why: 'a list of metadata is no form of one object' },
  { line: /^header content-type: .* \| application\/[\w.]+$/, why: 'a Status comes in the form that was asked for' },
  { types: /^paths/, line: /^answer: 405 *\| 200$/, why: 'HEAD is served where GET is' },
  {
    path: /\/\//,
    line: /^(?:answer|details)/,
    why: 'of the empty parts of paths only that of the namespace means all',
  },
  {
    path: /fieldSelector=metadata\.name%3D/,
    line: /^details\.name: – \| /,
    why: 'a list of one name is about that, also where its other options cannot be read',
  },
  { types: /^services/, line: /^answer: 422 Invalid .*\| 200$/, why: 'a service can be updated without a version' },
  { types: /^(?:secrets|configmaps)/, line: /^answer: 20[01] \| 4(?:00|22)\b.* bytes\b/, why: 'bytes are a text' },
  {
    path: /[?&]resourceVersion=/,
    line: /^answer: 409 Conflict .*\| 200$/,
    why: 'in the query of a collection the version says which list is meant',
  },
  {
    line: /^answer: 409 Conflict Apply failed .*\.status\b.*\| 200$/,
    why: 'from 1.21 on who writes an object owns nothing of its status, which others can apply then',
  },
  { types: /^pods/, line: /^answer: 409 Conflict \| 422 Invalid$/, why: 'likewise' },
  {
    line: /^answer: 200 \| 4(?:00|22)\b.*must be a list/,
    why: 'what is no part of a type is refused where the original leaves it out',
  },
];

export function isKnownOfRequest(asked: Asked, line: string): boolean {
  return isKnown(asked, line) || isIn(KNOWN, asked, line);
}
