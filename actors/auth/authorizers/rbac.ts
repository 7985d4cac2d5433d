// The mode RBAC: roles and bindings as the store has them (SPEC.md "Authorization"). What they mean is
// api/authorization/rbac-policy.ts.
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import type { PolicyRule } from '../../../api/authorization/policy-rule.ts';
import { RbacPolicy, type RoleRef, type UserRules } from '../../../api/authorization/rbac-policy.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { ClusterReader } from '../cluster-feed.ts';
import type { Authorizer, Rules, Verdict } from './authorizer.ts';
import { rulesFrom } from './authorizer.ts';

export class RbacAuthorizer implements Authorizer, ClusterReader {
  readonly storageKeys: readonly string[];
  readonly #policy: RbacPolicy;

  constructor(dialect: Dialect) {
    const group = dialect.spell('rbac.authorization.@group');
    this.#policy = new RbacPolicy(group);
    this.storageKeys = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(
      (type) => `${group}/${type}`,
    );
  }

  reset(): void {
    this.#policy.clear();
  }

  onEvent(event: FeedEvent): void {
    const { namespace, name } = event;
    const isRole = event.storageKey.endsWith('roles');
    if (event.type === 'delete') {
      if (isRole) this.#policy.deleteRole(namespace, name);
      else this.#policy.deleteBinding(namespace, name);
    } else if (isRole) this.#policy.setRole(namespace, name, event.object());
    else this.#policy.setBinding(namespace, name, event.object());
  }

  decide(user: User, access: AccessAttributes): Verdict {
    const { allowed, reason } = this.#policy.decide(user, access);
    return { decision: allowed ? 'allow' : 'noOpinion', reason };
  }

  rules(user: User, namespace: string): Rules {
    const { rules, errors } = this.#policy.rulesFor(user, namespace);
    return rulesFrom(rules, errors);
  }

  /** The rules of the role that a binding in `namespace` points at; undefined where there is no such role. */
  rulesOfRef(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#policy.rulesOfRef(roleRef, namespace);
  }

  /** What a user holds, for judging what they grant. */
  held(user: User, namespace: string): UserRules {
    return this.#policy.rulesFor(user, namespace);
  }
}
