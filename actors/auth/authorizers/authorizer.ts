// What an authorizer is, and how a chain of them decides. It knows no authorizer by name; modes.ts lists them.
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import type { PolicyRule } from '../../../api/authorization/policy-rule.ts';
import { type ClusterKnowledge, isClusterReader } from '../cluster-feed.ts';
import type { NonResourceRule, ResourceRule } from '../protocol.ts';

/** An authorizer's answer. Without an opinion the next one is asked. */
export interface Verdict {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  /** Shown to the client when nobody allows the request; may be blank. */
  readonly reason: string;
  /** Why an authorizer could not say; shown to the client too, so nothing secret. Absent: none failed. */
  readonly errors?: readonly string[];
}

/** What a user may do in a namespace, as far as it can be listed. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** The authorizer may allow more than it can list. */
  readonly isIncomplete: boolean;
  /** What could not be looked at. */
  readonly errors: readonly string[];
}

export interface Authorizer {
  /** At once where nothing has to be waited for. */
  decide(user: User, access: AccessAttributes): Verdict | Promise<Verdict>;
  rules(user: User, namespace: string): Rules;
}

/** Answers that never differ are made once: every request asks for one. */
export const ALLOW: Verdict = { decision: 'allow', reason: '' };
export const NO_OPINION: Verdict = { decision: 'noOpinion', reason: '' };
export const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], isIncomplete: false, errors: [] };

const ALL = ['*'];
export const EVERYTHING: Rules = {
  resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
  nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
  isIncomplete: false,
  errors: [],
};

/** Rules as roles hold them, as reviews list them. */
export function rulesFrom(rules: readonly PolicyRule[], errors: readonly string[]): Rules {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    if (resources.length > 0)
      resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) });
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return { resourceRules, nonResourceRules, isIncomplete: false, errors };
}

/** Asks its authorizers in order; the first that allows or denies decides. SPEC.md, "Authorization". */
export class AuthorizerChain {
  readonly members: readonly Authorizer[];
  readonly #readsCluster: readonly boolean[];

  constructor(authorizers: readonly Authorizer[]) {
    this.members = authorizers;
    this.#readsCluster = authorizers.map(isClusterReader);
  }

  /** Where nobody has an opinion the request is refused, with the reasons of all, one a line, and what they failed on. */
  decide(user: User, access: AccessAttributes, cluster: ClusterKnowledge): Verdict | Promise<Verdict> {
    return this.#from(0, user, access, cluster, NO_OPINION);
  }

  /** The rules of all of them. Throws where what one of them goes by is not known yet: none would look like none at all. */
  rules(user: User, namespace: string, cluster: ClusterKnowledge): Rules {
    if (this.#readsCluster.includes(true)) cluster.requireWhole();
    const each = this.members.map((authorizer) => authorizer.rules(user, namespace));
    if (each.includes(EVERYTHING)) return EVERYTHING;
    return {
      resourceRules: each.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: each.flatMap(({ nonResourceRules }) => nonResourceRules),
      isIncomplete: each.some(({ isIncomplete }) => isIncomplete),
      errors: each.flatMap(({ errors }) => errors),
    };
  }

  #from(
    index: number,
    user: User,
    access: AccessAttributes,
    cluster: ClusterKnowledge,
    before: Verdict,
  ): Verdict | Promise<Verdict> {
    let known = before;
    for (let i = index; i < this.members.length; i++) {
      const authorizer = this.members[i]!;
      if (this.#readsCluster[i] === true) cluster.requireWhole();
      const verdict = authorizer.decide(user, access);
      if (verdict instanceof Promise) {
        const soFar = known;
        return verdict.then((late) =>
          late.decision === 'noOpinion' ? this.#from(i + 1, user, access, cluster, joined(soFar, late)) : late,
        );
      }
      // What others failed on before is nothing to somebody who decides.
      if (verdict.decision !== 'noOpinion') return verdict;
      known = joined(known, verdict);
    }
    return known;
  }
}

/** What two without an opinion come to. */
function joined(before: Verdict, verdict: Verdict): Verdict {
  if (before === NO_OPINION) return verdict;
  const { reason, errors } = verdict;
  if (reason === '' && errors === undefined) return before;
  const reasons = [before.reason, reason].filter((one) => one !== '').join('\n');
  const failed = [...(before.errors ?? []), ...(errors ?? [])];
  return { decision: 'noOpinion', reason: reasons, ...(failed.length === 0 ? undefined : { errors: failed }) };
}
