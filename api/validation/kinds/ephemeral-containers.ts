// Rules of ephemeral containers: what they may have, and that those that a pod has stay as they are.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { distinct } from '../repeats.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { AFTER_NAME, CONTAINER_FIELDS, type Container, trimmedImage } from './container.ts';
import { containerNamesOf } from './container-names.ts';
import type { PodSpec } from './pod-spec.ts';

interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
  readonly resources?: object;
}

/** In the order that the fields of containers have. */
const NOT_IN_EPHEMERAL = [
  'ports',
  'resources',
  'volumeDevices',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'securityContext',
] as const;

/** What ephemeral containers are named after. */
const targets: Rule<EphemeralContainer> = ({ targetContainerName = '' }, at) => {
  if (at.around.podSpec === undefined || targetContainerName === '') return;
  if (containerNamesOf(at.around.podSpec as PodSpec).has(targetContainerName)) return;
  at.notFound('targetContainerName', targetContainerName);
};

const ephemeralName: Rule<EphemeralContainer> = ({ name = '' }, at) => {
  const isTaken = at.around.podSpec !== undefined && containerNamesOf(at.around.podSpec as PodSpec).has(name);
  if (name !== '' && isTaken) at.duplicate('name', name);
};

const ephemeralNames = distinct<EphemeralContainer>(
  ({ name }) => name,
  (name, _one, at) => at.duplicate('name', name),
);

const onlyDebugging: Rule<EphemeralContainer> = (one, at) => {
  // A container by itself is looked at again inside its pod.
  if (at.around.podSpec === undefined) return;
  for (const member of NOT_IN_EPHEMERAL) {
    const value = one[member];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    if (member === 'resources' && Object.keys(value).length === 0) continue;
    at.forbidden(member, 'cannot be set for an Ephemeral Container');
  }
};

export const ephemeralContainerTypes: RuleTable = {
  'core/v1.EphemeralContainer': {
    around: 'container',
    fields: { ...CONTAINER_FIELDS, imagePullPolicy: { enum: true } },
    rules: [targets, 'name', ...AFTER_NAME, trimmedImage, ephemeralName, ephemeralNames, onlyDebugging],
  },
};

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
