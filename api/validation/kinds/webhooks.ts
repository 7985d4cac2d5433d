// Rules of webhook configurations, and of what webhooks are reached at wherever they are named.

import { remembered } from '../../../values/remembered.ts';
import { asList } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { portNumberProblems } from '../field-formats.ts';
import { validateLabelSelector } from '../label-selector.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type Rule, type RuleTable, STOP } from '../rule.ts';
import { isReadable, type LabelSelector } from './labels.ts';

interface ClientConfig {
  readonly url?: string | null;
  readonly service?: WebhookService;
}

interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string | null;
  readonly port?: number | null;
}

const oneTarget: Rule<ClientConfig> = ({ url, service }, at) => {
  const hasUrl = url !== undefined && url !== null;
  if (hasUrl === Boolean(service)) at.required('', 'exactly one of url or service is required');
};

const service: Rule<WebhookService> = ({ name = '', namespace = '', path, port }, at) => {
  if (name === '') at.required('name', 'service name is required');
  if (namespace === '') at.required('namespace', 'service namespace is required');
  for (const problem of portNumberProblems(port ?? 443)) at.invalid('port', port, `port is not valid: ${problem}`);
  if ((path ?? '') !== '' && path !== '/') checkServicePath(path!, at);
};

function checkServicePath(path: string, at: Report): void {
  if (path === '//') {
    at.invalid('path', path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) at.invalid('path', path, "must start with a '/'");
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') at.invalid('path', path, `segment[${index}] may not be empty`);
    else {
      for (const problem of textProblems('dns1123Subdomain', segment))
        at.invalid('path', path, `segment[${index}]: ${problem}`);
    }
  }
}

const FORM = '; desired format: https://host[/path]';
/** Of what the parts are that an error shows: a URL is not read as one of the web. */
const URL_PARTS = /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/i;
/** A path and a query may have blanks, and a query a % of its own. Without a scheme no colon comes before the first slash. */
const MALFORMED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a URL cannot have.
  /[\u0000-\u001f\u007f]|^[^?]*%(?![\da-f]{2})|#.*%(?![\da-f]{2})|^(?![a-z][a-z\d+.-]*:)[^/?#]*:/i;
/** What nothing before the host's @ can have. */
const MALFORMED_USER = /[^\w\-.:~!$&'()*+,;=%@]/;
/** What no host can have, and what stands behind a colon that is no port. */
const MALFORMED_HOST = /[ \\^`{|}]|%(?!25)[0-7]|^\[(?!.*\](?::\d*)?$)|^(?!\[).*:(?!\d*$)[^:]*$/;

/** https, and nothing but host and path. */
const webhookUrl: Rule<string> = (text, at) => {
  const parts = MALFORMED.test(text) ? null : URL_PARTS.exec(text);
  if (parts === null || MALFORMED_USER.test(parts[2] ?? '') || MALFORMED_HOST.test(parts[3] ?? '')) {
    at.required('', `url must be a valid URL${FORM}`);
    return;
  }
  const [, scheme = '', user, host = '', query = '', fragment = ''] = parts;
  if (scheme.toLowerCase() !== 'https') at.invalid('', scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (host === '') at.invalid('', host, `host must be provided${FORM}`);
  if (user !== undefined) at.invalid('', user, 'user information is not permitted in the URL');
  if (fragment !== '') at.invalid('', fragment, 'fragments are not permitted in the URL');
  if (query !== '') at.invalid('', query, 'query parameters are not permitted in the URL');
};

/** What webhooks of any kind are reached at: for the types of two groups. */
export const webhookTarget = {
  client: { fields: { url: { rules: [webhookUrl] } }, rules: [oneTarget, STOP, 'url', 'service'] },
  service: { rules: [service] },
} as const;

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** At least one version of a review that this server sends. */
export const reviewVersions: Rule<readonly string[]> = (versions, at) => {
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) at.invalid(`[${index}]`, version, 'duplicate version');
    else at.problems(`[${index}]`, version, textProblems('dns1035Label', version));
    seen.add(version);
  }
  if (versions.length > 0 && !versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    at.invalid('', versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
  }
};

const ANY = '*';

function anyAlone(what: string): Rule<readonly string[]> {
  return (list, at) => {
    if (list.length > 1 && list.includes(ANY)) {
      at.invalid('', list, `if '*' is present, must not specify other ${what}`);
    }
  };
}

const anyOperation: Rule<{ readonly operations?: readonly string[] }> = ({ operations = [] }, at) => {
  at.enter('operations');
  anyAlone('operations')(operations, at);
  at.leave();
};

const noneEmpty: Rule<readonly string[]> = (list, at) => {
  for (const [index, text] of list.entries()) if (text === '') at.required(`[${index}]`);
};

/** A resource with subresource covers what a wildcard on either side covers already. */
const resources: Rule<readonly string[]> = (list, at) => {
  const all = new Set(list);
  let isPlain = false;
  for (const [index, text] of list.entries()) {
    if (text === '') {
      at.required(`[${index}]`);
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      isPlain ||= text !== ANY;
      continue;
    }
    if (text === '*/*') continue;
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    if (subresource === '') at.required(`[${index}]`, 'subresource must not be empty');
    if (resource !== ANY && subresource !== ANY) {
      if (all.has(`${resource}/*`))
        at.invalid(`[${index}]`, text, `if '${resource}/*' is present, must not specify ${text}`);
      if (all.has(`*/${subresource}`))
        at.invalid(`[${index}]`, text, `if '*/${subresource}' is present, must not specify ${text}`);
    }
  }
  if (list.length > 1 && all.has('*/*')) at.invalid('', list, "if '*/*' is present, must not specify other resources");
  if (isPlain && all.has(ANY)) {
    at.invalid('', list, "if '*' is present, must not specify other resources without subresources");
  }
};

interface Webhook {
  readonly name?: string;
  readonly sideEffects?: string;
}

/** What v1 demands and v1beta1 did not is not demanded of a configuration that is stored without it. */
function isDemanded(at: Report, isMet: (stored: readonly Webhook[]) => boolean): boolean {
  return at.stored === undefined || isMet(asList(at.stored.webhooks) as readonly Webhook[]);
}

const HARMLESS = ['None', 'NoneOnDryRun'];
const EFFECTS = [...HARMLESS, 'Some', 'Unknown'];

const areHarmless = remembered((webhooks: readonly Webhook[]) =>
  webhooks.every(({ sideEffects = '' }) => HARMLESS.includes(sideEffects)),
);

const sideEffects: Rule<string> = (effects, at) => {
  const known = isDemanded(at, areHarmless) ? HARMLESS : EFFECTS;
  if (!known.includes(effects)) at.notSupported('', effects, known);
};

const haveOwnNames = remembered(
  (webhooks: readonly Webhook[]) => new Set(webhooks.map(({ name }) => name)).size === webhooks.length,
);

const uniqueNames = distinct<Webhook>(
  ({ name }) => name,
  (name, _webhook, at) => {
    if (isDemanded(at, haveOwnNames)) at.duplicate('name', name);
  },
);

/** Its labels may be longer than those of a host: no name server is asked for it. */
const webhookName: Rule<string> = (name, at) => {
  const problems = textProblems('dns1123Subdomain', name);
  if (problems.length > 0) at.problems('', name, problems);
  else if (name.split('.').length < 3)
    at.invalid('', name, 'should be a domain with at least three segments separated by dots');
};

interface Selecting {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

/** Whom a webhook is asked about has to be known: one whose selector cannot be read would have to fail for all. */
const readableSelectors: Rule<Selecting> = (webhook, at) => {
  for (const member of ['namespaceSelector', 'objectSelector'] as const) {
    const selector = webhook[member];
    // What is wrong with its form has been reported.
    if (isReadable(selector) || validateLabelSelector(selector, '').length > 0) continue;
    at.invalid(member, selector, 'invalid label selector');
  }
};

const WEBHOOK_FIELDS = {
  name: { required: true, rules: [webhookName] },
  failurePolicy: { enum: true },
  matchPolicy: { enum: true },
  timeoutSeconds: { min: 1, max: 30 },
} as const;

const STRICT_FIELDS = {
  ...WEBHOOK_FIELDS,
  sideEffects: { required: 'must specify one of None, NoneOnDryRun', rules: [sideEffects] },
  admissionReviewVersions: { required: 'must specify one of v1, v1beta1', rules: [reviewVersions] },
} as const;

const OLDER_FIELDS = {
  ...WEBHOOK_FIELDS,
  sideEffects: { enum: true },
  admissionReviewVersions: { rules: [reviewVersions] },
} as const;

/** In the order in which a webhook is looked at. */
const HOOK_TURNS = [
  'name',
  'rules',
  'failurePolicy',
  'matchPolicy',
  'sideEffects',
  'timeoutSeconds',
  'namespaceSelector',
  'objectSelector',
  readableSelectors,
] as const;

const VALIDATING_TURNS = [...HOOK_TURNS, 'clientConfig', 'admissionReviewVersions'] as const;
const MUTATING_TURNS = [...HOOK_TURNS, 'reinvocationPolicy', 'clientConfig', 'admissionReviewVersions'] as const;

const REINVOCATION = { reinvocationPolicy: { enum: true } } as const;
const LIST = { required: true } as const;

export const webhookTypes: RuleTable = {
  'admissionregistration/v1.ValidatingWebhook': { fields: STRICT_FIELDS, rules: [...VALIDATING_TURNS, uniqueNames] },
  'admissionregistration/v1.MutatingWebhook': {
    fields: { ...STRICT_FIELDS, ...REINVOCATION },
    rules: [...MUTATING_TURNS, uniqueNames],
  },
  'admissionregistration/v1beta1.ValidatingWebhook': { fields: OLDER_FIELDS, rules: VALIDATING_TURNS },
  'admissionregistration/v1beta1.MutatingWebhook': {
    fields: { ...OLDER_FIELDS, ...REINVOCATION },
    rules: MUTATING_TURNS,
  },
  'admissionregistration.WebhookClientConfig': webhookTarget.client,
  'admissionregistration.ServiceReference': webhookTarget.service,
  'admissionregistration.RuleWithOperations': {
    fields: {
      operations: { ...LIST, enum: true },
      apiGroups: { ...LIST, rules: [anyAlone('API groups')] },
      apiVersions: { ...LIST, rules: [anyAlone('API versions'), noneEmpty] },
      resources: { ...LIST, rules: [resources] },
      scope: { enum: true },
    },
    rules: [anyOperation, 'operations', 'apiGroups', 'apiVersions', 'resources', 'scope'],
  },
};
