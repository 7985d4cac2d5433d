// Rules of custom resource definitions, in both versions. Their schemas are in custom-schemas.ts.
import {
  type Approval,
  approvalKey,
  approvalOf,
  approvalProblem,
  isProtectedGroup,
} from '../../custom/definitions/api-approval.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asText } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { olderSchemaRules, schemaRules } from './custom-schemas.ts';
import { storedVersions, storedVersionsKept } from './stored-versions.ts';
import { reviewVersions, webhookTarget } from './webhooks.ts';

interface Names {
  readonly plural?: string;
  readonly kind?: string;
  readonly listKind?: string;
}

interface Version {
  readonly name?: string;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string | null;
}

interface Conversion {
  readonly strategy?: string;
  readonly webhook?: object;
  readonly webhookClientConfig?: object;
  readonly conversionReviewVersions?: readonly string[] | null;
}

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: Names;
  readonly versions?: readonly Version[] | null;
  readonly version?: string;
  readonly conversion?: Conversion;
  readonly preserveUnknownFields?: boolean | null;
}

interface Definition extends JsonObject {
  readonly spec?: DefinitionSpec;
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] | null;
  };
}

/** Of new ones alone: what the name follows from cannot change. */
const name: Rule<Definition> = (definition, at) => {
  if (at.isUpdate) return;
  const { group = '', names } = definition.spec ?? {};
  const expected = `${names?.plural ?? ''}.${group}`;
  const given = metadataOf(definition).name ?? '';
  if (given !== expected) at.invalid('metadata.name', given, 'must be spec.names.plural+"."+spec.group');
};

/** Groups of this API's own domain belong to those who make the API. v1beta1 never asked who approved of a type. */
const approval: Rule<Definition> = (definition, at) => {
  if (!at.isUpdate) checkApproval(definition, at);
};

/** What was let in without approval stays as it is; what had one keeps one. */
const approvalKept: ChangeRule<Definition> = (next, stored, at) => {
  const key = approvalKey(at.dialect);
  const stateOf = (definition: Definition): Approval => approvalOf(metadataOf(definition).annotations?.[key] ?? '');
  if (stateOf(next) !== stateOf(stored)) checkApproval(next, at);
};

function checkApproval(definition: Definition, at: Report): void {
  if (asText(definition.apiVersion).endsWith('/v1beta1')) return;
  if (!isProtectedGroup(definition.spec?.group ?? '', at.dialect)) return;
  const key = approvalKey(at.dialect);
  const text = metadataOf(definition).annotations?.[key] ?? '';
  const path = `metadata.annotations[${key}]`;
  const state = approvalOf(text);
  if (state === 'missing') at.required(path, approvalProblem(at.dialect, state));
  else if (state === 'invalid') at.invalid(path, text, approvalProblem(at.dialect, state));
}

const group: Rule<string> = (text, at) => {
  const problems = textProblems('dns1123Subdomain', text);
  at.problems('', text, problems);
  if (problems.length === 0 && !text.includes('.')) at.invalid('', text, 'should be a domain with at least one dot');
};

const names: Rule<Names> = ({ kind = '', listKind = '' }, at) => {
  if (kind !== '' && kind === listKind) at.invalid('listKind', listKind, 'kind and listKind may not be the same');
};

const versionNames: Rule<DefinitionSpec> = (spec, at) => {
  const versions = spec.versions ?? [];
  for (const [index, version] of versions.entries()) {
    const { name: text = '' } = version;
    const path = `versions[${index}].name`;
    at.problems(path, text, textProblems('dns1035Label', text));
    checkDeprecation(version, `versions[${index}].deprecationWarning`, at);
  }
};

const distinctVersions: Rule<DefinitionSpec> = (spec, at) => {
  const versions = spec.versions ?? [];
  const texts = versions.map(({ name: text }) => text);
  if (new Set(texts).size < texts.length) at.invalid('versions', texts, 'must contain unique version names');
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    at.invalid('versions', texts, 'must have exactly one version marked as storage version');
};

const WARNING_BYTES_MAX = 256;

function checkDeprecation({ deprecated, deprecationWarning }: Version, path: string, at: Report): void {
  if (deprecationWarning === undefined || deprecationWarning === null) return;
  if (deprecated !== true) at.invalid(path, deprecationWarning, 'can only be set for deprecated versions');
  if (deprecationWarning === '') at.invalid(path, deprecationWarning, 'must not be an empty string');
  if (Buffer.byteLength(deprecationWarning) > WARNING_BYTES_MAX) {
    at.invalid(path, deprecationWarning, `must be <= ${WARNING_BYTES_MAX} characters long`);
  }
  if (/[\p{C}\u2028\u2029]/u.test(deprecationWarning)) {
    at.invalid(path, deprecationWarning, 'must only contain printable UTF-8 characters');
  }
}

/** What v1beta1 can say for all versions or for each. */
const COMMON = [
  ['validation', 'schema', 'schemas'],
  ['subresources', 'subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

/** What is the same for all versions is said once, and what is said for all is not said again for one. */
const olderCommon: Rule<DefinitionSpec & JsonObject> = (spec, at) => {
  const versions = (spec.versions ?? []) as readonly JsonObject[];
  for (const [topName, name, plural] of COMMON) {
    const given = versions.filter((version) => version[name] !== undefined);
    if (given.length === 0) continue;
    if (spec[topName] !== undefined) {
      at.forbidden(topName, `top-level and per-version ${plural} are mutually exclusive`);
    }
    if (given.length === versions.length && versions.every((version) => deepEqual(version[name], versions[0]![name]))) {
      const detail = `per-version ${plural} may not all be set to identical values (top-level ${topName} should be used instead)`;
      at.invalid(
        'versions',
        versions.map(({ name: text }) => text),
        detail,
      );
    }
  }
};

const olderVersion: Rule<DefinitionSpec> = ({ version, versions }, at) => {
  const first = versions?.[0]?.name;
  if ((version ?? '') !== '' && first !== undefined && version !== first) {
    at.invalid('version', version, 'must match the first version in spec.versions');
  }
};

const conversion: Rule<DefinitionSpec> = ({ conversion: how, preserveUnknownFields }, at) => {
  if (!how) return;
  const webhook = how.webhook as
    | { clientConfig?: object; conversionReviewVersions?: readonly string[] | null }
    | undefined;
  const clientConfig = webhook?.clientConfig ?? how.webhookClientConfig;
  const versions = webhook?.conversionReviewVersions ?? how.conversionReviewVersions ?? [];
  const isOlder =
    how.webhook === undefined && (how.webhookClientConfig !== undefined || how.conversionReviewVersions !== undefined);
  const clientPath = isOlder ? 'conversion.webhookClientConfig' : 'conversion.webhook.clientConfig';
  const versionsPath = isOlder ? 'conversion.conversionReviewVersions' : 'conversion.webhook.conversionReviewVersions';
  if (how.strategy === 'Webhook') {
    if (preserveUnknownFields === true)
      at.invalid('conversion.strategy', 'Webhook', 'must be None if spec.preserveUnknownFields is true');
    if (!clientConfig) at.required(clientPath, 'required when strategy is set to Webhook');
    if (versions.length === 0) at.required(versionsPath);
    return;
  }
  if (clientConfig) at.forbidden(clientPath, 'should not be set when strategy is not set to Webhook');
  if (versions.length > 0) at.forbidden(versionsPath, 'should not be set when strategy is not set to Webhook');
};

/** Of names of any kind. */
const FIELD_PATH = /^(?:\.[^.[\]*]+)+$/;

function below(...roots: readonly string[]): Rule<string> {
  const where = `${roots.length > 1 ? 'either ' : ''}${roots.join(' or ')}`;
  return (path, at) => {
    if (!path.startsWith('.')) at.invalid('', path, 'must be a simple json path starting with .');
    else if (!FIELD_PATH.test(path)) at.invalid('', path, 'should be a simple json path without arrays');
    else if (!roots.some((root) => path.startsWith(`${root}.`)))
      at.invalid('', path, `should be a json path under ${where}`);
  };
}

interface Column {
  readonly type?: string;
  readonly format?: string;
  readonly jsonPath?: string;
  readonly JSONPath?: string;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const printerColumn: Rule<Column> = (column, at) => {
  checkWord('type', column.type, COLUMN_TYPES, at);
  checkWord('format', column.format, COLUMN_FORMATS, at);
  const member = column.JSONPath === undefined ? 'jsonPath' : 'JSONPath';
  const path = column[member] ?? '';
  if (path === '') at.required(member);
  else if (!path.startsWith('.')) at.invalid(member, path, 'must be a simple json path starting with .');
};

function checkWord(member: 'type' | 'format', value = '', known: readonly string[], at: Report): void {
  if (value !== '' && !known.includes(value)) at.invalid(member, value, `must be one of ${known.join(',')}`);
}

const fixedOnceEstablished: ChangeRule<Definition> = (next, stored, at) => {
  const isEstablished = (stored.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  if (!isEstablished) return;
  const { scope, names: now } = next.spec ?? {};
  const before = stored.spec ?? {};
  if (scope !== before.scope) at.invalid('spec.scope', scope ?? '', 'field is immutable');
  if (now?.kind !== before.names?.kind) at.invalid('spec.names.kind', now?.kind ?? '', 'field is immutable');
};

const WORD = { format: 'dns1035Label' } as const;

const SPEC_FIELDS = {
  group: { required: true, rules: [group] },
  scope: { required: true, enum: true },
} as const;

export const customResourceTypes: RuleTable = {
  'apiextensions.CustomResourceDefinition': { rules: [name, 'spec', storedVersions, approval] },
  'apiextensions/v1.CustomResourceDefinitionSpec': {
    fields: SPEC_FIELDS,
    rules: [
      'group',
      'scope',
      schemaRules.needed,
      versionNames,
      schemaRules.each,
      'versions',
      distinctVersions,
      'names',
      'conversion',
      conversion,
    ],
  },
  'apiextensions/v1beta1.CustomResourceDefinitionSpec': {
    fields: SPEC_FIELDS,
    rules: [
      'group',
      'scope',
      olderSchemaRules.needed,
      versionNames,
      'versions',
      olderCommon,
      distinctVersions,
      olderVersion,
      'names',
      olderSchemaRules.each,
      'subresources',
      'additionalPrinterColumns',
      'conversion',
      conversion,
    ],
  },
  'apiextensions.CustomResourceDefinitionStatus': { fields: { acceptedNames: { opaque: true } } },
  'apiextensions.CustomResourceDefinitionNames': {
    fields: {
      plural: { required: true, format: 'dns1035Label' },
      singular: { required: true, format: 'dns1035Label' },
      kind: { required: true, format: 'dns1035LabelAnyCase' },
      listKind: { required: true, format: 'dns1035LabelAnyCase' },
      shortNames: WORD,
      categories: WORD,
    },
    rules: ['plural', 'singular', 'kind', 'listKind', 'shortNames', names, 'categories'],
  },
  'apiextensions.CustomResourceSubresourceScale': {
    fields: {
      specReplicasPath: { required: true, rules: [below('.spec')] },
      statusReplicasPath: { required: true, rules: [below('.status')] },
      labelSelectorPath: { rules: [below('.spec', '.status')], mayBeEmpty: true },
    },
  },
  'apiextensions.CustomResourceColumnDefinition': {
    fields: {
      name: { required: true },
      type: { required: `must be one of ${COLUMN_TYPES.join(',')}` },
    },
    rules: [printerColumn],
  },
  'apiextensions.CustomResourceConversion': {
    fields: { strategy: { required: true, enum: true } },
  },
  'apiextensions/v1beta1.CustomResourceConversion': {
    fields: { strategy: { required: true, enum: true }, conversionReviewVersions: { rules: [reviewVersions] } },
  },
  'apiextensions/v1.WebhookConversion': { fields: { conversionReviewVersions: { rules: [reviewVersions] } } },
  'apiextensions.WebhookClientConfig': webhookTarget.client,
  'apiextensions.ServiceReference': webhookTarget.service,
};

export const customResourceUpdates: ChangeTable = {
  'apiextensions.CustomResourceDefinition': {
    fields: { 'spec.group': { immutable: true }, 'spec.names.plural': { immutable: true } },
    rules: [fixedOnceEstablished, 'spec.group', 'spec.names.plural', storedVersionsKept, approvalKept],
  },
};
