// The roles and bindings of a cluster as one policy that is asked who may do what (SPEC.md "Authorization" 4). Pure: whoever
// follows the store tells it what there is. Kept so that a question costs in proportion to the bindings of the one who asks.
import type { JsonObject } from '../json/json-value.ts';
import { isJsonObject } from '../json/json-value.ts';
import { metadataOf } from '../metadata/object-meta.ts';
import type { AccessAttributes, User } from './attributes.ts';
import { type PolicyRule, ruleAllows, rulesOf } from './policy-rule.ts';

/** What a binding points at. */
export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

interface Binding {
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding';
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

export interface Decision {
  readonly allowed: boolean;
  /** Why: the binding that allows it, or the roles that could not be looked at. May be empty. */
  readonly reason: string;
}

/** The rules of a user in a namespace, and what could not be resolved. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** Rules of one binding that apply to a user, and the answer where they allow; or a role that is not there. */
type Grant = { readonly rules: readonly PolicyRule[]; readonly allowed: Decision } | { readonly missing: string };

/** The bindings of a subject, each with the entry of its list that names it first. */
type SubjectBindings = Map<Binding, Subject>;

const CLUSTER = '';
const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** Users and namespaces whose bindings are kept resolved; one more, and all are resolved again when they ask. */
const RESOLVED_MAX = 2000;
/** Who has more groups than this, by what a review or a proxy says, is resolved each time. */
const IDENTITY_LENGTH_MAX = 10_000;

export class RbacPolicy {
  /** By namespace and name; cluster roles under an empty namespace. */
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** Bindings by namespace (empty: cluster role bindings), then by subject. */
  readonly #bySubject = new Map<string, Map<string, SubjectBindings>>();
  /** Grants by namespace, then by user; emptied by every change. */
  readonly #resolved = new Map<string, Map<string, readonly Grant[]>>();
  #resolvedCount = 0;
  readonly #group: string;

  /** `group`: the API group of roles, as messages name it. */
  constructor(group: string) {
    this.#group = group;
  }

  /** A Role or ClusterRole is there, or has changed. */
  setRole(namespace: string, name: string, role: JsonObject): void {
    this.#roles.set(`${namespace}/${name}`, rulesOf(role));
    this.#forget();
  }

  deleteRole(namespace: string, name: string): void {
    this.#roles.delete(`${namespace}/${name}`);
    this.#forget();
  }

  /** A RoleBinding (with a namespace) or ClusterRoleBinding (without) is there, or has changed. */
  setBinding(namespace: string, name: string, object: JsonObject): void {
    this.deleteBinding(namespace, name);
    const binding = bindingOf(namespace, name, object);
    this.#bindings.set(`${namespace}/${name}`, binding);
    let subjects = this.#bySubject.get(namespace);
    if (subjects === undefined) {
      subjects = new Map();
      this.#bySubject.set(namespace, subjects);
    }
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, namespace);
      const bindings = subjects.get(key);
      if (bindings === undefined) subjects.set(key, new Map([[binding, subject]]));
      else if (!bindings.has(binding)) bindings.set(binding, subject);
    }
  }

  deleteBinding(namespace: string, name: string): void {
    this.#forget();
    const key = `${namespace}/${name}`;
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    const subjects = this.#bySubject.get(namespace)!;
    for (const subject of binding.subjects) {
      const subjectName = subjectKey(subject, namespace);
      const bindings = subjects.get(subjectName);
      bindings?.delete(binding);
      if (bindings?.size === 0) subjects.delete(subjectName);
    }
    if (subjects.size === 0) this.#bySubject.delete(namespace);
  }

  /** Nothing is known any more: the store is read anew. */
  clear(): void {
    this.#roles.clear();
    this.#bindings.clear();
    this.#bySubject.clear();
    this.#forget();
  }

  decide(user: User, access: AccessAttributes): Decision {
    const errors: string[] = [];
    const allowed =
      this.#allowing(this.#grants(user, CLUSTER), access, errors) ??
      (access.isResource && access.namespace !== ''
        ? this.#allowing(this.#grants(user, access.namespace), access, errors)
        : undefined);
    if (allowed !== undefined) return allowed;
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
  }

  /** Every rule that applies to a user in a namespace; cluster-wide ones alone where it is empty. */
  rulesFor(user: User, namespace: string): UserRules {
    const grants = [...this.#grants(user, CLUSTER), ...(namespace === '' ? [] : this.#grants(user, namespace))];
    return {
      rules: grants.flatMap((grant) => ('rules' in grant ? grant.rules : [])),
      errors: [...new Set(grants.flatMap((grant) => ('missing' in grant ? [grant.missing] : [])))],
    };
  }

  /** The rules of the role that a binding in `namespace` points at; undefined where there is no such role. */
  rulesOfRef({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(kind === 'ClusterRole' ? `/${name}` : `${namespace}/${name}`);
  }

  #allowing(grants: readonly Grant[], access: AccessAttributes, errors: string[]): Decision | undefined {
    for (const grant of grants) {
      if ('missing' in grant) errors.push(grant.missing);
      else for (const rule of grant.rules) if (ruleAllows(rule, access)) return grant.allowed;
    }
    return undefined;
  }

  #grants(user: User, namespace: string): readonly Grant[] {
    const subjects = this.#bySubject.get(namespace);
    if (subjects === undefined) return NO_GRANTS;
    const identity = identityOf(user);
    let byUser = this.#resolved.get(namespace);
    const known = byUser?.get(identity);
    if (known !== undefined) return known;
    const grants = this.#resolve(subjects, user, namespace);
    if (identity.length > IDENTITY_LENGTH_MAX) return grants;
    if (this.#resolvedCount >= RESOLVED_MAX) this.#forget();
    if (byUser === undefined || !this.#resolved.has(namespace)) {
      byUser = new Map();
      this.#resolved.set(namespace, byUser);
    }
    byUser.set(identity, grants);
    this.#resolvedCount++;
    return grants;
  }

  #resolve(subjects: ReadonlyMap<string, SubjectBindings>, user: User, namespace: string): readonly Grant[] {
    const grants: Grant[] = [];
    const seen = new Set<Binding>();
    for (const key of subjectKeys(user)) {
      for (const [binding, subject] of subjects.get(key) ?? []) {
        if (seen.has(binding)) continue;
        seen.add(binding);
        const rules = this.rulesOfRef(binding.roleRef, namespace);
        if (rules === undefined) {
          grants.push({ missing: this.#missing(binding.roleRef) });
          continue;
        }
        const reason = `RBAC: allowed by ${described(binding, subject)}`;
        grants.push({ rules, allowed: { allowed: true, reason } });
      }
    }
    return grants;
  }

  #missing({ kind, name }: RoleRef): string {
    return `${kind.toLowerCase()}.${this.#group} ${JSON.stringify(name)} not found`;
  }

  #forget(): void {
    if (this.#resolvedCount === 0) return;
    this.#resolved.clear();
    this.#resolvedCount = 0;
  }
}

const NO_GRANTS: readonly Grant[] = [];

/** Who a user is to bindings. Once an object: users are kept by their credentials, and ask again and again. */
function identityOf(user: User): string {
  let identity = identities.get(user);
  if (identity === undefined) {
    identity = JSON.stringify([user.name, ...user.groups]);
    identities.set(user, identity);
  }
  return identity;
}

const identities = new WeakMap<User, string>();

function bindingOf(namespace: string, name: string, object: JsonObject): Binding {
  const roleRef = isJsonObject(object.roleRef) ? object.roleRef : {};
  const subjects = Array.isArray(object.subjects) ? object.subjects.filter(isJsonObject) : [];
  return {
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    namespace,
    name: metadataOf(object).name ?? name,
    roleRef: { kind: text(roleRef.kind), name: text(roleRef.name) },
    subjects: subjects.map((subject) => ({
      kind: text(subject.kind),
      name: text(subject.name),
      namespace: text(subject.namespace),
    })),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A service account without a namespace is one of the binding's; of a cluster role binding it is nobody. */
function subjectKey({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${name}`;
  const home = namespace === '' ? bindingNamespace : namespace;
  return home === '' ? 'nobody' : `User ${SERVICE_ACCOUNT_PREFIX}${home}:${name}`;
}

function* subjectKeys({ name, groups }: User): Generator<string> {
  yield `User ${name}`;
  for (const group of groups) yield `Group ${group}`;
}

function described({ kind, namespace, name, roleRef }: Binding, subject: Subject): string {
  const bindingName = namespace === '' ? name : `${name}/${namespace}`;
  const home = subject.namespace === '' ? namespace : subject.namespace;
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name;
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `${kind} ${JSON.stringify(bindingName)} of ${role} to ${subject.kind} ${JSON.stringify(whom)}`;
}

/** Several errors in one line, each once, as the original's aggregates print; empty where there are none. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}
