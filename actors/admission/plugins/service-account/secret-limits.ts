// Which secrets a pod may name: those of its service account only, where the account says so; none at all in the pods that
// node agents make for themselves. Answers what is wrong, in the words that clients see; undefined where nothing is.
import { podNames } from '../../../../api/authorization/node-graph.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import type { Account } from './account.ts';

/** Of a pod that a node agent made for itself. */
export function mirrorProblem(pod: JsonObject): string | undefined {
  const spec = partAt(pod, 'spec');
  if (textAt(spec, 'serviceAccountName') !== '') return 'a mirror pod may not reference service accounts';
  if (podNames(pod, 'secrets')) return 'a mirror pod may not reference secrets';
  const sources = partsAt(spec, 'volumes').flatMap((volume) => partsAt(partAt(volume, 'projected'), 'sources'));
  const projectsToken = sources.some((source) => Object.hasOwn(source, 'serviceAccountToken'));
  return projectsToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

/** Of a pod whose account limits secrets. */
export function limitProblem(spec: JsonObject, account: Account): string | undefined {
  const ending = `is not allowed because service account ${account.name} does not reference that`;
  for (const volume of partsAt(spec, 'volumes')) {
    if (!Object.hasOwn(volume, 'secret')) continue;
    const name = textAt(partAt(volume, 'secret'), 'secretName');
    if (!account.secrets.has(name)) return `volume with secret.secretName="${name}" ${ending} secret`;
  }
  return (
    environmentProblem('init container', partsAt(spec, 'initContainers'), account, ending) ??
    environmentProblem('container', partsAt(spec, 'containers'), account, ending) ??
    pullSecretProblem(spec, account, ending)
  );
}

function environmentProblem(
  what: string,
  containers: readonly JsonObject[],
  { secrets }: Account,
  ending: string,
): string | undefined {
  for (const container of containers)
    for (const variable of partsAt(container, 'env')) {
      const source = partAt(variable, 'valueFrom');
      if (!Object.hasOwn(source, 'secretKeyRef')) continue;
      const name = textAt(partAt(source, 'secretKeyRef'), 'name');
      if (secrets.has(name)) continue;
      const place = `${what} ${textAt(container, 'name')} with envVar ${textAt(variable, 'name')}`;
      return `${place} referencing secret.secretName="${name}" ${ending} secret`;
    }
  return undefined;
}

function pullSecretProblem(spec: JsonObject, { pullSecrets }: Account, ending: string): string | undefined {
  const names = partsAt(spec, 'imagePullSecrets').map((reference) => textAt(reference, 'name'));
  const own = new Set(pullSecrets);
  const index = names.findIndex((name) => !own.has(name));
  return index < 0 ? undefined : `imagePullSecrets[${index}].name="${names[index]}" ${ending} imagePullSecret`;
}
