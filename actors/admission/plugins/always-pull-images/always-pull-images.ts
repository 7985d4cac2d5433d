// AlwaysPullImages: every container pulls its image at each start, so that nobody runs what only others may pull.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { forbidden, unnamedError } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Attributes } from '../../attributes.ts';
import type { AdmissionPluginKind } from '../plugin.ts';
import { containersOf, withContainers } from '../pod-containers.ts';

const ALWAYS = { imagePullPolicy: 'Always' };

function setPolicy(attributes: Attributes): void {
  if (hasNoNewImage(attributes)) return;
  const spec = partAt(attributes.object, 'spec');
  if (containersOf(spec).every(({ container }) => container.imagePullPolicy === 'Always')) return;
  const pulling = withContainers(spec, (container) => ({ ...container, ...ALWAYS }));
  attributes.object = { ...attributes.object, spec: pulling };
}

/** What came later in the chain may have changed it. */
function requirePolicy(attributes: Attributes): void {
  if (hasNoNewImage(attributes)) return;
  const { object, type } = attributes;
  const problems = containersOf(partAt(object, 'spec')).flatMap(({ path, container }) => {
    const policy = textAt(container, 'imagePullPolicy');
    if (policy === 'Always') return [];
    const detail = `${path}.imagePullPolicy: Unsupported value: ${JSON.stringify(policy)}: supported values: "Always"`;
    return [forbidden(type, metadataOf(object).name ?? '', detail).message ?? ''];
  });
  if (problems.length > 0)
    throw new StatusError(unnamedError(problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`));
}

/** Pods that were there before the plugin can still be updated. */
function hasNoNewImage({ asked, object, old = {} }: Attributes): boolean {
  if (asked.operation !== 'update') return false;
  const known = new Set(imagesOf(old));
  return imagesOf(object).every((image) => known.has(image));
}

function imagesOf(pod: JsonObject): readonly string[] {
  return containersOf(partAt(pod, 'spec')).map(({ container }) => textAt(container, 'image'));
}

export const alwaysPullImages: AdmissionPluginKind = {
  name: 'AlwaysPullImages',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
  create: () => ({ mutate: setPolicy, validate: requirePolicy }),
};
