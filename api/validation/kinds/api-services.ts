// Rules of API services.
import type { JsonObject } from '../../json/json-value.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { portNumberProblems } from '../field-formats.ts';
import type { Rule, RuleTable } from '../rule.ts';

interface ApiServiceSpec {
  readonly group?: string;
  readonly version?: string;
  readonly service?: { readonly name?: string; readonly namespace?: string; readonly port?: number | null };
  readonly insecureSkipTLSVerify?: boolean;
  readonly caBundle?: string;
}

const name: Rule<JsonObject> = (object, at) => {
  const { group = '', version = '' } = (object.spec ?? {}) as ApiServiceSpec;
  const expected = `${version}.${group}`;
  if (metadataOf(object).name !== expected) {
    at.invalid(
      'metadata.name',
      metadataOf(object).name ?? '',
      `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`,
    );
  }
};

const groupVersion: Rule<ApiServiceSpec> = ({ group = '', version = '' }, at) => {
  if (group === '' && version !== 'v1')
    at.required('group', 'only v1 may have an empty group and it better be legacy kube');
  else if (group !== '') at.problems('group', group, textProblems('dns1123Subdomain', group));
  at.problems('version', version, textProblems('dns1035Label', version));
};

const service: Rule<ApiServiceSpec> = ({ service, insecureSkipTLSVerify, caBundle = '' }, at) => {
  if (!service) {
    if (caBundle !== '')
      at.invalid(
        'caBundle',
        `${Buffer.from(caBundle, 'base64').length} bytes`,
        'local APIServices may not have a caBundle',
      );
    if (insecureSkipTLSVerify)
      at.invalid('insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  if ((service.namespace ?? '') === '') at.required('service.namespace');
  if ((service.name ?? '') === '') at.required('service.name');
  const { port } = service;
  if (port !== undefined && port !== null) {
    for (const problem of portNumberProblems(port)) at.invalid('service.port', port, `port is not valid: ${problem}`);
  }
  if (insecureSkipTLSVerify && caBundle !== '')
    at.invalid('insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
};

export const apiServiceTypes: RuleTable = {
  'apiregistration.APIService': { rules: [name, 'spec'] },
  'apiregistration.APIServiceSpec': {
    fields: {
      groupPriorityMinimum: { min: 1, max: 20_000, below: 'must be positive and less than 20000' },
      versionPriority: { min: 1, max: 1000, below: 'must be positive and less than 1000' },
    },
    rules: [groupVersion, 'groupPriorityMinimum', 'versionPriority', service],
  },
  'apiregistration.APIServiceCondition': { fields: { status: { enum: true } } },
};
