// Rules of what is asked and not stored: access reviews, token requests.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
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

export const reviewTypes: RuleTable = {
  'authorization.SubjectAccessReview': { rules: [accessReview] },
  'authorization.SelfSubjectAccessReview': { rules: [selfReview] },
  'authorization.LocalSubjectAccessReview': { rules: [localReview] },
  'authentication/v1.TokenRequestSpec': { fields: { expirationSeconds: { rules: [tokenSeconds] } } },
};
