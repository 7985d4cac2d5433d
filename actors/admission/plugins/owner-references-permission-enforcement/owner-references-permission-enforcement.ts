// OwnerReferencesPermissionEnforcement: who says that an object is owned may delete that object, and who lets it hold back the
// owner's deletion may set the owner's finalizers.
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Registry } from '../../../../api/resources/registry.ts';
import { splitApiVersion } from '../../../../api/resources/resource-table.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, Authorization, PluginContext } from '../plugin.ts';

class OwnerReferences implements AdmissionPlugin {
  readonly #registry: Registry;
  readonly #authorize: PluginContext['authorize'];

  constructor({ registry, authorize }: PluginContext) {
    this.#registry = registry;
    this.#authorize = authorize;
  }

  readonly validate = (attributes: Attributes): Promise<void> | undefined => {
    const { object, old, type, subresource } = attributes;
    // Node agents of old garble them there, and a status changes none.
    if (subresource === 'status' && type.plural === 'pods') return undefined;
    const now = ownersOf(object);
    const before = ownersOf(old ?? {});
    return deepEqual(now, before) ? undefined : this.#judge(attributes, now, before);
  };

  async #judge(attributes: Attributes, now: readonly JsonObject[], before: readonly JsonObject[]): Promise<void> {
    if (attributes.asked.operation !== 'create') await this.#requireDeletable(attributes);
    const known = new Map(before.toReversed().map((owner) => [owner.uid, owner]));
    for (const owner of now) {
      if (owner.blockOwnerDeletion !== true) continue;
      if (known.get(owner.uid)?.blockOwnerDeletion !== true) await this.#requireFinalizable(attributes, owner);
    }
  }

  async #requireDeletable(attributes: Attributes): Promise<void> {
    const { type, subresource, asked } = attributes;
    const authorization = await this.#authorize(attributes, {
      verb: 'delete',
      isResource: true,
      group: type.group,
      version: type.version,
      resource: type.plural,
      subresource,
      namespace: asked.namespace,
      name: asked.name,
      path: '',
    });
    if (authorization.allowed) return;
    throw forbid(attributes, `cannot set an ownerRef on a resource you can't delete: ${whyNot(authorization)}`);
  }

  async #requireFinalizable(attributes: Attributes, owner: JsonObject): Promise<void> {
    const apiVersion = textAt(owner, 'apiVersion');
    const kind = textAt(owner, 'kind');
    const { group, version } = splitApiVersion(apiVersion);
    const type = this.#registry.byKind(group, version, kind);
    if (type === undefined)
      throw forbid(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} ` +
          `Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    const authorization = await this.#authorize(attributes, {
      verb: 'update',
      isResource: true,
      group,
      version,
      resource: type.plural,
      subresource: 'finalizers',
      // An owner with a namespace is in that of what it owns.
      namespace: type.namespaced ? attributes.asked.namespace : '',
      name: textAt(owner, 'name'),
      path: '',
    });
    if (authorization.allowed) return;
    throw forbid(
      attributes,
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
        whyNot(authorization),
    );
  }
}

/** The reason, and what the decision failed on: nothing, in the original's word for it. */
function whyNot({ reason, error = '<nil>' }: Authorization): string {
  return `${reason}, ${error}`;
}

function ownersOf(object: JsonObject): readonly JsonObject[] {
  return metadataOf(object).ownerReferences === undefined
    ? NONE
    : partsAt(partAt(object, 'metadata'), 'ownerReferences');
}

const NONE: readonly JsonObject[] = [];

export const ownerReferencesPermissionEnforcement: AdmissionPluginKind = {
  name: 'OwnerReferencesPermissionEnforcement',
  wants: [{ operations: ['create', 'update'], resources: ['**'] }],
  create: (context) => new OwnerReferences(context),
};
