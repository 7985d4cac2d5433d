// Which group versions an operator switches on and off (`--runtime-config`). Decides on group versions only; whether
// this release can serve what is switched on is the registry's question.

/** A setting of versions that names something unknown or says something senseless. The message is for the operator. */
export class RuntimeConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RuntimeConfigError';
  }
}

/** The outcome: the state of every group version, and which ones were switched on by name. */
export interface VersionSwitches {
  /** By apiVersion. */
  readonly enabled: ReadonlySet<string>;
  readonly enabledByName: ReadonlySet<string>;
}

interface VersionClass {
  readonly key: string;
  readonly matches: (version: string) => boolean;
}

/** Later ones win over earlier ones, whatever the order they are given in. */
const VERSION_CLASSES: readonly VersionClass[] = [
  { key: 'api/all', matches: () => true },
  { key: 'api/ga', matches: (version) => /^v\d+$/.test(version) },
  { key: 'api/beta', matches: (version) => /^v\d+beta\d+$/.test(version) },
  { key: 'api/alpha', matches: (version) => /^v\d+alpha\d+$/.test(version) },
];

/** Other names that the core group's version has among the keys: the deprecated one, and the path it is served at. */
const CORE_KEYS = new Set(['api/legacy', 'api/v1']);

const TRUE_WORDS = new Set(['', '1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/**
 * Applies `pairs` (`batch/v1=false`, `api/beta`; a missing value means true, of a repeated key the last counts) to the
 * state of every known group version by default. First the classes, from `api/all` to `api/alpha`, then group versions
 * by name, which win over classes. Throws RuntimeConfigError for a key or value that means nothing, and for
 * `api/all=false` alone, which would leave no API (SPEC.md `--runtime-config`).
 */
export function switchVersions(byDefault: ReadonlyMap<string, boolean>, pairs: readonly string[]): VersionSwitches {
  const wanted = parsePairs(pairs);
  if (wanted.size === 1 && wanted.get('api/all') === false) {
    throw new RuntimeConfigError('runtime-config: api/all=false alone would leave nothing to serve');
  }
  const state = new Map(byDefault);
  for (const { key, matches } of VERSION_CLASSES) {
    const on = wanted.get(key);
    if (on === undefined) continue;
    wanted.delete(key);
    for (const apiVersion of state.keys()) {
      if (matches(apiVersion.slice(apiVersion.indexOf('/') + 1))) state.set(apiVersion, on);
    }
  }
  const enabledByName = new Set<string>();
  for (const [key, on] of wanted) {
    const apiVersion = CORE_KEYS.has(key) ? 'v1' : key;
    if (!state.has(apiVersion)) throw new RuntimeConfigError(`runtime-config: ${unknownKey(key, state)}`);
    state.set(apiVersion, on);
    if (on) enabledByName.add(apiVersion);
  }
  return { enabled: new Set([...state].filter(([, on]) => on).map(([apiVersion]) => apiVersion)), enabledByName };
}

function parsePairs(pairs: readonly string[]): Map<string, boolean> {
  const wanted = new Map<string, boolean>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const key = (equals < 0 ? pair : pair.slice(0, equals)).trim();
    const word = equals < 0 ? '' : pair.slice(equals + 1).trim();
    const on = TRUE_WORDS.has(word);
    if (!on && !FALSE_WORDS.has(word)) {
      throw new RuntimeConfigError(`runtime-config: the value of ${JSON.stringify(pair)} is neither true nor false`);
    }
    wanted.set(key, on);
  }
  return wanted;
}

function unknownKey(key: string, known: ReadonlyMap<string, boolean>): string {
  const [group, version, resource] = key.split('/', 3);
  if (resource !== undefined && known.has(`${group}/${version}`)) {
    return `${key} names a single resource; only whole versions can be switched: ${group}/${version}`;
  }
  const siblings = [...known.keys()].filter((apiVersion) => apiVersion.startsWith(`${group}/`));
  return siblings.length > 0
    ? `there is no ${key}; the group has ${siblings.join(', ')}`
    : `there is no API ${JSON.stringify(key)}; keys are v1, <group>/<version>, ${VERSION_CLASSES.map(({ key: name }) => name).join(', ')}`;
}
