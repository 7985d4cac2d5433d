// Rules of certificate signing requests. Whether their signature holds is checked here: it is arithmetic.
import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { remembered } from '../../../values/remembered.ts';
import { type SignedRequest, signedRequest } from '../../certificates/certificate-request.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { type TextFormat, textProblems } from '../../metadata/formats.ts';
import { schemaOf } from '../../schema/schema.ts';
import { quote } from '../../status/failures.ts';
import { distinct, eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';

/** Hash by the object identifier of a signature algorithm; null where the algorithm brings its own. */
const ALGORITHMS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

const NO_REQUEST = 'PEM block type must be CERTIFICATE REQUEST';

/** What is wrong with a PEM certificate request; undefined when its signature is its own key's. */
function requestProblem(pem: string): string | undefined {
  const request = signedRequest(pem);
  if (request === undefined) return NO_REQUEST;
  return hasOwnSignature(request) ? undefined : 'the signature of the request is not valid';
}

function hasOwnSignature({ signed, publicKey, algorithm, signature }: SignedRequest): boolean {
  const hash = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm] : undefined;
  if (hash === undefined) return false;
  try {
    return verify(hash, signed, createPublicKey({ key: publicKey, format: 'der', type: 'spki' }), signature);
  } catch {
    // A key that cannot be read signs nothing.
    return false;
  }
}

const request: Rule<string> = (base64, at) => {
  const pem = Buffer.from(base64, 'base64').toString('latin1');
  const problem = requestProblem(pem);
  if (problem !== undefined) at.invalid('', `${pem.length} bytes`, problem);
};

const DOMAIN_LENGTH_MAX = 253;
/** A domain, the slash, a namespace, a dot and a name. */
const SIGNER_LENGTH_MAX = DOMAIN_LENGTH_MAX + 1 + 63 + 1 + 253;

function checkSigner(signer: string, at: Report): void {
  const [domain = '', path = '', ...more] = signer.split('/');
  if (!signer.includes('/') || more.length > 0) {
    at.invalid('', signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (domain.length > DOMAIN_LENGTH_MAX) at.tooLong('', DOMAIN_LENGTH_MAX);
  checkLabels(domain, 'dns1123Label', at);
  if (!domain.includes('.')) at.invalid('', domain, 'should be a domain with at least two segments separated by dots');
  checkLabels(path, 'dns1123Subdomain', at);
  if (signer.length > SIGNER_LENGTH_MAX) at.tooLong('', SIGNER_LENGTH_MAX);
}

/** What is wrong with the first label that something is wrong with. */
function checkLabels(text: string, format: TextFormat, at: Report): void {
  for (const label of text.split('.')) {
    const problems = textProblems(format, label);
    for (const problem of problems) at.invalid('', text, `validating label ${quote(label)}: ${problem}`);
    if (problems.length > 0) return;
  }
}

const olderSigner: Rule<string> = (text, at) => {
  if (text !== at.dialect.spell('@label/legacy-unknown')) checkSigner(text, at);
};

// No update changes what is asked for, and v1beta1 may have let in what v1 does not: it is looked at when it is new.

const signer: Rule<string> = (text, at) => {
  if (text === at.dialect.spell('@label/legacy-unknown') && !at.isUpdate) {
    at.invalid('', text, 'the legacy signerName is not allowed via this API version');
  } else checkSigner(text, at);
};

interface Condition {
  readonly type?: string;
  readonly status?: string;
}

const CONDITION_STATUSES = ['False', 'True', 'Unknown'];

const conditionStatus: Rule<Condition> = ({ type = '', status = '' }, at) => {
  const mustHold = type === 'Approved' || type === 'Denied' || type === 'Failed';
  if (status === '') at.required('status');
  else if (mustHold && status !== 'True') at.notSupported('status', status, ['True']);
  else if (!CONDITION_STATUSES.includes(status)) at.notSupported('status', status, CONDITION_STATUSES);
};

const OPPOSITE: Readonly<Record<string, string>> = { Approved: 'Denied', Denied: 'Approved' };

const oneDecision: Rule<Condition> = ({ type = '' }, at) => {
  const opposite = Object.hasOwn(OPPOSITE, type) ? OPPOSITE[type] : undefined;
  const met = at.metIn(at.list, oneDecision);
  if (opposite !== undefined && met.has(opposite)) {
    at.invalid('type', type, 'Approved and Denied conditions are mutually exclusive');
  }
  met.set(type, true);
};

// In v1beta1 conditions need no types of their own, or none at all. Where v1 finds such ones, they may stay.

const conditionType: Rule<Condition> = ({ type = '' }, at) => {
  if (type === '' && !typesBefore(at).all.has('')) at.required('type');
};

const conditionTypes = distinct<Condition>(
  ({ type }) => type,
  (type, _condition, at) => {
    if (typesBefore(at).areDistinct) at.duplicate('type', type);
  },
);

const usagesKnown: Rule<readonly string[]> = (usages, at) => {
  if (at.isUpdate) return;
  const known = schemaOf(at.dialect).enumeration('certificates/v1.KeyUsage').toSorted();
  for (const [index, usage] of usages.entries()) {
    if (!known.includes(usage)) at.notSupported(`[${index}]`, usage, known);
  }
};

const usagesOnce: Rule<readonly string[]> = (usages, at) => {
  if (at.isUpdate) return;
  eachRepeated(
    usages,
    (usage) => usage,
    (usage, index, report) => report.duplicate(`[${index}]`, usage),
    at,
  );
};

const BLOCK = /-----BEGIN ([^-]+)-----\r?\n([A-Za-z0-9+/=\r\n]*)-----END \1-----\r?\n?/g;

/** A certificate that v1beta1 let in may stay, and be replaced by another that is none. */
const certificate: Rule<string> = (base64, at) => {
  const { certificate: before = '' } = statusBefore(at);
  if (base64 === before || certificateProblems(before).length > 0) return;
  at.problems('', '<certificate data>', certificateProblems(base64));
};

function certificateProblems(base64: string): readonly string[] {
  if (base64 === '') return [];
  const pem = Buffer.from(base64, 'base64').toString('latin1');
  const blocks = [...pem.matchAll(BLOCK)];
  if (blocks.length === 0) return ['must contain at least one CERTIFICATE PEM block'];
  return blocks.flatMap(([text, type], index) => {
    if (type !== 'CERTIFICATE') return [`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`];
    return isCertificate(text) ? [] : [`PEM block ${index} is no certificate`];
  });
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

interface RequestStatus {
  readonly conditions?: readonly Condition[];
  readonly certificate?: string;
}

const DECISIONS = ['Approved', 'Denied', 'Failed'];
/** Only the approval subresource may add these. */
const APPROVALS = ['Approved', 'Denied'];

function statusOf(object: JsonObject): RequestStatus {
  return (object.status ?? {}) as RequestStatus;
}

function statusBefore({ stored }: Report): RequestStatus {
  return stored === undefined ? {} : statusOf(stored);
}

interface Types {
  readonly all: ReadonlySet<string>;
  /** No two conditions have one. */
  readonly areDistinct: boolean;
}

function typesOf({ conditions: list = [] }: RequestStatus): Types {
  const all = new Set(list.map(({ type = '' }) => type));
  return { all, areDistinct: all.size === list.length };
}

const NO_TYPES = typesOf({});
const storedTypes = remembered((stored: JsonObject) => typesOf(statusOf(stored)));

function typesBefore({ stored }: Report): Types {
  return stored === undefined ? NO_TYPES : storedTypes(stored);
}

/** Decisions stay; who approves does not sign, and who signs does not approve. */
function decisionChange(mayApprove: boolean): ChangeRule<JsonObject> {
  return (next, stored, at) => {
    const now = typesOf(statusOf(next)).all;
    const before = storedTypes(stored).all;
    for (const type of DECISIONS) {
      if (before.has(type) && !now.has(type)) {
        at.forbidden('status.conditions', `updates may not remove a condition of type "${type}"`);
      }
    }
    for (const type of mayApprove ? [] : APPROVALS) {
      if (!before.has(type) && now.has(type)) {
        at.forbidden('status.conditions', `updates may not add a condition of type "${type}"`);
      }
    }
  };
}

const certificateChange: ChangeRule<JsonObject> = (next, stored, at) => {
  const before = statusOf(stored).certificate ?? '';
  if (before !== '' && !deepEqual(statusOf(next).certificate ?? '', before)) {
    at.forbidden('status.certificate', 'updates may not modify existing certificate content');
  }
};

const certificateByOthers: ChangeRule<JsonObject> = (next, stored, at) => {
  if ((statusOf(next).certificate ?? '') !== (statusOf(stored).certificate ?? '')) {
    at.forbidden('status.certificate', 'updates may not set certificate content');
  }
};

const NO_USAGES = 'usages must be provided';
const NO_SIGNER = 'signerName must be provided';

export const certificateTypes: RuleTable = {
  'certificates.CertificateSigningRequestSpec': {
    fields: {
      request: { required: NO_REQUEST, reason: 'invalid', rules: [request] },
      usages: { required: NO_USAGES },
      signerName: { required: NO_SIGNER, rules: [olderSigner] },
    },
  },
  'certificates/v1.CertificateSigningRequestSpec': {
    fields: {
      request: { required: NO_REQUEST, reason: 'invalid', rules: [request] },
      usages: { required: NO_USAGES, rules: [usagesKnown, usagesOnce] },
      signerName: { required: NO_SIGNER, rules: [signer] },
    },
  },
  'certificates/v1.CertificateSigningRequestStatus': {
    fields: { certificate: { rules: [certificate] } },
    rules: ['conditions', 'certificate'],
  },
  'certificates.CertificateSigningRequestCondition': { rules: [conditionStatus, oneDecision] },
  'certificates/v1.CertificateSigningRequestCondition': {
    rules: [conditionType, conditionStatus, oneDecision, conditionTypes],
  },
};

export const certificateUpdates: ChangeTable = {
  'certificates.CertificateSigningRequest': { rules: [decisionChange(false), certificateByOthers] },
};

export const certificateStatusUpdates: ChangeTable = {
  'certificates.CertificateSigningRequest': { rules: [decisionChange(false)] },
  'certificates/v1.CertificateSigningRequest': { rules: [decisionChange(false), certificateChange] },
};

/** Updates by the approval subresource. */
export const certificateApprovals: ChangeTable = {
  'certificates.CertificateSigningRequest': { rules: [decisionChange(true), certificateByOthers] },
};
