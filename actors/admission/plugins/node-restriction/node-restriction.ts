// NodeRestriction: a node agent writes its own node, the pods on it, and what belongs to them. Everybody else's writes are nothing to it.
import { nodeOf } from '../../../../api/authorization/node-authorizer.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asObject, partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { notFound } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import { readCurrent } from '../../stored/store-reader.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import { mirrorPodProblem } from './mirror-pod.ts';
import { nodeLabelGuard } from './node-labels.ts';

/** Decides about a write of the agent of a node. */
type Check = (node: string, attributes: Attributes) => void | Promise<void>;

class NodeRestriction implements AdmissionPlugin {
  readonly #context: PluginContext;
  readonly #checks: Readonly<Record<string, Check>>;
  readonly #forbiddenLabels: ReturnType<typeof nodeLabelGuard>;

  constructor(context: PluginContext) {
    this.#context = context;
    this.#forbiddenLabels = nodeLabelGuard(context.dialect);
    this.#checks = {
      pods: (node, attributes) => this.#pod(node, attributes),
      nodes: (node, attributes) => this.#node(node, attributes),
      persistentvolumeclaims: (node, attributes) => this.#claim(node, attributes),
      serviceaccounts: (node, attributes) => this.#token(node, attributes),
      leases: (node, attributes) => this.#lease(node, attributes),
      csinodes: storageNode,
    };
  }

  readonly mutate = (attributes: Attributes): void | Promise<void> => {
    const { user, type } = attributes;
    const node = nodeOf(user);
    if (node === undefined) return undefined;
    if (node === '') throw forbid(attributes, `could not determine node from user ${JSON.stringify(user.name)}`);
    return this.#checks[type.plural]?.(node, attributes);
  };

  #pod(node: string, attributes: Attributes): void | Promise<void> {
    const { subresource, asked, old = {} } = attributes;
    if (subresource === 'status') {
      podStatus(node, attributes);
      return undefined;
    }
    if (subresource === 'eviction') return this.#eviction(node, attributes);
    if (subresource !== '')
      throw forbid(
        attributes,
        `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`,
      );
    if (asked.operation === 'create') return this.#mirrorPod(node, attributes);
    if (asked.operation !== 'delete')
      throw forbid(
        attributes,
        `unexpected operation "${asked.operation.toUpperCase()}", node ${quoted(node)} can only create and delete mirror pods`,
      );
    if (nodeNameOf(old) !== node)
      throw forbid(attributes, `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`);
    return undefined;
  }

  async #mirrorPod(node: string, attributes: Attributes): Promise<void> {
    const { object } = attributes;
    const problem = mirrorPodProblem(object, node, this.#context.dialect);
    if (problem.beforeOwner !== '') throw forbid(attributes, problem.beforeOwner);
    const stored = await this.#read(attributes, 'core/nodes', '', node);
    const { uid = '' } = metadataOf(stored);
    if (problem.ownerUid !== uid)
      throw forbid(attributes, `node ${node} UID mismatch: expected ${problem.ownerUid} got ${uid}`);
    if (problem.afterOwner !== '') throw forbid(attributes, problem.afterOwner);
  }

  async #eviction(node: string, attributes: Attributes): Promise<void> {
    const { namespace, name } = attributes.asked;
    const pod = await this.#read(
      attributes,
      'core/pods',
      namespace,
      name || (metadataOf(attributes.object).name ?? ''),
    );
    if (nodeNameOf(pod) !== node)
      throw forbid(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }

  #node(node: string, attributes: Attributes): void {
    const { asked, object, old } = attributes;
    const name = asked.name || (metadataOf(object).name ?? '');
    if (name !== node) throw forbid(attributes, `node ${quoted(node)} is not allowed to modify node ${quoted(name)}`);
    if (asked.operation === 'create') {
      if (isSet(object, 'configSource'))
        throw forbid(attributes, `node ${quoted(node)} is not allowed to create pods with a non-nil configSource`);
      const labels = this.#forbiddenLabels(metadataOf(object).labels ?? {}, {});
      if (labels.length > 0)
        throw forbid(
          attributes,
          `node ${quoted(node)} is not allowed to set the following labels: ${labels.join(', ')}`,
        );
    }
    if (asked.operation === 'update' && old !== undefined) this.#nodeUpdate(node, attributes, old);
  }

  #nodeUpdate(node: string, attributes: Attributes, old: JsonObject): void {
    // What a write of the status cannot change is refused, too.
    const { sent: object } = attributes;
    const [spec, before] = [partAt(object, 'spec'), partAt(old, 'spec')];
    if (isSet(object, 'configSource') && !deepEqual(spec.configSource, before.configSource))
      throw forbid(
        attributes,
        `node ${quoted(node)} is not allowed to update configSource to a new non-nil configSource`,
      );
    if (!deepEqual(partsAt(spec, 'taints'), partsAt(before, 'taints')))
      throw forbid(attributes, `node ${quoted(node)} is not allowed to modify taints`);
    const labels = this.#forbiddenLabels(metadataOf(object).labels ?? {}, metadataOf(old).labels ?? {});
    if (labels.length > 0) throw forbid(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
  }

  async #token(node: string, attributes: Attributes): Promise<void> {
    const reference = partAt(partAt(attributes.object, 'spec'), 'boundObjectRef');
    const name = textAt(reference, 'name');
    const isPod = reference.apiVersion === 'v1' && reference.kind === 'Pod' && name !== '';
    if (!isPod) throw forbid(attributes, 'node requested token not bound to a pod');
    const uid = textAt(reference, 'uid');
    if (uid === '') throw forbid(attributes, 'node requested token with a pod binding without a uid');
    const pod = await this.#read(attributes, 'core/pods', attributes.asked.namespace, name);
    const { uid: actual = '' } = metadataOf(pod);
    if (actual !== uid)
      throw forbid(
        attributes,
        `the UID in the bound object reference (${uid}) does not match the UID in record (${actual}). ` +
          'The object might have been deleted and then recreated',
      );
    if (nodeNameOf(pod) !== node)
      throw forbid(attributes, 'node requested token bound to a pod scheduled on a different node');
  }

  #lease(node: string, attributes: Attributes): void {
    const { nodeLeaseNamespace } = this.#context.dialect;
    if (attributes.asked.namespace !== nodeLeaseNamespace)
      throw forbid(attributes, `can only access leases in the ${quoted(nodeLeaseNamespace)} system namespace`);
    if (writtenName(attributes) !== node)
      throw forbid(attributes, 'can only access node lease with the same name as the requesting node');
  }

  #claim(node: string, attributes: Attributes): void {
    const { subresource, sent: object, old = {} } = attributes;
    if (subresource !== 'status') throw forbid(attributes, 'may only update PVC status');
    if (!this.#context.options.gate('ExpandPersistentVolumes'))
      throw forbid(attributes, `node ${quoted(node)} may not update persistentvolumeclaim metadata`);
    if (deepEqual(withoutReport(object), withoutReport(old))) return;
    throw forbid(
      attributes,
      `node ${quoted(node)} is not allowed to update fields other than status.capacity and status.conditions: ` +
        changedMembers(object, old).join(', '),
    );
  }

  /** Throws 404. */
  async #read({ asked }: Attributes, storageKey: string, namespace: string, name: string): Promise<JsonObject> {
    const type = this.#context.registry.storageType(storageKey)!;
    const stored = await readCurrent(asked.reader, type, namespace, name);
    if (stored === null) throw new StatusError(notFound(type, name));
    return stored.object;
  }
}

function podStatus(node: string, attributes: Attributes): void {
  const { object, old = {} } = attributes;
  if (nodeNameOf(old) !== node)
    throw forbid(
      attributes,
      `node ${quoted(node)} can only update pod status for pods with spec.nodeName set to itself`,
    );
  if (!deepEqual(metadataOf(object).labels ?? {}, metadataOf(old).labels ?? {}))
    throw forbid(attributes, `node ${quoted(node)} cannot update labels through pod status`);
}

/** A claim without what an agent reports of it, and what changes with every write. */
function withoutReport(object: JsonObject): JsonObject {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = metadataOf(object);
  const { capacity: _capacity, conditions: _conditions, ...status } = partAt(object, 'status');
  return { ...object, metadata, status };
}

function changedMembers(object: JsonObject, old: JsonObject): readonly string[] {
  const [now, before] = [withoutReport(object), withoutReport(old)];
  return Object.keys({ ...now, ...before }).filter((member) => !deepEqual(now[member], before[member]));
}

function storageNode(node: string, attributes: Attributes): void {
  if (writtenName(attributes) !== node)
    throw forbid(attributes, 'can only access CSINode with the same name as the requesting node');
}

/** Of the object itself where it is new. */
function writtenName({ asked, object }: Attributes): string {
  return asked.operation === 'create' ? (metadataOf(object).name ?? '') : asked.name;
}

function nodeNameOf(pod: JsonObject): string {
  return textAt(partAt(pod, 'spec'), 'nodeName');
}

function isSet(object: JsonObject, member: string): boolean {
  return Object.keys(asObject(partAt(object, 'spec')[member])).length > 0;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

export const nodeRestriction: AdmissionPluginKind = {
  name: 'NodeRestriction',
  wants: [
    {
      operations: ['create', 'update', 'delete'],
      resources: [
        'core/pods',
        'core/pods/status',
        'core/pods/eviction',
        'core/pods/binding',
        'core/pods/ephemeralcontainers',
        'core/nodes',
        'core/nodes/status',
        'core/persistentvolumeclaims',
        'core/persistentvolumeclaims/status',
        'coordination/leases',
        'storage/csinodes',
      ],
    },
    { operations: ['create'], resources: ['core/serviceaccounts/token'] },
  ],
  create: (context) => new NodeRestriction(context),
};
