// The rules of merging, one a row: what managers say in turn of a place, and what must be there and whose it is afterwards.
import type { Member, MergePlace, Values } from './merge-places.ts';

/** `apply` and `force` say these members, and no others; `set` changes or removes one by an update. */
export type Turn =
  | readonly ['apply' | 'force', manager: string, values: Values]
  | readonly ['set', manager: string, member: Member, value: string | undefined];

export interface MergeRule {
  readonly rule: string;
  readonly turns: readonly Turn[];
  readonly values: Values;
  /** As in apply-cases.ts: `a` stands for a/Apply, `A` for a/Update. */
  readonly owners: Partial<Readonly<Record<Member, readonly string[]>>>;
  /** One apply more, which is refused because of `p`. */
  readonly refused?: readonly [manager: string, values: Values];
  readonly needs?: (place: MergePlace) => boolean;
}

const hasNeighbour = (place: MergePlace): boolean => place.hasNeighbour;
const hasValues = (place: MergePlace): boolean => place.hasValues;

export const MERGE_RULES: readonly MergeRule[] = [
  {
    rule: 'is owned by who says it',
    turns: [['apply', 'a', { p: '1' }]],
    values: { p: '1' },
    owners: { p: ['a'] },
  },
  {
    rule: 'is changed by its only owner',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'a', { p: '2' }],
    ],
    values: { p: '2' },
    owners: { p: ['a'] },
    needs: hasValues,
  },
  {
    rule: 'is merged with what another says beside it',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { q: '2' }],
    ],
    values: { p: '1', q: '2' },
    owners: { p: ['a'], q: ['b'] },
    needs: hasNeighbour,
  },
  {
    rule: 'is shared by those who say the same',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { p: '1' }],
    ],
    values: { p: '1' },
    owners: { p: ['a', 'b'] },
  },
  {
    rule: 'is not changed against its owner',
    turns: [['apply', 'a', { p: '1' }]],
    values: { p: '1' },
    owners: { p: ['a'] },
    refused: ['b', { p: '2' }],
    needs: hasValues,
  },
  {
    rule: 'is not changed by one owner against the other',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { p: '1' }],
    ],
    values: { p: '1' },
    owners: { p: ['a', 'b'] },
    refused: ['b', { p: '2' }],
    needs: hasValues,
  },
  {
    rule: 'has one owner after it was changed by force',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { p: '1' }],
      ['force', 'c', { p: '2' }],
    ],
    values: { p: '2' },
    owners: { p: ['c'] },
    needs: hasValues,
  },
  {
    rule: 'stays with its new owner when the former one says it no more',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['force', 'b', { p: '2' }],
      ['apply', 'a', {}],
    ],
    values: { p: '2' },
    owners: { p: ['b'] },
    needs: hasValues,
  },
  {
    rule: 'goes when its only owner says it no more',
    turns: [
      ['apply', 'a', { p: '1', q: '2' }],
      ['apply', 'a', { q: '2' }],
    ],
    values: { q: '2' },
    owners: { p: [], q: ['a'] },
    needs: hasNeighbour,
  },
  {
    rule: 'goes when its only owner says nothing any more',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'a', {}],
    ],
    values: {},
    owners: { p: [] },
  },
  {
    rule: 'stays when one of its owners says it no more',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { p: '1' }],
      ['apply', 'a', {}],
    ],
    values: { p: '1' },
    owners: { p: ['b'] },
  },
  {
    rule: 'goes with the last of its owners',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['apply', 'b', { p: '1' }],
      ['apply', 'a', {}],
      ['apply', 'b', {}],
    ],
    values: {},
    owners: { p: [] },
  },
  {
    rule: 'belongs to the one whose update changed it',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['set', 'u', 'p', '2'],
    ],
    values: { p: '2' },
    owners: { p: ['U'] },
    refused: ['a', { p: '1' }],
    needs: hasValues,
  },
  {
    rule: 'stays as an update left it when the applier says it no more',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['set', 'u', 'p', '2'],
      ['apply', 'a', {}],
    ],
    values: { p: '2' },
    owners: { p: ['U'] },
    needs: (place) => place.hasValues && !place.isElement,
  },
  {
    rule: 'belongs to the applier still when an update leaves it as it is',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['set', 'u', 'p', '1'],
    ],
    values: { p: '1' },
    owners: { p: ['a'] },
    needs: hasValues,
  },
  {
    rule: 'belongs to nobody when an update took it away',
    turns: [
      ['apply', 'a', { p: '1', q: '1' }],
      ['set', 'u', 'p', undefined],
    ],
    values: { q: '1' },
    owners: { p: [], q: ['a'] },
    needs: hasNeighbour,
  },
  {
    rule: 'comes back when it is applied after an update took it away',
    turns: [
      ['apply', 'a', { p: '1', q: '1' }],
      ['set', 'u', 'p', undefined],
      ['apply', 'a', { p: '1', q: '1' }],
    ],
    values: { p: '1', q: '1' },
    owners: { p: ['a'], q: ['a'] },
    needs: hasNeighbour,
  },
  {
    rule: 'is taken back by force from an update',
    turns: [
      ['apply', 'a', { p: '1' }],
      ['set', 'u', 'p', '2'],
      ['force', 'a', { p: '1' }],
    ],
    values: { p: '1' },
    owners: { p: ['a'] },
    needs: hasValues,
  },
];
