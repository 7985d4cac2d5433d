// The event that tells users of an owner reference that cannot be honoured. Pure.
import { newEvent } from '../../../api/event-object.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Write } from '../controller.ts';
import { coreTarget } from '../targets.ts';
import type { GraphNode, OwnerReference } from './ownership-graph.ts';

const COMPONENT = 'garbage-collector-controller';
const NAME_LENGTH_MAX = 253;
const EVENT_NAME = /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;

/**
 * A warning about a dependent whose owner is in another namespace. Its name follows from the two, so that a restart does
 * not say it again while the event is there.
 */
export function misplacedOwnerEvent(node: GraphNode, reference: OwnerReference, nowMs: number): Write {
  const { type, uid } = node;
  const namespace = node.namespace === '' ? 'default' : node.namespace;
  const { apiVersion, kind, name } = reference;
  const body = newEvent({
    namespace,
    name: eventName(node, reference),
    involvedObject: {
      kind: type.kind,
      apiVersion: type.apiVersion,
      name: node.name,
      uid,
      ...(node.namespace === '' ? undefined : { namespace }),
    },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message:
      `ownerRef [${apiVersion}/${kind}, namespace: ${node.namespace}, name: ${name}, uid: ${reference.uid}] ` +
      `does not exist in namespace ${JSON.stringify(node.namespace)}`,
    component: COMPONENT,
    at: timestampOf(nowMs),
  });
  return { verb: 'create', target: coreTarget('events', namespace, ''), body };
}

/** `<dependent>.<the owner's uid>`; names that events may not have give way to the dependent's uid. */
function eventName(node: GraphNode, reference: OwnerReference): string {
  const suffix = reference.uid.replaceAll(/[^a-z0-9-]/g, '').slice(0, 36);
  const whole = `${node.name}.${suffix}`;
  return whole.length <= NAME_LENGTH_MAX && EVENT_NAME.test(whole) ? whole : node.uid;
}
