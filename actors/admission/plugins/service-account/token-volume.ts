// The volume by which a pod's containers get the token of their service account, the cluster's authority and their namespace.
// Written with all its defaults, so that it needs no completion.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { type Own, ownCopy } from '../../../../api/json/own-copy.ts';
import type { Dialect } from '../../../../config/dialect.ts';

/** What injected tokens ask for: the one duration at which tokens live longer than they say, for clients that do not renew. */
const EXPIRATION_SECONDS = 3607;
/** 0644. */
const DEFAULT_MODE = 420;

/** A volume with a token: the one that a pod has already, or what to add. */
export interface TokenVolume {
  /** Whether a volume of the pod is such a one. */
  isIt(volume: JsonObject): boolean;
  /** A new one. `taken`: the names of the pod's own volumes. */
  make(taken: readonly string[]): JsonObject;
}

/** The token is made for the pod and dies with it. A volume that is named like one of these is taken for it. */
export function boundTokenVolume(dialect: Dialect, suffix: () => string): TokenVolume {
  const prefix = dialect.spell('@short-api-access-');
  return {
    isIt: (volume) => textAt(volume, 'name').startsWith(prefix),
    make: () => projectedVolume(`${prefix}${suffix()}`, dialect),
  };
}

/** The token is the one that the account keeps in a secret. */
export function keptTokenVolume(secretName: string, suffix: () => string): TokenVolume {
  return {
    isIt: (volume) => textAt(partAt(volume, 'secret'), 'secretName') === secretName,
    make: (taken) => ({
      name: taken.includes(secretName) ? `${secretName}-${suffix()}` : secretName,
      secret: { secretName, defaultMode: DEFAULT_MODE },
    }),
  };
}

/** Gives a spec the volume, mounted in every container that has nothing in its place already. */
export function mountTokenVolume(spec: Record<string, unknown>, dialect: Dialect, volume: TokenVolume): void {
  const mountPath = dialect.spell('/var/run/secrets/@label/serviceaccount');
  const isFree = (container: JsonObject): boolean =>
    partsAt(container, 'volumeMounts').every((one) => textAt(one, 'mountPath') !== mountPath);
  const initContainers = partsAt(spec, 'initContainers');
  const containers = partsAt(spec, 'containers');
  if (!containers.some(isFree) && !initContainers.some(isFree)) return;
  const volumes = partsAt(spec, 'volumes');
  const present = volumes.find((one) => volume.isIt(one));
  const mounted = present ?? volume.make(volumes.map((one) => textAt(one, 'name')));
  const mount = { name: textAt(mounted, 'name'), readOnly: true, mountPath };
  const withMount = (container: JsonObject): JsonObject => {
    if (!isFree(container)) return container;
    const own: Own<JsonObject> = ownCopy(container);
    own.volumeMounts = [...partsAt(container, 'volumeMounts'), mount];
    return own;
  };
  if (present === undefined) spec.volumes = [...volumes, mounted];
  if (initContainers.length > 0) spec.initContainers = initContainers.map(withMount);
  if (containers.length > 0) spec.containers = containers.map(withMount);
}

function projectedVolume(name: string, dialect: Dialect): JsonObject {
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
