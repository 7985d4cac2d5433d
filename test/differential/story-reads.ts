// Steps of stories that read: objects, lists, pages of lists, watches, in every form that can be asked for.
import type { Dice } from '../fuzz/generate/dice.ts';
import { LABELS, type Made, type Place, query, type Side, sometimes } from './story-place.ts';

const ACCEPTED = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/yaml',
  'text/html',
];
const FIELDS = [
  ...['metadata.name=a', 'metadata.name!=a', 'metadata.name==a,metadata.namespace!=x', 'metadata.namespace=x'],
  ...[
    'spec.nodeName=',
    'status.phase=Pending',
    'status.phase!=Pending',
    'spec.x=1',
    'metadata.name',
    'metadata.name>a',
    'type=x',
  ],
];

/** `resourceVersion` of a kind that neither server has to wait for. */
function since({ dice, scene }: Place): (side: Side) => string {
  const { versions } = scene;
  const kind = dice.below(6);
  const old = versions.length === 0 ? undefined : dice.pick(versions);
  return (side) => {
    if (kind > 3 || (kind === 3 && old === undefined)) return '';
    return `resourceVersion=${kind === 0 ? '0' : kind === 1 ? 'x' : (old?.[side] ?? '')}`;
  };
}

export function accepted(dice: Dice): { readonly accept?: string } {
  return dice.oneIn(3) ? { accept: dice.pick(ACCEPTED) } : {};
}

export function read(place: Place): Made {
  const version = since(place);
  const pretty = sometimes(place.dice, 5, 'pretty=true');
  return { method: 'GET', path: (side) => `${place.one}${query(version(side), pretty)}`, ...accepted(place.dice) };
}

export function list(place: Place): Made {
  const { dice, all, scene } = place;
  const { token } = scene;
  if (token !== undefined && dice.oneIn(2)) {
    const limit = dice.pick(['limit=1', 'limit=2', '', 'resourceVersion=1']);
    const path = (side: Side): string =>
      `${token.path}${query(limit, `continue=${encodeURIComponent(token.value[side])}`)}`;
    return { method: 'GET', path, ...accepted(dice) };
  }
  const version = since(place);
  const parts = [
    sometimes(dice, 2, `labelSelector=${encodeURIComponent(dice.pick(LABELS))}`),
    sometimes(dice, 3, `fieldSelector=${encodeURIComponent(dice.pick(FIELDS))}`),
    sometimes(dice, 2, `limit=${dice.pick(['1', '1', '2', '0', '-1', 'x'])}`),
    sometimes(dice, 6, `resourceVersionMatch=${dice.pick(['Exact', 'NotOlderThan', 'x'])}`),
    sometimes(dice, 20, 'continue=x'),
    sometimes(dice, 9, `timeoutSeconds=${dice.pick(['5', 'x', '0'])}`),
  ];
  return { method: 'GET', path: (side) => `${all}${query(version(side), ...parts)}`, ...accepted(dice) };
}

export function watch(place: Place): Made {
  const { dice, all, one } = place;
  const version = since(place);
  const parts = [
    'watch=1',
    'timeoutSeconds=1',
    sometimes(dice, 2, `labelSelector=${encodeURIComponent(dice.pick(LABELS))}`),
    sometimes(dice, 3, `fieldSelector=${encodeURIComponent(dice.pick(FIELDS))}`),
  ];
  const path = dice.oneIn(6) ? one : all;
  return { method: 'GET', path: (side) => `${path}${query(version(side), ...parts)}`, ...accepted(dice) };
}
