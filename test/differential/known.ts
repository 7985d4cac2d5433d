// What the two servers are known not to agree on, and why: each line that one of these fits is left out of the report.
import type { KnownType } from '../../api/resources/resource-table.ts';

interface Known {
  /** Of which types, as `plural.group`; all where nothing is said. */
  readonly types?: RegExp;
  readonly line: RegExp;
  readonly why: string;
}

const KNOWN: readonly Known[] = [
  {
    line: /^words: .*\bcannot be handled as a\b/,
    why: 'what cannot be read is told by its place, in words of our own',
  },
  { line: /^words: .*must be of type \S+\): couldn't get version/, why: 'likewise' },
  { line: /^words: .*(?:(?:DNS|RFC) ?1[01]\d\d|valid label)/, why: 'what a name may be is said in our own words' },
  { line: /^words: .*(?:runtime\.Unknown|[a-z]\.[A-Z]\w+Spec|rbac\.RoleRef)\{/, why: 'no values in the form of Go' },
  { line: /a field named "__proto__"/, why: 'such a name is refused' },
  { types: /^events/, line: /namespace|eventTime/, why: 'an event is told of by the fields of its version' },
  { types: /^jobs/, line: /^cause .*template\.metadata\.labels/, why: 'told at the labels, not at each' },
  {
    line: /managedFields\[\d+\]\.fieldsV1\.f:status/,
    why: 'from 1.21 on who writes an object owns nothing of its status',
  },
  { line: /^\.metadata\.managedFields: – \|/, why: '1.20 gives up where a list repeats a key' },
  { types: /^daemonsets/, line: /maxSurge/i, why: 'a field of 1.21' },
  { types: /^endpointslices/, line: /nodeName|metadata\.generation/, why: 'a field of 1.21' },
  { types: /^services/, line: /ipFamil/, why: 'families are on in 1.21' },
  { types: /^namespaces/, line: /metadata\.(?:labels|managedFields)/, why: 'a label of 1.21' },
  { types: /^certificatesigning/, line: /^\.spec\.(?:username|uid|groups)/, why: 'whoever asks has two names' },
  { types: /^persistentvolumeclaims/, line: /dataSource.*apiGroup/, why: 'a pointer that is none is left out' },
  { types: /^podsecuritypolicies/, line: /allowedProcMountTypes/, why: 'a field whose gate is off owns nothing' },
];

export function isKnown({ plural, group }: KnownType, line: string): boolean {
  const type = `${plural}${group === '' ? '' : `.${group}`}`;
  return KNOWN.some((known) => known.line.test(line) && (known.types?.test(type) ?? true));
}
