// What an authorizer is, and how a chain of them decides. It knows no authorizer by name; modes.ts lists them.
import type { AccessAttributes, NonResourceRule, ResourceRule, User } from '../protocol.ts';

/** An authorizer's answer. Without an opinion the next one is asked. */
export interface Verdict {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  /** Shown to the client when nobody allows the request; may be blank. */
  readonly reason: string;
}

/** What a user may do in a namespace, as far as it can be listed. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
}

export interface Authorizer {
  readonly name: string;
  decide(user: User, access: AccessAttributes): Verdict;
  rules(user: User, namespace: string): Rules;
}

/** Answers that never differ are made once: every request asks for one. */
export const ALLOW: Verdict = { decision: 'allow', reason: '' };
export const NO_OPINION: Verdict = { decision: 'noOpinion', reason: '' };
export const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [] };

const ALL = ['*'];
export const EVERYTHING: Rules = {
  resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
  nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
};

/** Asks its authorizers in order; the first that allows or denies decides. SPEC.md, "Authorization". */
export class AuthorizerChain {
  readonly #authorizers: readonly Authorizer[];

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  /** Where nobody has an opinion the request is refused, with the reasons of all, one a line. */
  decide(user: User, access: AccessAttributes): Verdict {
    const reasons: string[] = [];
    for (const authorizer of this.#authorizers) {
      const verdict = authorizer.decide(user, access);
      if (verdict.decision !== 'noOpinion') return verdict;
      if (verdict.reason !== '') reasons.push(verdict.reason);
    }
    return { decision: 'noOpinion', reason: reasons.join('\n') };
  }

  /** The rules of all of them. */
  rules(user: User, namespace: string): Rules {
    const each = this.#authorizers.map((authorizer) => authorizer.rules(user, namespace));
    if (each.includes(EVERYTHING)) return EVERYTHING;
    return {
      resourceRules: each.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: each.flatMap(({ nonResourceRules }) => nonResourceRules),
    };
  }
}
