// How the fields of a custom type are owned: by the members that its schema names, by the keys of lists of type map, by the
// values of sets; what the schema says nothing of, as it comes. Metadata is owned as that of built-in types, except where there is no
// schema at all.
import { remembered } from '../../values/remembered.ts';
import type { CustomType } from '../custom/definitions/custom-type.ts';
import type { CustomSchema } from '../custom/forms/custom-schema.ts';
import { type Structure, TYPE_MEMBERS } from '../custom/forms/structure.ts';
import { asTexts } from '../json/object-fields.ts';
import { isScalar } from './field-path.ts';
import {
  byName,
  DEDUCED_RULE,
  deducedRoot,
  LEAF_RULE,
  type ListKey,
  type Member,
  OwnershipRule,
  plain,
  ruleOfKind,
  ruleOfMetadata,
  ruleOfType,
  wholeRule,
} from './ownership-rule.ts';

/** The rule of the objects of a custom type; the same each time. */
export const ruleOfCustom: (custom: CustomType) => OwnershipRule = remembered(({ schema }) => {
  const { structure, prefix, metadata, prunes } = schema;
  if (structure === undefined) return ruleOfKind(undefined);
  const isOpen = !prunes || structure.keepsUnknown;
  const words: Words = { prefix, metadata, isOpen };
  return deducedRoot(() => membersOf(structure, words, true), ruleOfMetadata(metadata), !isOpen && !structure.hasRest);
});

/** What the schemas of a type have in common, and what those around one say. */
interface Words extends Pick<CustomSchema, 'prefix' | 'metadata'> {
  /** A schema with members, around this one, keeps unknown ones: what has no type is owned member by member. Else as a whole. */
  readonly isOpen: boolean;
}

function membersOf(structure: Structure, words: Words, isWhole: boolean): readonly Member[] {
  return [...structure.properties]
    .filter(([name]) => !isWhole || !TYPE_MEMBERS.has(name))
    .map(([name, property]) => ({ ...plain(name), rule: ruleOf(property, words) }));
}

function ruleOf(structure: Structure, words: Words): OwnershipRule {
  const { node } = structure;
  if (node.type === 'array') return listRule(structure, words);
  if (node.type !== 'object') return node.type === undefined ? untypedRule(words) : LEAF_RULE;
  const rule = objectRule(structure, words);
  return node[`${words.prefix}map-type`] === 'atomic' ? wholeRule({ isList: false, rule: () => rule }) : rule;
}

function untypedRule({ isOpen }: Words): OwnershipRule {
  return isOpen ? DEDUCED_RULE : LEAF_RULE;
}

function objectRule(structure: Structure, words: Words): OwnershipRule {
  const { rest, keepsUnknown, isEmbedded, properties } = structure;
  if (properties.size === 0 && !isEmbedded) {
    return new OwnershipRule('map', () => (rest === undefined ? untypedRule(words) : ruleOf(rest, words)));
  }
  const isOpen = words.isOpen || keepsUnknown;
  const inside = { ...words, isOpen };
  const own = isEmbedded ? typeMembers(words) : [];
  const members = (): ReadonlyMap<string, Member> => byName([...membersOf(structure, inside, isEmbedded), ...own]);
  return isOpen
    ? new OwnershipRule('deduced', () => DEDUCED_RULE, members)
    : new OwnershipRule('struct', () => LEAF_RULE, members);
}

/** Of an object inside another: the server has no part in it. */
function typeMembers({ metadata }: Words): readonly Member[] {
  return [plain('kind'), plain('apiVersion'), { ...plain('metadata'), rule: ruleOfType(metadata) }];
}

function listRule({ node, items }: Structure, words: Words): OwnershipRule {
  const { prefix } = words;
  const listType = node[`${prefix}list-type`];
  if (items === undefined) return LEAF_RULE;
  if (listType === 'set') return new OwnershipRule('set', () => LEAF_RULE);
  let element: OwnershipRule | undefined;
  const elementRule = (): OwnershipRule => {
    element ??= ruleOf(items, words);
    return element;
  };
  if (listType !== 'map') return wholeRule({ isList: true, rule: elementRule });
  const keys = [...asTexts(node[`${prefix}list-map-keys`])].sort().map((name): ListKey => {
    const whenAbsent = items.properties.get(name)?.whenAbsent;
    return {
      name,
      prefix: `${JSON.stringify(name)}:`,
      whenAbsent: isScalar(whenAbsent) ? whenAbsent : undefined,
    };
  });
  return new OwnershipRule('keyed', elementRule, undefined, keys);
}
