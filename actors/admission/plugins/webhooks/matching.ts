// Which webhooks hear of a write, and as which resource. What rules say depends on type, subresource and operation alone, and
// is found once for each; what selectors say is asked each time. Pure.
import type { Registry } from '../../../../api/resources/registry.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import type { Operation } from '../../attributes.ts';
import type { Hook, HookRule } from '../../hooks/hook.ts';

/** A webhook that wants to hear of a kind of write. */
export interface Invocation {
  readonly hook: Hook;
  /** The resource it is told of: the one that is written, or the same in the version that it asks for. */
  readonly type: KnownType;
  /** Which of all webhooks of its sort it is, from 0. */
  readonly index: number;
}

/** What rules look at. */
interface RuleSubject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** `CREATE`, … */
  readonly operation: string;
  /** In a namespace; a namespace itself is not. */
  readonly isNamespaced: boolean;
}

const ANY = '*';
const CONFIGURATIONS: readonly string[] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];

/** True for a rule that is about such a write. */
function ruleMatches(rule: HookRule, subject: RuleSubject): boolean {
  return (
    includes(rule.operations, subject.operation) &&
    includes(rule.groups, subject.group) &&
    includes(rule.versions, subject.version) &&
    rule.resources.some((resource) => resourceMatches(resource, subject)) &&
    scopeMatches(rule.scope, subject)
  );
}

function includes(texts: readonly string[], text: string): boolean {
  return texts.includes(ANY) || texts.includes(text);
}

function resourceMatches(wanted: string, { resource, subresource }: RuleSubject): boolean {
  const [main = '', sub = ''] = wanted.split('/', 2);
  return (main === ANY || main === resource) && (sub === ANY || sub === subresource);
}

function scopeMatches(scope: string, { isNamespaced }: RuleSubject): boolean {
  return scope === ANY || (scope === 'Namespaced') === isNamespaced;
}

/** The webhooks whose rules are about such a write, in their order; never any for the configurations of webhooks. */
export function invocationsOf(
  hooks: readonly Hook[],
  registry: Registry,
  type: KnownType,
  subresource: string,
  operation: Operation,
): readonly Invocation[] {
  if (CONFIGURATIONS.includes(type.plural) && type.storageKey.startsWith('admissionregistration.')) return [];
  const others = new OtherVersions(registry, type, subresource);
  const subject = subjectOf(type, subresource, operation);
  return hooks.flatMap((hook, index) => {
    if (hook.rules.some((rule) => ruleMatches(rule, subject))) return [{ hook, type, index }];
    if (!hook.matchesEquivalent) return [];
    const other = others.firstFor(hook.rules, operation);
    return other === undefined ? [] : [{ hook, type: other, index }];
  });
}

function subjectOf(type: KnownType, subresource: string, operation: Operation): RuleSubject {
  const { group, version, plural, namespaced } = type;
  return {
    group,
    version,
    resource: plural,
    subresource,
    operation: operation.toUpperCase(),
    isNamespaced: namespaced,
  };
}

/**
 * The types among which other versions of one are looked for. Of a custom type those count that are not served any more, and all in the
 * order of its definition: who stops serving a version does not take its objects from webhooks that ask for them in that version.
 */
function ways(registry: Registry, { custom }: KnownType): readonly KnownType[] {
  if (custom === undefined) return registry.all();
  const order = custom.definition.versions.map(({ name }) => name);
  return registry
    .known()
    .filter((one) => one.custom?.definition.name === custom.definition.name)
    .sort((a, b) => order.indexOf(a.version) - order.indexOf(b.version));
}

/** The other ways to write the same objects. */
class OtherVersions {
  readonly #subresource: string;
  readonly #find: () => readonly KnownType[];
  #types: readonly KnownType[] | undefined;

  constructor(registry: Registry, type: KnownType, subresource: string) {
    this.#subresource = subresource;
    this.#find = () =>
      ways(registry, type).filter(
        (one) =>
          one !== type &&
          one.storageKey === type.storageKey &&
          (subresource === '' || one.subresources.has(subresource)),
      );
  }

  /** Earlier rules come first. */
  firstFor(rules: readonly HookRule[], operation: Operation): KnownType | undefined {
    this.#types ??= this.#find();
    for (const rule of rules) {
      const found = this.#types.find((type) => ruleMatches(rule, subjectOf(type, this.#subresource, operation)));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
