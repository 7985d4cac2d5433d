// The volume by which a pod's containers get the token of their service account, the cluster's authority and their namespace.
// Written with all its defaults, so that it needs no completion.
import type { JsonObject } from '../../../../api/json-value.ts';
import { partsAt, textAt } from '../../../../api/object-fields.ts';
import type { Dialect } from '../../../../config/dialect.ts';

/** What injected tokens ask for: the one duration at which tokens live longer than they say, for clients that do not renew. */
const EXPIRATION_SECONDS = 3607;
/** 0644. */
const DEFAULT_MODE = 420;

/**
 * The spec with the volume, mounted in every container that has nothing there already; a volume that is named like one of
 * ours is taken for it. `suffix`: five random characters.
 */
export function withTokenVolume(spec: JsonObject, dialect: Dialect, suffix: () => string): JsonObject {
  const mountPath = dialect.spell('/var/run/secrets/@label/serviceaccount');
  const prefix = dialect.spell('@short-api-access-');
  const present = partsAt(spec, 'volumes').find((volume) => textAt(volume, 'name').startsWith(prefix));
  const name = present === undefined ? `${prefix}${suffix()}` : textAt(present, 'name');
  const mount = { name, readOnly: true, mountPath };
  const isFree = (container: JsonObject): boolean =>
    partsAt(container, 'volumeMounts').every((one) => textAt(one, 'mountPath') !== mountPath);
  const mounted: { [member: string]: unknown } = { ...spec };
  let isMounted = false;
  for (const member of ['initContainers', 'containers']) {
    const containers = partsAt(spec, member);
    if (!containers.some(isFree)) continue;
    isMounted = true;
    mounted[member] = containers.map((container) =>
      isFree(container) ? { ...container, volumeMounts: [...partsAt(container, 'volumeMounts'), mount] } : container,
    );
  }
  if (!isMounted) return spec;
  if (present === undefined) mounted.volumes = [...partsAt(spec, 'volumes'), tokenVolume(name, dialect)];
  return mounted as JsonObject;
}

function tokenVolume(name: string, dialect: Dialect): JsonObject {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
        { configMap: { name: dialect.spell('@short-root-ca.crt'), items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespace] } },
      ],
      defaultMode: DEFAULT_MODE,
    },
  };
}
