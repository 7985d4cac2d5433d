// Builds the RBAC objects of a new cluster from the role tables.
import type { Dialect } from '../../config/dialect.ts';
import type { BootstrapObject } from './bootstrap-object.ts';
import type { AggregatedRole } from './cluster-roles.ts';
import { CLUSTER_ROLE_SUBJECTS, CLUSTER_ROLES } from './cluster-roles.ts';
import { CONTROLLER_ROLES } from './controller-roles.ts';
import { ROLES } from './namespaced-roles.ts';
import type { RuleRow } from './rbac-rules.ts';
import { policyRule } from './rbac-rules.ts';

/** What everybody may do besides where the server tells clients who they are (`selfsubjectreviews`). */
const ASK_WHO: RuleRow = ['create', 'authentication.@group', 'selfsubjectreviews'];
const EVERYBODY = 'system:basic-user';

/**
 * Cluster roles and their bindings, then roles and theirs: a role always before what binds to it. `tellsWho`: the server has
 * the type that tells clients who they are.
 */
export function rbacObjects(dialect: Dialect, tellsWho = false): readonly BootstrapObject[] {
  const build = new RbacBuilder(dialect);
  const controllers = Object.entries(CONTROLLER_ROLES);
  return [
    ...CLUSTER_ROLES.map(({ name, rules, sumOf, partOf }) =>
      build.clusterRole(name, tellsWho && name === EVERYBODY ? [...rules, ASK_WHO] : rules, sumOf, partOf),
    ),
    ...controllers.map(([name, rules]) => build.clusterRole(`system:controller:${name}`, rules)),
    ...Object.entries(CLUSTER_ROLE_SUBJECTS).map(([name, subjects]) => build.clusterRoleBinding(name, subjects)),
    ...controllers.map(([name]) => build.clusterRoleBinding(`system:controller:${name}`, [`ServiceAccount ${name}`])),
    ...ROLES.map(({ name, namespace, rules }) => build.role(name, namespace, rules)),
    ...ROLES.map(({ name, namespace, subjects, bindingName }) =>
      build.roleBinding(bindingName ?? name, namespace, name, subjects),
    ),
  ];
}

class RbacBuilder {
  readonly #dialect: Dialect;
  readonly #group: string;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#group = dialect.spell('rbac.authorization.@group');
  }

  clusterRole(
    name: string,
    rules: readonly RuleRow[],
    sumOf?: AggregatedRole,
    partOf?: AggregatedRole,
  ): BootstrapObject {
    const selector = sumOf && { clusterRoleSelectors: [{ matchLabels: this.#aggregateTo(sumOf) }] };
    return {
      ...this.#object('ClusterRole', name, undefined, partOf && this.#aggregateTo(partOf)),
      ...(selector ? { aggregationRule: selector } : {}),
      rules: this.#rules(rules),
    };
  }

  role(name: string, namespace: string, rules: readonly RuleRow[]): BootstrapObject {
    return { ...this.#object('Role', name, namespace), rules: this.#rules(rules) };
  }

  clusterRoleBinding(role: string, subjects: readonly string[]): BootstrapObject {
    return { ...this.#object('ClusterRoleBinding', role), ...this.#binds('ClusterRole', role, subjects) };
  }

  roleBinding(name: string, namespace: string, role: string, subjects: readonly string[]): BootstrapObject {
    return { ...this.#object('RoleBinding', name, namespace), ...this.#binds('Role', role, subjects) };
  }

  #object(kind: string, name: string, namespace?: string, labels?: Readonly<Record<string, string>>): BootstrapObject {
    const { spell } = this.#dialect;
    return {
      apiVersion: `${this.#group}/v1`,
      kind,
      metadata: {
        name: spell(name),
        ...(namespace === undefined ? {} : { namespace: spell(namespace) }),
        labels: { [spell('@label/bootstrapping')]: 'rbac-defaults', ...labels },
        annotations: { [spell('rbac.authorization.@label/autoupdate')]: 'true' },
      },
    };
  }

  #rules(rows: readonly RuleRow[]): readonly unknown[] {
    return rows.map((row) => policyRule(this.#dialect, row));
  }

  #aggregateTo(role: AggregatedRole): Readonly<Record<string, string>> {
    return { [`${this.#group}/aggregate-to-${role}`]: 'true' };
  }

  #binds(kind: string, role: string, subjects: readonly string[]): object {
    return {
      roleRef: { apiGroup: this.#group, kind, name: this.#dialect.spell(role) },
      subjects: subjects.map((subject) => this.#subject(subject)),
    };
  }

  #subject(text: string): object {
    const [kind, name] = this.#dialect.spell(text).split(' ') as [string, string];
    return kind === 'ServiceAccount'
      ? { kind, name, namespace: this.#dialect.systemNamespace }
      : { kind, apiGroup: this.#group, name };
  }
}
