// ExtendedResourceToleration: a pod that asks for a resource which others defined tolerates the taint of that name.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { isExtendedResource } from '../../../../api/validation/kinds/resource-amounts.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

const EFFECT = 'NoSchedule';
const LISTS = ['containers', 'initContainers'] as const;

function tolerate(attributes: Attributes): void {
  const { dialect } = attributes;
  const spec = partAt(attributes.object, 'spec');
  const asked = LISTS.flatMap((list) =>
    partsAt(spec, list).flatMap((container) => Object.keys(partAt(partAt(container, 'resources'), 'requests'))),
  );
  const extended = new Set(asked.filter((name) => isExtendedResource(name, dialect)));
  if (extended.size === 0) return;
  const given = partsAt(spec, 'tolerations');
  const tolerated = new Set(given.filter(isOfTaint).map(({ key }) => key));
  const added = [...extended]
    .filter((key) => !tolerated.has(key))
    .sort()
    .map((key) => ({ key, operator: 'Exists', effect: EFFECT }));
  attributes.object = { ...attributes.object, spec: { ...spec, tolerations: [...given, ...added] } };
}

/** Exactly of a taint by which nothing else is placed there. */
function isOfTaint(toleration: JsonObject): boolean {
  return (
    textAt(toleration, 'operator') === 'Exists' &&
    textAt(toleration, 'effect') === EFFECT &&
    textAt(toleration, 'value') === ''
  );
}

export const extendedResourceToleration: AdmissionPluginKind = {
  name: 'ExtendedResourceToleration',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  create: () => ({ mutate: tolerate }),
};
