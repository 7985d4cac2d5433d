// Rules of nodes: taints, addresses of their pods, what they offer.
import { spellGate } from '../../../config/feature-gates.ts';
import { parseIpRange } from '../../../values/ip.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asObject } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { distinct, eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type ChangeRule, type ChangeTable, CREATE_RULES, type Rule, type RuleTable } from '../rule.ts';
import { type Amounts, amountAllowed } from './resource-amounts.ts';

interface Taint {
  readonly key?: string;
  readonly effect?: string;
}

const taints = distinct<Taint>(
  ({ key, effect }) => `${key}:${effect}`,
  (_key, taint, at) => at.duplicate('', taint),
);

interface NodeSpec {
  readonly podCIDRs?: readonly string[];
}

/** The ranges of a node's pods, which podCIDR is in step with. */
const podCidrs: Rule<NodeSpec> = ({ podCIDRs = [] }, at) => {
  if (podCIDRs.length === 0) return;
  const ranges = podCIDRs.slice(0, 3).map(parseIpRange);
  for (const [index, range] of ranges.entries()) {
    if (range === undefined) at.invalid(`podCIDRs[${index}]`, podCIDRs[index], 'must be valid CIDR');
  }
  if (podCIDRs.length < 2) return;
  if (podCIDRs.length > 2 || ranges[0]?.family === ranges[1]?.family) {
    at.invalid('podCIDRs', podCIDRs, 'may specify no more than one CIDR for each IP family');
  }
  const repeat = (text: string | number, index: number): void => at.duplicate(`podCIDRs[${index}]`, text);
  eachRepeated(podCIDRs, (text) => text, repeat, undefined);
};

interface ConfigMapSource {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly [member: string]: string | undefined;
}

/** Of a new node it is let be. */
const configSource: ChangeRule<JsonObject> = ({ spec }, _stored, at) => {
  const { configSource: source } = asObject(spec) as { configSource?: { configMap?: ConfigMapSource } };
  if (!source) return;
  at.enter('spec.configSource');
  checkConfigMap(source.configMap, at);
  at.leave();
};

function checkConfigMap(configMap: ConfigMapSource | undefined, at: Report): void {
  if (!configMap) {
    at.invalid('', {}, 'exactly one reference subfield must be non-nil');
    return;
  }
  const keyMember = `${at.dialect.nodeAgent}ConfigKey`;
  for (const member of ['uid', 'resourceVersion'] as const) {
    if ((configMap[member] ?? '') !== '') at.forbidden(`configMap.${member}`, `${member} must not be set in spec`);
  }
  for (const [member, format] of [
    ['namespace', 'dns1123Label'],
    ['name', 'dns1123Subdomain'],
    [keyMember, 'configMapKey'],
  ] as const) {
    const text = configMap[member] ?? '';
    if (text === '') at.required(`configMap.${member}`, `${member} must be set`);
    else at.problems(`configMap.${member}`, text, textProblems(format, text));
  }
}

interface NodeStatus {
  readonly capacity?: Amounts;
  readonly allocatable?: Amounts;
}

const offeredAmounts: Rule<Amounts> = (amounts, at) => {
  for (const name in amounts) {
    amountAllowed(name, amounts[name]!, at, name);
  }
};

/** A node brings its status along when it is created. Reported from its spec. */
const offers: Rule<NodeSpec> = (_spec, at) => {
  const { capacity = {}, allocatable = {} } = (at.root.status ?? {}) as NodeStatus;
  const spec = at.step();
  at.enter('status');
  at.enter('capacity');
  offeredAmounts(capacity, at);
  at.leave();
  at.enter('allocatable');
  offeredAmounts(allocatable, at);
  at.leave();
  at.leave();
  at.enter(spec);
};

/** The pods that the scheduler is asked to keep away, each by the controller it has. */
const avoidedPods: Rule<JsonObject> = (node, at) => {
  const key = at.dialect.spell('scheduler.alpha.@label/preferAvoidPods');
  const text = metadataOf(node).annotations?.[key] ?? '';
  if (text === '') return;
  at.enter('metadata.annotations');
  const list = avoidedIn(text);
  if (list === undefined) at.invalid('AvoidPods', key, 'must be a JSON object with a list preferAvoidPods');
  for (const [index, entry] of (list ?? []).entries()) {
    const path = `${key}[${index}].PodSignature`;
    const { podController } = asObject(asObject(entry).podSignature);
    if (!isJsonObject(podController)) at.required(path);
    else if (podController.controller !== true) {
      at.invalid(`${path}.PodController.Controller`, false, 'must point to a controller');
    }
  }
  at.leave();
};

/** Undefined for a text that is no such list. */
function avoidedIn(text: string): readonly unknown[] | undefined {
  try {
    const object: unknown = JSON.parse(text);
    const list = isJsonObject(object) ? (object.preferAvoidPods ?? []) : undefined;
    return Array.isArray(list) ? (list as readonly unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Each range that is another one is reported, at the field itself. */
const rangesFixed: ChangeRule<readonly string[] | undefined> = (next = [], stored = [], at) => {
  if (stored.length === 0) return;
  const isAsLong = next.length === stored.length;
  const changes = isAsLong ? stored.filter((range, index) => range !== next[index]).length : 1;
  for (let i = 0; i < changes; i++) {
    at.forbidden('', 'node updates may not change podCIDR except from "" to valid');
  }
};

const providerFixed: ChangeRule<string | undefined> = (next = '', stored = '', at) => {
  if (stored === '' || next === stored) return;
  at.forbidden('', 'node updates may not change providerID except from "" to valid');
};

/** What may change at all: said once, after what is said of the fields themselves. */
const onlyThese: ChangeRule<JsonObject> = (next, stored, at) => {
  const { podCIDRs = [], providerID = '' } = asObject(next.spec);
  const { podCIDRs: rangesBefore = [], providerID: providerBefore = '' } = asObject(stored.spec);
  const keepsRanges = (rangesBefore as readonly string[]).length === 0 || deepEqual(podCIDRs, rangesBefore);
  if (keepsRanges && (providerBefore === '' || providerID === providerBefore)) return;
  const gate = spellGate('Dynamic@AgentConfig', at.dialect);
  at.forbidden(
    '[]',
    `node updates may only change labels, taints, or capacity (or configSource, if the ${gate} feature gate is enabled)`,
  );
};

const addresses: Rule<readonly JsonObject[]> = (list, at) =>
  eachRepeated(
    list,
    ({ type, address }) => `${String(type)} ${String(address)}`,
    (_key, index, report) => report.duplicate(`[${index}]`, list[index]),
    at,
  );

export const nodeTypes: RuleTable = {
  'core/v1.Node': { rules: [avoidedPods, 'spec'] },
  'core/v1.NodeSpec': { fields: { configSource: { opaque: true } }, rules: ['taints', offers, podCidrs] },
  'core/v1.Taint': {
    fields: {
      key: { format: 'qualifiedName', emptyToo: true },
      value: { format: 'labelValue' },
      effect: { required: true, enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
    },
    rules: ['key', 'value', 'effect', taints],
  },
  'core/v1.NodeStatus': {
    fields: {
      capacity: { rules: [offeredAmounts] },
      allocatable: { rules: [offeredAmounts] },
      addresses: { rules: [addresses] },
      config: { opaque: true },
    },
  },
};

const fixedNode = {
  'spec.podCIDRs': { rules: [rangesFixed] },
  'spec.providerID': { rules: [providerFixed] },
  'spec.externalID': { immutable: true, reason: 'forbidden', text: 'may not be updated' },
} as const;

export const nodeUpdates: ChangeTable = {
  'core/v1.Node': {
    fields: fixedNode,
    rules: [CREATE_RULES, 'spec.podCIDRs', 'spec.providerID', configSource, 'spec.externalID', onlyThese],
  },
};
