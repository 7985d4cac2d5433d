// What the two servers are known not to agree on, and why: each line that one of these fits is left out of the report.
import type { Asked } from './report.ts';

export interface Known {
  /** Of which types, as `plural.group`; all where nothing is said. */
  readonly types?: RegExp;
  /** Of which requests; all where nothing is said. */
  readonly path?: RegExp;
  readonly line: RegExp;
  readonly why: string;
}

/** What the run's own definitions are about. */
const CUSTOM = /\.custom\.example\.com$/;

const ODD_CUSTOM = /^things\d*[13579]\..*\.custom\.example\.com$/;
const DEFINITIONS = /^customresourcedefinitions\./;

const KNOWN: readonly Known[] = [
  {
    line: /^words: .*\bcannot be handled as a\b/,
    why: 'what cannot be read is told by its place, in words of our own',
  },
  { line: /^words: .*must be of type \S+\): couldn't get version/, why: 'likewise' },
  {
    line: /^words: .*(?:(?:DNS|RFC) ?1[01]\d\d|valid label|name part|valid config key)/,
    why: 'what a name may be is said in our own words',
  },
  { line: /^words: .*(?:runtime\.Unknown|[a-z]\.[A-Z]\w+Spec|rbac\.RoleRef)\{/, why: 'no values in the form of Go' },
  { line: /a field named "__proto__"/, why: 'such a name is refused' },
  { types: /^events/, line: /namespace|eventTime/, why: 'an event is told of by the fields of its version' },
  { types: /^jobs/, line: /^cause .*template\.metadata\.labels/, why: 'told at the labels, not at each' },
  {
    line: /managedFields\[\d+\]\.fieldsV1\.f:status/,
    why: 'from 1.21 on who writes an object owns nothing of its status',
  },
  { line: /metadata\.managedFields: – \|/, why: '1.20 gives up where a list repeats a key, or holds null' },
  { types: /^daemonsets/, line: /maxSurge/i, why: 'a field of 1.21' },
  { types: /^endpointslices/, line: /nodeName|metadata\.generation/, why: 'a field of 1.21' },
  { types: /^services/, line: /ipFamil/, why: 'families are on in 1.21' },
  { types: /^namespaces/, line: /metadata\.(?:labels|managedFields)/, why: 'a label of 1.21' },
  { types: /^certificatesigning/, line: /^\.spec\.(?:username|uid|groups)/, why: 'whoever asks has two names' },
  { types: /^persistentvolumeclaims/, line: /dataSource.*apiGroup/, why: 'a pointer that is none is left out' },
  { line: /^answer: 599 /, why: 'the original breaks over it' },
  {
    types: CUSTOM,
    line: /^\.columnDefinitions\[\d+\]\.description/,
    why: 'columns are described in words of our own',
  },
  { types: CUSTOM, line: /^order of causes/, why: 'the original walks maps in any order' },
  {
    types: CUSTOM,
    line: /^answer: 500 failed to (?:create typed|convert new)/,
    why: 'what does not fit its schema is 400, and so it is whatever else is wrong with it',
  },
  {
    types: CUSTOM,
    line: /^answer: 500 Internal error occurred: Object 'apiVersion' is missing/,
    why: 'it is the client who left it out',
  },
  { types: CUSTOM, line: /^answer: 500 Invalid JSON Patch/, why: 'likewise' },
  {
    types: CUSTOM,
    line: /^words: .* patch: Invalid value: /,
    why: 'what came of a patch is shown by the patch, not by the whole object',
  },
  {
    types: CUSTOM,
    line: /^answer: 409 .*\.status\b/s,
    why: 'from 1.21 on who writes an object owns nothing of its status, which others can apply then',
  },
  {
    types: ODD_CUSTOM,
    line: /managedFields|FieldManagerConflict|Apply failed with|failed to create typed patch/,
    why: '1.20 owns fields without the schema where that has alternatives',
  },
  {
    types: CUSTOM,
    line: /^answer: 422 .*\| 400 failed to create typed patch/s,
    why: 'an apply that does not fit the schema is refused before anything else is looked at',
  },
  {
    line: /managedFields(?:\[\d\])?: \[?\{.*"fieldsV1":\{"f:status.* \| –$/,
    why: 'from 1.21 on who writes an object owns nothing of its status',
  },
  { types: CUSTOM, path: /\/status\?/, line: /managedFields/, why: 'nor of what a write of the status says beside it' },
  { types: CUSTOM, line: /"before-first-apply"/, why: 'of what nobody owned in 1.20, see above' },
  {
    types: CUSTOM,
    path: /\/scale\?/,
    line: /^(?:answer: (?:200|422)|cause) /,
    why: 'what a scale is given to is complete before it is looked at',
  },
  {
    types: CUSTOM,
    path: /fieldManager=/,
    line: /^\.(?:spec|status|other)[^:]*: .* \| –$/,
    why: 'a dry run of an apply shows what would be read, without defaults of versions that were not asked for',
  },
  { types: DEFINITIONS, line: /^order of causes/, why: 'the original walks maps in any order' },
  {
    types: DEFINITIONS,
    line: /^words: .*(?:spec\.validation|spec\.(?:subresources|additionalPrinterColumns)|webhookClientConfig)/,
    why: 'what all versions have alike is named where it was said',
  },
  { types: CUSTOM, line: /^\.rows\[\d+\]\.cells/, why: 'an age, while it was counted' },
  { types: /^ingressclasses/, line: /parameters\.(?:f:)?scope/, why: 'a field of 1.21' },
  { types: /^csidrivers/, line: /requiresRepublish|storageCapacity|tokenRequests|generation/, why: 'fields of 1.21' },
  { types: /^nodes/, line: /podCIDRs/, why: 'families are on in 1.21' },
  {
    types: /^cronjobs/,
    line: /spec\.schedule\b/,
    why: '1.21 reads schedules with time zones, and tells of them in other words',
  },
  {
    types: /^services/,
    line: /^(?:cause |answer: 422 .*)metadata\.resourceVersion/,
    why: 'a service can be updated without a version',
  },
  {
    types: /^(?:nodes|clusterroles|flowschemas|serviceaccounts)\b/,
    line: /kube-controller-manager|config-consumer|managedFields\[[01]\]|-token-/,
    why: 'controllers run here, which write what is kept',
  },
  {
    line: /^cause .*(?:template\.(?:metadata\.)?(?:labels|annotations)|\.taints|spec\.finalizers|overhead\.|volumeMode|data\[(?:%s|username|password|ssh-privatekey))/,
    why: 'told where it is, and not at a place that is not there',
  },
  { types: /^networkpolicies/, line: /spec\.policyTypes/, why: 'too many are told to be that' },
  {
    line: /^words: .*Invalid value: (?:\[\]byte|map\[string\]string|v1\.LabelSelector\{)/,
    why: 'no values in the form of Go',
  },
  { line: /^words: .*"\\(?:x00|u2028)"/, why: 'nor texts' },
  { types: /^nodes/, line: /^words: .*AvoidPods/, why: 'what is no JSON is told in words of our own' },
  {
    types: /^nodes/,
    line: /^cause – \| \[\] FieldValueForbidden$/,
    why: 'podCIDRs are of 1.21, and cannot be changed',
  },
  { types: /^poddisruptionbudgets/, line: /status\.conditions/, why: 'a field of 1.21' },
  { types: /^endpointslices/, line: /topology/, why: 'the node is told there as well from 1.21 on' },
  {
    line: /^answer: (?:201|409|422) .*\| 400 .*cannot unmarshal "10000000\d+" into a value of t/s,
    why: 'a number that is too large is none; the original takes some of its bits',
  },
  {
    line: /^answer: 422 .*\| 400 .*cannot unmarshal array into a value of type bytes$/s,
    why: 'bytes are a text',
  },
  { line: /^cause – \| metadata\.name FieldValue(?:Required|Invalid)$/, why: 'a name that is not there is told so' },
  {
    line: /^cause .*\b[cC]lient(?:Config)?\.service\.name(?:space)? FieldValueRequired/,
    why: 'of name and namespace the original tells the other one',
  },
  {
    types: /^ingresses/,
    path: /dryRun=/,
    line: /^\.spec\.(?:defaultB|b)ackend: .* \| –$/,
    why: 'a dry run of the original reads what it would store into what is stored',
  },
  { types: /^priorityclasses/, line: /^cause – \| preemptionPolicy/, why: 'what is created is checked in updates too' },
  { types: /^podsecuritypolicies/, line: /allowedProcMountTypes/, why: 'a field whose gate is off owns nothing' },
];

/** Of what stories ask besides. */
const TOLD: readonly Known[] = [
  { line: /^answer: 500 [\s\S]*\| 4\d\d /, why: 'what a client got wrong is its error' },
  {
    line: /^answer: 500 (?:unable to find api field|merging an object|expected a \[\]interface)/,
    why: 'what a patch says clearly enough is done',
  },
  {
    line: /^answer: 20[01] .*\| 4(?:00|22) .*(?:must be a list|cannot unmarshal|unknown patch type|retainKeys|rejected our request)/is,
    why: 'what is no part of a type is refused where the original leaves it out',
  },
  {
    line: /^(?:answer: 422 the server rejected our request|cause (?:– \| patch|patch FieldValueInvalid \| –)|answer: 422 .*(?:cannot restore|unrecognized type))/s,
    why: 'what a patch copies, and what its directives name, is looked at where it lands',
  },
  { line: /^answer: 406 .*\| 200 $/s, why: 'of several forms that are asked for, the next that there is' },
  { path: /resourceVersion=0&.*limit=/, line: /./, why: 'any version is paged as well' },
  { types: /^endpointslices/, line: /endpoints|hints/, why: 'fields of 1.21' },
  {
    line: /metadata\.resourceVersion: as before \| another$/,
    why: 'who leaves out a field of 1.21 changes the object, and who applies an empty map owns it',
  },
  { line: /^answer: 504 Timeout: Too large resource version/, why: 'each type of the original has a newest version' },
  {
    line: /managedFields|resourceVersion: another \| as before$/,
    why: 'from 1.21 on a write owns nothing of the status, and scaling owns; cases compare who owns what',
  },
  {
    line: /^words: .*(?:"" is invalid: patch: Invalid value|StorageError: invalid object|retainKeys|field label|you requested Partial|strconv|continue key is not valid|error decoding YAML|using continue)/is,
    why: 'in words of our own',
  },
  {
    line: /^(?:words|answer: 4(?:00|22)).*(?:Incorrect version specified|must be a list|cannot unmarshal|invalid resource version|cannot restore)/s,
    why: 'likewise',
  },
  {
    line: /^answer: 400 error decoding YAML: .*invalid Unicode character escape code/s,
    why: 'an apply may be JSON, in which halves of characters are read as U+FFFD',
  },
  { line: /\.[^.]*\uFFFD[^.]*: (?:".*" \| –|– \| ".*")$/, why: 'and so they are in objects of any form' },
  {
    path: /[?&]continue=/,
    line: /^answer: 200 .*\| 400 invalid continue token: continue key is not valid$/s,
    why: 'a token holds for the list that it was given for, with the same selectors',
  },
  { path: /resourceVersion=0&watch=1/, line: /^: "" \| \[/, why: 'any version may be an old one' },
  { line: /^words: .*spec is immutable after creation.*core\.\w+\{?/s, why: 'no values in the form of Go' },
  {
    line: /^words: .*(?:Unsupported value: (?:\w+\.\w+\{|"\\x00")|Invalid value: v1\.LabelSelector\{)/,
    why: 'likewise',
  },
  {
    types: /^services/,
    line: /^\.(?:kind: "Status" \| "Service"|status: "Success" \| \{|details: \{.*"kind":"services".*\} \| –|spec: – \| |metadata\.(?:name|namespace|deletionGracePeriodSeconds|finalizers|labels|annotations|generateName): – \| )/,
    why: 'an object that waits for its finalizers is answered, of any type',
  },
  { line: /metadata\.(?:labels|annotations): null \| –$/, why: 'some metadata of the original has nulls' },
  { line: /^(?:\.items: null \| \[\]|: "" \| " ")$/, why: 'nothing is an empty list, and a watch begins with a blank' },
  {
    line: /columnDefinitions|\.cells\[\d+\]: "[\w<>]*" \| "[\w<>]*"$/,
    why: 'columns are described in our words, and ages are counted',
  },
  { line: /^answer: (?:4\d\d .*\| 406|406 .*\| 4\d\d) /s, why: 'which error is told first' },
  {
    line: /^answer: (?:409 Apply failed .*\| 400 the body cannot be read|403 .*\| 400 the body cannot be read|409 .*StorageError.* \| 422 Scale\.|400 the name of the object .*\| 422 .*patch: Invalid|422 {1,2}"" is invalid: patch: .*\| 400 the name of the object|403 .*\| 400 resourceVersion should not be set)/s,
    why: 'likewise',
  },
  { line: /^answer: 422 .*\| 400 resourceVersion should not be set/s, why: 'likewise' },
  { line: /^answer: 201 .*\| 400 resourceVersion should not be set/s, why: 'a dry run is refused what a create is' },
  {
    path: /\/status\b/,
    line: /^answer: 409 Apply failed.*\| 200 $/s,
    why: 'a status that is applied says nothing else from 1.21 on',
  },
  { types: /^services/, path: /\/status\b/, line: /^answer: 201/, why: 'the original makes a service of a status' },
  {
    types: /^services/,
    line: /^answer: (?:422|404) .*nodePort|clusterIPs?\b|ADDRESS|^answer: 409 .*nodePort/s,
    why: 'ports and addresses are looked at after names, and families are on in 1.21',
  },
  {
    types: /^ingresses/,
    line: /Ingress\.extensions|"group":"extensions"/,
    why: 'ingresses are stored in their new group',
  },
  {
    types: /^daemonsets/,
    line: /metadata\.annotations: – \| \{"deprecated\.daemonset/,
    why: 'what v1 tells in annotations is there in metadata too',
  },
];

export function isKnownOfStory(asked: Asked, line: string): boolean {
  return isKnown(asked, line) || isIn(TOLD, asked, line);
}

export function isKnown(asked: Asked, line: string): boolean {
  return isIn(KNOWN, asked, line);
}

/** Whether one of the list fits the line. */
export function isIn(list: readonly Known[], { plural, group, path }: Asked, line: string): boolean {
  const type = `${plural}${group === '' ? '' : `.${group}`}`;
  return list.some(
    (known) => known.line.test(line) && (known.types?.test(type) ?? true) && (known.path?.test(path) ?? true),
  );
}
