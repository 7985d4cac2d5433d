// What the soak's objects are and what its watchers select of them: everything as numbers, so that an event can be judged
// without a parse.

export const NAMESPACES = 10;
export const OBJECTS = 600;
const TIERS = ['a', 'b'] as const;
export type Tier = (typeof TIERS)[number];

export function namespaceOf(object: number): string {
  return `soak-${object % NAMESPACES}`;
}

export function nameOf(object: number): string {
  return `o-${object}`;
}

export function collectionOf(object: number): string {
  return `/api/v1/namespaces/${namespaceOf(object)}/configmaps`;
}

export function pathOf(object: number): string {
  return `${collectionOf(object)}/${nameOf(object)}`;
}

/** A selection: its name, and the collection and query that ask for it. */
export interface Selection {
  readonly key: string;
  readonly path: string;
  readonly query: string;
}

export const EVERYTHING: Selection = { key: 'all', path: '/api/v1/configmaps', query: '' };

/** The keys of all selections that an object in a tier belongs to. */
export function selectionKeys(object: number, tier: Tier): readonly string[] {
  const namespace = object % NAMESPACES;
  return ['all', `ns-${namespace}`, `tier-${tier}`, `ns-${namespace}-${tier}`, `name-${object}`];
}

/** How many of a hundred watchers select what, and how it is asked for. */
const KINDS: readonly (readonly [share: number, make: (pick: (below: number) => number) => Selection])[] = [
  [3, () => EVERYTHING],
  [40, (pick) => inNamespace(pick(NAMESPACES))],
  [10, (pick) => ofTier(TIERS[pick(TIERS.length)]!)],
  [17, (pick) => ofTierInNamespace(pick(NAMESPACES), TIERS[pick(TIERS.length)]!)],
  [30, (pick) => named(pick(OBJECTS))],
];

/** A selection by chance. `pick` answers a number below its argument. */
export function anySelection(pick: (below: number) => number): Selection {
  let left = pick(100);
  for (const [share, make] of KINDS) {
    left -= share;
    if (left < 0) return make(pick);
  }
  return EVERYTHING;
}

function inNamespace(namespace: number): Selection {
  return { key: `ns-${namespace}`, path: collectionOf(namespace), query: '' };
}

function ofTier(tier: Tier): Selection {
  return { key: `tier-${tier}`, path: EVERYTHING.path, query: `labelSelector=tier%3D${tier}` };
}

function ofTierInNamespace(namespace: number, tier: Tier): Selection {
  return { key: `ns-${namespace}-${tier}`, path: collectionOf(namespace), query: `labelSelector=tier%3D${tier}` };
}

function named(object: number): Selection {
  const query = `fieldSelector=metadata.name%3D${nameOf(object)}`;
  return { key: `name-${object}`, path: collectionOf(object), query };
}
