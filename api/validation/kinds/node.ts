// Rules of nodes: taints, addresses of their pods, what they offer.
import { parseIpRange } from '../../../values/ip.ts';
import { deepEqual } from '../../deep-equal.ts';
import type { JsonObject } from '../../json-value.ts';
import { qualifiedNameProblems } from '../formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { type Amounts, amountAllowed } from './resource-amounts.ts';

interface Taint {
  readonly key?: string;
  readonly effect?: string;
}

const taints: Rule<readonly Taint[]> = (list, at) =>
  eachRepeated(
    list,
    ({ key, effect }) => `${key}:${effect}`,
    (_key, index, report) => report.duplicate(`[${index}]`, list[index]),
    at,
  );

interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
}

const podCidrs: Rule<NodeSpec> = ({ podCIDR = '', podCIDRs = [] }, at) => {
  if (podCIDRs.length === 0) return;
  const ranges = podCIDRs.slice(0, 3).map(parseIpRange);
  for (const [index, range] of ranges.entries()) {
    if (range === undefined) at.invalid(`podCIDRs[${index}]`, podCIDRs[index], 'must be a valid CIDR value');
  }
  if (podCIDR !== podCIDRs[0]) at.invalid('podCIDRs[0]', podCIDRs[0], 'must match `podCIDR`');
  if (podCIDRs.length > 2) at.invalid('podCIDRs', podCIDRs, 'must contain no more than two values');
  if (podCIDRs.length === 2) {
    if (podCIDRs[0] === podCIDRs[1]) at.duplicate('podCIDRs[1]', podCIDRs[1]);
    else if (ranges[0] !== undefined && ranges[0].family === ranges[1]?.family) {
      at.invalid('podCIDRs', podCIDRs, 'must be no more than one range of each IP family');
    }
  }
};

interface ConfigMapSource {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly [member: string]: string | undefined;
}

const configSource: Rule<{ readonly configMap?: ConfigMapSource }> = ({ configMap }, at) => {
  if (!configMap) {
    at.invalid('', {}, 'exactly one reference subfield must be non-nil');
    return;
  }
  const keyMember = `${at.dialect.nodeAgent}ConfigKey`;
  for (const member of ['namespace', 'name', keyMember]) {
    if ((configMap[member] ?? '') === '') at.required(`configMap.${member}`);
  }
  for (const member of ['uid', 'resourceVersion'] as const) {
    if ((configMap[member] ?? '') !== '') at.forbidden(`configMap.${member}`, `${member} must not be set in spec`);
  }
};

interface NodeStatus {
  readonly capacity?: Amounts;
  readonly allocatable?: Amounts;
}

const offeredAmounts: Rule<Amounts> = (amounts, at) => {
  for (const name in amounts) {
    at.problems(`[${name}]`, name, qualifiedNameProblems(name));
    amountAllowed(name, amounts[name]!, at);
  }
};

/** A node brings its status along when it is created. */
const offers: Rule<JsonObject> = ({ status }, at) => {
  const { capacity = {}, allocatable = {} } = (status ?? {}) as NodeStatus;
  at.enter('status');
  at.enter('capacity');
  offeredAmounts(capacity, at);
  at.leave();
  at.enter('allocatable');
  offeredAmounts(allocatable, at);
  at.leave();
  at.leave();
};

const fixedOnceSet =
  (detail: string): ChangeRule<unknown> =>
  (next, stored, at) => {
    const isSet = Array.isArray(stored) ? stored.length > 0 : (stored ?? '') !== '';
    if (isSet && !deepEqual(next, stored)) at.forbidden('', detail);
  };

const addresses: Rule<readonly JsonObject[]> = (list, at) =>
  eachRepeated(
    list,
    ({ type, address }) => `${String(type)} ${String(address)}`,
    (_key, index, report) => report.duplicate(`[${index}]`, list[index]),
    at,
  );

export const nodeTypes: RuleTable = {
  'core/v1.Node': { rules: [offers] },
  'core/v1.NodeSpec': { fields: { taints: { rules: [taints] } }, rules: [podCidrs] },
  'core/v1.Taint': {
    fields: {
      key: { required: true, reason: 'invalid', format: 'qualifiedName' },
      value: { format: 'labelValue' },
      effect: { required: true, enum: true },
    },
  },
  'core/v1.NodeConfigSource': { rules: [configSource] },
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
  'spec.podCIDRs': { rules: [fixedOnceSet('node updates may not change podCIDR except from "" to valid')] },
  'spec.providerID': { rules: [fixedOnceSet('node updates may not change providerID except from "" to valid')] },
  'spec.externalID': { immutable: true, reason: 'forbidden' },
} as const;

export const nodeUpdates: ChangeTable = { 'core/v1.Node': { fields: fixedNode } };
