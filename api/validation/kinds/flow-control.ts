// Rules of flow schemas and priority levels. What the two mandatory ones of each must be is for the bootstrap tables to
// say.
import type { Dialect } from '../../../config/dialect.ts';
import { flowControlObjects } from '../../bootstrap/flow-control.ts';
import { decode } from '../../codec/decode.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { schemaOf } from '../../schema/schema.ts';
import { shownStruct } from '../../status/shown-value.ts';
import { EVERY_VERB } from '../../verbs.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';

const EXEMPT = 'exempt';
const MANDATORY: ReadonlySet<string> = new Set([EXEMPT, 'catch-all']);

const specs = new WeakMap<Dialect, Map<string, unknown>>();

/** The canonical spec a mandatory object must have. */
function mandatorySpec(dialect: Dialect, kind: string, name: string): unknown {
  let known = specs.get(dialect);
  if (known === undefined) {
    known = new Map();
    for (const object of flowControlObjects(dialect, 'mandatory')) {
      const type = schemaOf(dialect).type(`flowcontrol/v1beta1.${object.kind}Spec`);
      known.set(`${object.kind} ${object.metadata.name}`, decode(structuredClone(object.spec), type).object);
    }
    specs.set(dialect, known);
  }
  return known.get(`${kind} ${name}`);
}

function asMandatory(kind: string): Rule<JsonObject> {
  return (object, at) => {
    const { name = '' } = metadataOf(object);
    if (!MANDATORY.has(name) || deepEqual(object.spec, mandatorySpec(at.dialect, kind, name))) return;
    at.invalid('spec', object.spec, `spec of '${name}' must equal the fixed value`);
  };
}

const exemptPrecedence: Rule<{ matchingPrecedence?: number }> = ({ matchingPrecedence = 0 }, at) => {
  if (matchingPrecedence === 1 && metadataOf(at.root).name !== EXEMPT) {
    at.invalid('matchingPrecedence', 1, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
};

interface Subject {
  readonly kind?: string;
  readonly user?: { readonly name?: string };
  readonly group?: { readonly name?: string };
  readonly serviceAccount?: { readonly name?: string; readonly namespace?: string };
}

type Member = 'user' | 'group' | 'serviceAccount';

/** What a kind does not have is refused in this order. */
const SUBJECT_MEMBERS: Readonly<Record<string, Member>> = {
  ServiceAccount: 'serviceAccount',
  User: 'user',
  Group: 'group',
};

const ANY = '*';

const subject: Rule<Subject> = (value, at) => {
  const { kind = '' } = value;
  const wanted = Object.hasOwn(SUBJECT_MEMBERS, kind) ? SUBJECT_MEMBERS[kind] : undefined;
  if (wanted === undefined) {
    at.notSupported('kind', kind, ['Group', 'ServiceAccount', 'User']);
    return;
  }
  checkChosen(kind, wanted, value, at);
  for (const [other, member] of Object.entries(SUBJECT_MEMBERS)) {
    if (member !== wanted && value[member])
      at.forbidden(member, `${member} is forbidden when subject kind is not '${other}'`);
  }
};

function checkChosen(kind: string, wanted: Member, value: Subject, at: Report): void {
  const chosen = value[wanted];
  if (!chosen) {
    at.required(wanted, `${wanted} is required when subject kind is '${kind}'`);
    return;
  }
  const { name = '' } = chosen;
  if (name === '') at.required(`${wanted}.name`);
  if (wanted !== 'serviceAccount') return;
  if (name !== '' && name !== ANY) at.problems('serviceAccount.name', name, textProblems('dns1123Subdomain', name));
  const { namespace = '' } = value.serviceAccount ?? {};
  if (namespace === '') at.required('serviceAccount.namespace', 'must specify namespace for service account');
  else at.problems('serviceAccount.namespace', namespace, textProblems('dns1123Label', namespace));
}

interface RulesWithSubjects {
  readonly resourceRules?: readonly object[];
  readonly nonResourceRules?: readonly object[];
}

const someRule: Rule<RulesWithSubjects> = ({ resourceRules = [], nonResourceRules = [] }, at) => {
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    at.required('', 'at least one of resourceRules and nonResourceRules has to be non-empty');
  }
};

const VERBS: readonly string[] = [...EVERY_VERB, 'proxy'].sort();

const verbs: Rule<readonly string[]> = (list, at) => {
  if (list.includes(ANY)) {
    if (list.length > 1) at.invalid('', list, "if '*' is present, must not specify other verbs");
    return;
  }
  for (const verb of list) {
    if (VERBS.includes(verb)) continue;
    at.notSupported('', list, VERBS);
    return;
  }
};

function anyAlone(what: string): Rule<readonly string[]> {
  return (list, at) => {
    if (list.length > 1 && list.includes(ANY))
      at.invalid('', list, `if '*' is present, must not specify other ${what}`);
  };
}

interface ResourceRule {
  readonly clusterScope?: boolean;
  readonly namespaces?: readonly string[];
}

const namespaces: Rule<ResourceRule> = ({ clusterScope, namespaces: list }, at) => {
  const names = list ?? [];
  if (names.length === 0) {
    if (clusterScope !== true)
      at.required('namespaces', 'resource rules that are not cluster scoped must supply at least one namespace');
    return;
  }
  if (names.includes(ANY)) {
    if (names.length > 1) at.invalid('namespaces', names, "if '*' is present, must not specify other namespaces");
    return;
  }
  for (const [index, name] of names.entries()) {
    for (const problem of textProblems('dns1123Label', name)) {
      at.invalid(`namespaces[${index}]`, name, `each member of this list must be '*' or a DNS-1123 label; ${problem}`);
    }
  }
};

const paths: Rule<readonly string[]> = (list, at) => {
  if (list.includes(ANY)) {
    if (list.length > 1) at.invalid('', list, "if '*' is present, must not specify other non-resource URLs");
    return;
  }
  for (const [index, path] of list.entries()) {
    const problem = pathProblem(path);
    if (problem !== undefined) at.invalid(`[${index}]`, path, problem);
  }
};

/** The first thing that is wrong with a path. */
function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const stem = path.endsWith('/*') ? path.slice(0, -1) : path;
  return stem.includes(ANY) ? 'wildcard can only do suffix matching' : undefined;
}

const levelType: Rule<{ type?: string }> = ({ type = '' }, at) => {
  const { name = '' } = metadataOf(at.root);
  if ((name === EXEMPT) !== (type === 'Exempt')) {
    at.invalid('type', type, `type must be 'Exempt' if and only if name is '${EXEMPT}'`);
  }
};

const limits: Rule<{ type?: string; limited?: object }> = ({ type = '', limited }, at) => {
  if (type === 'Exempt') {
    if (limited) at.forbidden('limited', 'must be nil if the type is not Limited');
  } else if (type !== 'Limited') at.notSupported('type', type, ['Exempt', 'Limited']);
  else if (!limited) at.required('limited', 'must not be empty when type is Limited');
};

interface LimitResponse {
  readonly type?: string;
  readonly queuing?: object;
}

const limitResponse: Rule<LimitResponse> = ({ type = '', queuing }, at) => {
  if (type === 'Reject') {
    if (queuing) at.forbidden('queuing', 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type !== 'Queue') at.notSupported('type', type, ['Queue', 'Reject']);
  else if (!queuing) at.required('queuing', 'must not be empty if limited.limitResponse.type is Limited');
};

interface Queuing {
  readonly queues?: number;
  readonly handSize?: number;
}

/** Bits a shuffled hand may take: it is dealt from one hash. */
const HAND_BITS_MAX = 60;

const hand: Rule<Queuing> = ({ queues = 0, handSize = 0 }, at) => {
  if (handSize > queues) {
    at.invalid('handSize', handSize, `should not be greater than queues (${queues})`);
    return;
  }
  let bits = 0;
  for (let dealt = 0; dealt < handSize && bits <= HAND_BITS_MAX; dealt++) bits += Math.log2(queues - dealt);
  if (Math.ceil(bits) > HAND_BITS_MAX) {
    at.invalid(
      'handSize',
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${HAND_BITS_MAX}`,
    );
  }
};

/** What is refused is shown as the whole method. */
const distinguisher: Rule<{ readonly type?: string }> = ({ type = '' }, at) => {
  const known = ['ByNamespace', 'ByUser'];
  if (!known.includes(type))
    at.notSupported('type', shownStruct('flowcontrol.FlowDistinguisherMethod', { Type: type }), known);
};

const POSITIVE = { min: 1, below: 'must be positive' } as const;
const distinctConditions = { unique: 'type' } as const;

export const flowControlTypes: RuleTable = {
  'flowcontrol.FlowSchema': { rules: ['spec', asMandatory('FlowSchema')] },
  'flowcontrol.FlowSchemaSpec': {
    fields: {
      matchingPrecedence: {
        min: 1,
        max: 10_000,
        below: 'must be a positive value',
        above: 'must not be greater than 10000',
      },
    },
    rules: ['matchingPrecedence', exemptPrecedence, 'distinguisherMethod', 'priorityLevelConfiguration', 'rules'],
  },
  'flowcontrol.PriorityLevelConfigurationReference': {
    fields: { name: { required: 'must reference a priority level', format: 'dns1123Subdomain' } },
  },
  'flowcontrol.FlowDistinguisherMethod': { rules: [distinguisher] },
  'flowcontrol.PolicyRulesWithSubjects': {
    fields: { subjects: { required: 'subjects must contain at least one value' } },
    rules: ['subjects', someRule, 'resourceRules', 'nonResourceRules'],
  },
  'flowcontrol.Subject': { rules: [subject] },
  'flowcontrol.ResourcePolicyRule': {
    fields: {
      verbs: { required: 'verbs must contain at least one value', rules: [verbs] },
      apiGroups: { required: 'resource rules must supply at least one api group', rules: [anyAlone('api groups')] },
      resources: { required: 'resource rules must supply at least one resource', rules: [anyAlone('resources')] },
    },
    rules: [namespaces],
  },
  'flowcontrol.NonResourcePolicyRule': {
    fields: {
      verbs: { required: 'verbs must contain at least one value', rules: [verbs] },
      nonResourceURLs: { required: 'nonResourceURLs must contain at least one value', rules: [paths] },
    },
  },
  'flowcontrol.FlowSchemaStatus': { fields: { conditions: distinctConditions } },
  'flowcontrol.FlowSchemaCondition': { fields: { type: { required: true } } },
  'flowcontrol.PriorityLevelConfiguration': { rules: ['spec', asMandatory('PriorityLevelConfiguration')] },
  'flowcontrol.PriorityLevelConfigurationSpec': {
    fields: { limited: { when: { type: 'Limited' } } },
    rules: [levelType, limits, 'limited'],
  },
  'flowcontrol.LimitedPriorityLevelConfiguration': {
    fields: { assuredConcurrencyShares: POSITIVE },
    rules: ['assuredConcurrencyShares', 'limitResponse'],
  },
  'flowcontrol.LimitResponse': {
    fields: { queuing: { when: { type: 'Queue' } } },
    rules: [limitResponse, 'queuing'],
  },
  'flowcontrol.QueuingConfiguration': {
    fields: {
      queueLengthLimit: POSITIVE,
      queues: { ...POSITIVE, max: 10_000_000, above: 'must not be greater than 10000000' },
      handSize: POSITIVE,
    },
    rules: [hand],
  },
  'flowcontrol.PriorityLevelConfigurationStatus': { fields: { conditions: distinctConditions } },
  'flowcontrol.PriorityLevelConfigurationCondition': { fields: { type: { required: true } } },
};
