// Rules of what is asked and not stored: access reviews, token requests; and of storage versions.
import { deepEqual } from '../../deep-equal.ts';
import type { JsonObject } from '../../json-value.ts';
import { metadataOf } from '../../object-meta.ts';
import { textProblems } from '../formats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import { tokenSeconds } from './token-seconds.ts';

interface AccessSpec {
  readonly resourceAttributes?: { readonly namespace?: string };
  readonly nonResourceAttributes?: object;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly group?: readonly string[];
}

const EXACTLY_ONE = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';

function checkAttributes({ resourceAttributes, nonResourceAttributes }: AccessSpec, at: Report): void {
  if (resourceAttributes && nonResourceAttributes)
    at.invalid(
      'spec.nonResourceAttributes',
      nonResourceAttributes,
      `cannot be specified in combination with resourceAttributes`,
    );
  else if (!resourceAttributes && !nonResourceAttributes) at.invalid('spec.resourceAttributes', null, EXACTLY_ONE);
}

function checkWho({ user = '', groups, group }: AccessSpec, at: Report): void {
  if (user === '' && (groups ?? group ?? []).length === 0) {
    at.invalid('spec.user', user, 'at least one of user or group must be specified');
  }
}

/** Members of metadata a question may have, besides what the server sets. */
function checkBareMetadata(review: JsonObject, allowed: readonly string[], at: Report): void {
  const kept = new Set(['managedFields', 'creationTimestamp', 'uid', 'generation', ...allowed]);
  const rest: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(metadataOf(review))) {
    if (!kept.has(member) && value !== undefined && value !== null && value !== '') rest[member] = value;
  }
  if (!deepEqual(rest, {})) at.invalid('metadata', rest, 'must be empty');
}

const specOf = (review: JsonObject): AccessSpec => (review.spec ?? {}) as AccessSpec;

const accessReview: Rule<JsonObject> = (review, at) => {
  checkAttributes(specOf(review), at);
  checkWho(specOf(review), at);
  checkBareMetadata(review, [], at);
};

const selfReview: Rule<JsonObject> = (review, at) => {
  checkAttributes(specOf(review), at);
  checkBareMetadata(review, [], at);
};

const localReview: Rule<JsonObject> = (review, at) => {
  const spec = specOf(review);
  checkAttributes(spec, at);
  checkWho(spec, at);
  checkBareMetadata(review, ['namespace'], at);
  const { namespace = '' } = metadataOf(review);
  const asked = spec.resourceAttributes?.namespace ?? '';
  if (spec.resourceAttributes && asked !== namespace) {
    at.invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace');
  }
  if (spec.nonResourceAttributes)
    at.invalid('spec.nonResourceAttributes', spec.nonResourceAttributes, 'disallowed on this kind of request');
};

interface ServerVersion {
  readonly apiServerID?: string;
  readonly encodingVersion?: string;
  readonly decodableVersions?: readonly string[];
}

function versionProblems(text: string): readonly string[] {
  const parts = text.split('/');
  const version = parts.at(-1)!;
  if (parts.length > 2) return ['must be a version, or a group, "/" and a version'];
  const ofGroup = parts.length === 2 ? textProblems('dns1123Subdomain', parts[0]!) : [];
  return [...ofGroup, ...textProblems('dns1035Label', version)];
}

const serverVersion: Rule<ServerVersion> = ({ apiServerID = '', encodingVersion = '', decodableVersions = [] }, at) => {
  at.problems('apiServerID', apiServerID, textProblems('dns1123Subdomain', apiServerID));
  at.problems('encodingVersion', encodingVersion, versionProblems(encodingVersion));
  for (const [index, version] of decodableVersions.entries()) {
    at.problems(`decodableVersions[${index}]`, version, versionProblems(version));
  }
  if (!decodableVersions.includes(encodingVersion)) {
    at.invalid(
      'decodableVersions',
      decodableVersions,
      `decodableVersions must include encodingVersion ${encodingVersion}`,
    );
  }
};

interface StorageVersionStatus {
  readonly storageVersions?: readonly ServerVersion[];
  readonly commonEncodingVersion?: string | null;
}

const commonVersion: Rule<StorageVersionStatus> = ({ storageVersions = [], commonEncodingVersion }, at) => {
  const versions = new Set(storageVersions.map(({ encodingVersion }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  const given = commonEncodingVersion ?? undefined;
  if (given === common) return;
  const detail = common === undefined ? 'should be nil if servers do not agree on a version' : `should be ${common}`;
  at.invalid('commonEncodingVersion', given ?? null, detail);
};

export const reviewTypes: RuleTable = {
  'authorization.SubjectAccessReview': { rules: [accessReview] },
  'authorization.SelfSubjectAccessReview': { rules: [selfReview] },
  'authorization.LocalSubjectAccessReview': { rules: [localReview] },
  'authentication/v1.TokenRequestSpec': { fields: { expirationSeconds: { rules: [tokenSeconds] } } },
  'apiserverinternal/v1alpha1.ServerStorageVersion': { rules: [serverVersion] },
  'apiserverinternal/v1alpha1.StorageVersionStatus': { rules: [commonVersion] },
};
