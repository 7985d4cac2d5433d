// DefaultTolerationSeconds: pods stay for a while on a node that is not ready or cannot be reached, unless they say how long.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

class DefaultTolerationSeconds implements AdmissionPlugin {
  /** By the taint's key. */
  readonly #tolerations: readonly JsonObject[];

  constructor({ dialect, options: { notReadySeconds, unreachableSeconds } }: PluginContext) {
    this.#tolerations = [
      { key: dialect.spell('node.@label/not-ready'), tolerationSeconds: notReadySeconds },
      { key: dialect.spell('node.@label/unreachable'), tolerationSeconds: unreachableSeconds },
    ].map(({ key, tolerationSeconds }) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }));
  }

  readonly mutate = (attributes: Attributes): void => {
    // Its spec has been through here: it is of the generation of these settings (completion.ts).
    if (attributes.isApart) return;
    const given = partsAt(partAt(attributes.object, 'spec'), 'tolerations');
    const added =
      given.length === 0
        ? this.#tolerations
        : this.#tolerations.filter(({ key }) => !given.some((one) => isAbout(one, key as string)));
    if (added.length > 0) attributes.ownSpec().tolerations = [...given, ...added];
  };
}

/** A toleration without key or effect is about all of them. */
function isAbout(toleration: JsonObject, taint: string): boolean {
  const key = textAt(toleration, 'key');
  const effect = textAt(toleration, 'effect');
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}

export const defaultTolerationSeconds: AdmissionPluginKind = {
  name: 'DefaultTolerationSeconds',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  isRepeatable: true,
  create: (context) => new DefaultTolerationSeconds(context),
};
