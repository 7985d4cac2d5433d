// The rule of the ephemeralcontainers subresource: containers are added to a pod, and stay as they are.
import { deepEqual } from '../../deep-equal.ts';
import type { JsonObject } from '../../json-value.ts';
import type { ChangeRule, ChangeTable } from '../rule.ts';

interface Pod extends JsonObject {
  readonly spec?: { readonly ephemeralContainers?: readonly { readonly name?: string }[] };
}

const additionsOnly: ChangeRule<Pod> = (pod, stored, at) => {
  const next = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const before of stored.spec?.ephemeralContainers ?? []) {
    const now = next.get(before.name);
    const name = JSON.stringify(before.name ?? '');
    if (now === undefined)
      at.forbidden('spec.ephemeralContainers', `existing ephemeral container ${name} may not be removed`);
    else if (!deepEqual(now, before))
      at.forbidden('spec.ephemeralContainers', `existing ephemeral container ${name} may not be changed`);
  }
};

export const ephemeralContainerUpdates: ChangeTable = { 'core/v1.Pod': { rules: [additionsOnly] } };
