// How the fields of a custom type are owned: by the members that its schema names, by the keys of lists of type map, by the
// values of sets; what the schema says nothing of, as it comes.
import type { CustomType } from '../custom/custom-type.ts';
import { type Structure, TYPE_MEMBERS } from '../custom/structure.ts';
import { asTexts } from '../object-fields.ts';
import {
  byName,
  DEDUCED_RULE,
  deducedRoot,
  LEAF_RULE,
  type ListKey,
  type Member,
  OwnershipRule,
  plain,
} from './ownership-rule.ts';

const rules = new WeakMap<CustomType, OwnershipRule>();

/** The rule of the objects of a custom type; the same each time. */
export function ruleOfCustom(custom: CustomType): OwnershipRule {
  let rule = rules.get(custom);
  if (rule === undefined) {
    const { structure, prefix } = custom.schema;
    rule = deducedRoot(() => (structure === undefined ? [] : membersOf(structure, prefix, true)));
    rules.set(custom, rule);
  }
  return rule;
}

function membersOf(structure: Structure, prefix: string, isWhole: boolean): readonly Member[] {
  return [...structure.properties]
    .filter(([name]) => !isWhole || !TYPE_MEMBERS.has(name))
    .map(([name, property]) => ({ ...plain(name), rule: ruleOf(property, prefix) }));
}

function ruleOf(structure: Structure, prefix: string): OwnershipRule {
  const { node, items, rest, hasRest, keepsUnknown, isEmbedded, properties } = structure;
  if (node.type === 'array') return listRule(structure, prefix);
  if (node.type !== 'object') return keepsUnknown ? DEDUCED_RULE : LEAF_RULE;
  if (node[`${prefix}map-type`] === 'atomic') return LEAF_RULE;
  if (isEmbedded) return deducedRoot(() => membersOf(structure, prefix, true));
  if (properties.size === 0) {
    if (hasRest) return new OwnershipRule('map', () => (rest === undefined ? DEDUCED_RULE : ruleOf(rest, prefix)));
    return items === undefined ? DEDUCED_RULE : LEAF_RULE;
  }
  const members = (): ReadonlyMap<string, Member> => byName(membersOf(structure, prefix, false));
  return keepsUnknown
    ? new OwnershipRule('deduced', () => DEDUCED_RULE, members)
    : new OwnershipRule('struct', () => LEAF_RULE, members);
}

function listRule({ node, items }: Structure, prefix: string): OwnershipRule {
  const listType = node[`${prefix}list-type`];
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return LEAF_RULE;
  if (listType === 'set') return new OwnershipRule('set', () => LEAF_RULE);
  const keys = [...asTexts(node[`${prefix}list-map-keys`])].sort().map((name): ListKey => {
    const whenAbsent = items.properties.get(name)?.whenAbsent;
    return {
      name,
      prefix: `${JSON.stringify(name)}:`,
      whenAbsent: typeof whenAbsent === 'string' ? whenAbsent : undefined,
    };
  });
  let element: OwnershipRule | undefined;
  return new OwnershipRule(
    'keyed',
    () => {
      element ??= ruleOf(items, prefix);
      return element;
    },
    undefined,
    keys,
  );
}
