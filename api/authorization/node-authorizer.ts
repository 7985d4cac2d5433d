// What node agents may do (the authorization mode Node): what the role of nodes allows, and of objects with secrets in them
// only those that something on the node needs. Pure.
import type { AccessAttributes, User } from './attributes.ts';
import type { NodeGraph, ReachableKind } from './node-graph.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';
import type { Decision } from './rbac-policy.ts';

const NODE_PREFIX = 'system:node:';
const NODE_GROUP = 'system:nodes';

/** The node that a user is the agent of: empty for an agent that does not say, undefined for everybody else. */
export function nodeOf({ name, groups }: User): string | undefined {
  if (!name.startsWith(NODE_PREFIX) || !groups.includes(NODE_GROUP)) return undefined;
  return name.slice(NODE_PREFIX.length);
}

export interface NodeAuthorizerParts {
  readonly graph: NodeGraph;
  /** What every node may do: the rules of the role of nodes. */
  readonly rules: readonly PolicyRule[];
  /** Where nodes' leases lie. */
  readonly leaseNamespace: string;
  readonly storageGroup: string;
  readonly coordinationGroup: string;
}

const READ_VERBS: readonly string[] = ['get', 'list', 'watch'];
const OWN_VERBS: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];
const ALLOWED: Decision = { allowed: true, reason: '' };

function no(reason: string): Decision {
  return { allowed: false, reason };
}

export class NodeAuthorizer {
  readonly #parts: NodeAuthorizerParts;

  constructor(parts: NodeAuthorizerParts) {
    this.#parts = parts;
  }

  decide(user: User, access: AccessAttributes): Decision {
    const node = nodeOf(user);
    if (node === undefined) return no('');
    if (node === '') return no(`unknown node for user ${JSON.stringify(user.name)}`);
    return (
      this.#special(node, access) ?? (this.#parts.rules.some((rule) => ruleAllows(rule, access)) ? ALLOWED : no(''))
    );
  }

  /** For what is decided object by object; undefined for everything else. */
  #special(node: string, access: AccessAttributes): Decision | undefined {
    if (!access.isResource) return undefined;
    const { storageGroup, coordinationGroup } = this.#parts;
    switch (`${access.group}/${access.resource}`) {
      case '/secrets':
      case '/configmaps':
        return this.#read(node, access.resource as ReachableKind, access);
      case '/persistentvolumeclaims':
        return access.subresource === 'status' ? this.#status(node, access) : this.#get(node, access);
      case '/persistentvolumes':
      case `${storageGroup}/volumeattachments`:
        return this.#get(node, access);
      case '/serviceaccounts':
        return this.#token(node, access);
      case `${coordinationGroup}/leases`:
        return this.#lease(node, access);
      case `${storageGroup}/csinodes`:
        return this.#csiNode(node, access);
      default:
        return undefined;
    }
  }

  #related(node: string, kind: ReachableKind, { namespace, name }: AccessAttributes): Decision {
    if (name === '') return no('No Object name found');
    if (this.#parts.graph.leadsTo(node, kind, namespace, name)) return ALLOWED;
    return no(`no relationship found between node '${node}' and this object`);
  }

  #read(node: string, kind: ReachableKind, access: AccessAttributes): Decision {
    if (!READ_VERBS.includes(access.verb)) return no('can only read resources of this type');
    if (access.subresource !== '') return no('cannot read subresource');
    if (access.namespace === '') return no('can only read namespaced object of this type');
    return this.#related(node, kind, access);
  }

  #get(node: string, access: AccessAttributes): Decision {
    if (access.verb !== 'get') return no('can only get individual resources of this type');
    if (access.subresource !== '') return no('cannot get subresource');
    return this.#related(node, access.resource as ReachableKind, access);
  }

  #status(node: string, access: AccessAttributes): Decision {
    if (access.verb !== 'update' && access.verb !== 'patch') return no('can only get/update/patch this type');
    return this.#related(node, 'persistentvolumeclaims', access);
  }

  #token(node: string, access: AccessAttributes): Decision {
    if (access.verb !== 'create' || access.name === '')
      return no('can only create tokens for individual service accounts');
    if (access.subresource !== 'token') return no('can only create token subresource of serviceaccount');
    return this.#related(node, 'serviceaccounts', access);
  }

  #lease(node: string, { verb, namespace, name }: AccessAttributes): Decision {
    const { leaseNamespace } = this.#parts;
    if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a node lease');
    if (namespace !== leaseNamespace)
      return no(`can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`);
    if (verb !== 'create' && name !== node)
      return no('can only access node lease with the same name as the requesting node');
    return ALLOWED;
  }

  #csiNode(node: string, { verb, subresource, name }: AccessAttributes): Decision {
    if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode');
    if (subresource !== '') return no('cannot authorize CSINode subresources');
    if (verb !== 'create' && name !== node)
      return no('can only access CSINode with the same name as the requesting node');
    return ALLOWED;
  }
}
