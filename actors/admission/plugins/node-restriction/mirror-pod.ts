// What a node agent may create as a pod: a mirror of one that runs on it by its own file, owned by its node, that names nothing else.
import { podNames } from '../../../../api/authorization/node-graph.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../../config/dialect.ts';

/** What is wrong with a pod, apart from its owner's uid, which has to be looked up between the two. */
export interface MirrorPodProblem {
  /** Blank: nothing. */
  readonly beforeOwner: string;
  readonly ownerUid: string;
  readonly afterOwner: string;
}

export function mirrorPodProblem(pod: JsonObject, node: string, dialect: Dialect): MirrorPodProblem {
  const [owner] = partsAt(partAt(pod, 'metadata'), 'ownerReferences');
  return {
    beforeOwner: placeProblem(pod, node, dialect.spell('@label/config.mirror')),
    ownerUid: textAt(owner ?? {}, 'uid'),
    afterOwner: referenceProblem(pod, JSON.stringify(node)),
  };
}

function placeProblem(pod: JsonObject, name: string, annotation: string): string {
  const node = JSON.stringify(name);
  if (!Object.hasOwn(metadataOf(pod).annotations ?? {}, annotation))
    return `pod does not have ${JSON.stringify(annotation)} annotation, node ${node} can only create mirror pods`;
  if (textAt(partAt(pod, 'spec'), 'nodeName') !== name)
    return `node ${node} can only create pods with spec.nodeName set to itself`;
  const [owner, ...others] = partsAt(partAt(pod, 'metadata'), 'ownerReferences');
  if (others.length > 0) return `node ${node} can only create pods with a single owner reference set to itself`;
  const isItself = owner?.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === name;
  if (!isItself) return `node ${node} can only create pods with an owner reference set to itself`;
  if (owner.controller !== true)
    return `node ${node} can only create pods with a controller owner reference set to itself`;
  return owner.blockOwnerDeletion === true ? `node ${node} must not set blockOwnerDeletion on an owner reference` : '';
}

function referenceProblem(pod: JsonObject, node: string): string {
  const spec = partAt(pod, 'spec');
  if (textAt(spec, 'serviceAccountName') !== '')
    return `node ${node} can not create pods that reference a service account`;
  if (podNames(pod, 'secrets')) return `node ${node} can not create pods that reference secrets`;
  if (podNames(pod, 'configmaps')) return `node ${node} can not create pods that reference configmaps`;
  if (partsAt(spec, 'volumes').some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined))
    return `node ${node} can not create pods that reference persistentvolumeclaims`;
  return '';
}
