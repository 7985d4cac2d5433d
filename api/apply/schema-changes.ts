// Field sets that were written by an earlier schema. A part that is owned as a whole now, and was by its members, belongs to all
// who owned any of them (SPEC.md "Server-side apply versioning"). The other way round nothing is to be done: who owned the whole
// owns none of its members.
import { type FieldSet, isEmpty, LEAF, SELF } from './field-set.ts';
import type { Manager } from './managed-entries.ts';
import type { OwnershipRule } from './ownership-rule.ts';

/** Sets that fit a rule as they are: objects share theirs, and they are asked about with every write. */
const fitting = new WeakMap<OwnershipRule, WeakSet<FieldSet>>();

/** The managers with the fields that they own by the rules of their versions; undefined for a version that there is none of. */
export function byPresentRules(
  managers: readonly Manager[],
  ruleOf: (apiVersion: string) => OwnershipRule | undefined,
): readonly Manager[] {
  let changed: Manager[] | undefined;
  for (const [index, manager] of managers.entries()) {
    const rule = ruleOf(manager.apiVersion);
    const fields = rule === undefined ? manager.fields : fieldsBy(manager.fields, rule);
    if (fields === manager.fields) continue;
    const { entry: _entry, ...rest } = manager;
    changed ??= [...managers];
    changed[index] = { ...rest, fields };
  }
  return changed ?? managers;
}

/** The fields, with parts that are owned as a whole in place of all that is below them; the same set where there are none. */
function fieldsBy(fields: FieldSet, rule: OwnershipRule): FieldSet {
  let known = fitting.get(rule);
  if (known === undefined) {
    known = new WeakSet();
    fitting.set(rule, known);
  }
  if (known.has(fields)) return fields;
  const fitted = byRule(fields, rule);
  known.add(fitted);
  return fitted;
}

function byRule(node: FieldSet, rule: OwnershipRule): FieldSet {
  if (isEmpty(node)) return node;
  if (rule.kind === 'leaf') return LEAF;
  let draft: Record<string, FieldSet> | undefined;
  for (const step in node) {
    if (step === SELF) continue;
    const isMember = step.startsWith('f:');
    // What has no schema owns its lists as a whole.
    if (!isMember && rule.kind === 'deduced') return LEAF;
    const below = isMember ? rule.below(step.slice(2)) : rule.element;
    const fitted = below === undefined ? node[step]! : byRule(node[step]!, below);
    if (fitted === node[step]) continue;
    draft ??= { ...node };
    draft[step] = fitted;
  }
  return draft ?? node;
}
