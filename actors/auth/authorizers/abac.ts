// The mode ABAC: the lines of a policy file, read at the start (SPEC.md "Authorization" 2).
import { type AbacRule, abacDecides, abacRules } from '../../../api/authorization/abac-policy.ts';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { type Authorizer, type Rules, rulesFrom, type Verdict } from './authorizer.ts';

export class AbacAuthorizer implements Authorizer {
  readonly #policy: readonly AbacRule[];

  constructor(policy: readonly AbacRule[]) {
    this.#policy = policy;
  }

  decide(user: User, access: AccessAttributes): Verdict {
    const { allowed, reason } = abacDecides(this.#policy, user, access);
    return { decision: allowed ? 'allow' : 'noOpinion', reason };
  }

  rules(user: User, namespace: string): Rules {
    return rulesFrom(abacRules(this.#policy, user, namespace), []);
  }
}
