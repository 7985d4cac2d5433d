// The store's name for an object: `<group>/<plural>/<namespace>/<name>`, the namespace empty for cluster-scoped types,
// `core` for the core group.

const CORE_GROUP = 'core';

export interface ObjectKey {
  /** ResourceType.storageKey: `<group>/<plural>`. */
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
}

/** Half a surrogate pair: UTF-8 cannot carry it, and the disk would give back another key than it was given. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** A name's lone surrogates become U+FFFD, so that the key is the same in memory and on disk. */
export function objectKey(storageKey: string, namespace: string, name: string): string {
  return `${storageKey}/${namespace}/${name.replace(LONE_SURROGATES, '\ufffd')}`;
}

/** What operators call the objects below a storage key: `pods`, `deployments.apps`. */
export function resourceOf(storageKey: string): string {
  const [group = '', plural = ''] = storageKey.split('/');
  return group === CORE_GROUP ? plural : `${plural}.${group}`;
}

/** What the key of an object begins with. */
export function storageKeyOf(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/') + 1));
}

/** The inverse of objectKey. */
export function parseKey(key: string): ObjectKey {
  const plural = key.indexOf('/') + 1;
  const namespace = key.indexOf('/', plural) + 1;
  const name = key.indexOf('/', namespace) + 1;
  return {
    storageKey: key.slice(0, namespace - 1),
    namespace: key.slice(namespace, name - 1),
    name: key.slice(name),
  };
}
