// Which objects are in the store and cannot be read, as reads and watches meet them: one of them refuses every answer that it would be
// part of, whatever selectors would have made of it, and no other.
import type { UnreadableValue } from '../../../storage/following/publication.ts';
import { parseKey } from '../../../storage/object-key.ts';
import type { ReadRefusal, Selection } from '../protocol.ts';

type Unreadable = Extract<ReadRefusal, { readonly refused: 'unreadable' }>;

/** Which part of a list is meant: of what revision, behind what, and up to what (`<namespace>/<name>`; empty: to the end). */
interface ListedPart {
  readonly revision: number;
  readonly after: string;
  readonly upTo: string;
}

const NAME_TERM = /(?:^|,)metadata\.name==?([^,]*)(?:,|$)/;

export class UnreadableObjects {
  #byType: ReadonlyMap<string, ReadonlyMap<string, UnreadableValue>> = new Map();

  /** Takes over all that there are. Answers with the types of which there are some that were not there before. */
  take(values: readonly UnreadableValue[]): readonly string[] {
    const byType = new Map<string, Map<string, UnreadableValue>>();
    const grown = new Set<string>();
    for (const value of values) {
      const { storageKey, namespace, name } = parseKey(value.key);
      const within = `${namespace}/${name}`;
      if (this.#byType.get(storageKey)?.has(within) !== true) grown.add(storageKey);
      const ofType = byType.get(storageKey);
      if (ofType === undefined) byType.set(storageKey, new Map([[within, value]]));
      else ofType.set(within, value);
    }
    this.#byType = byType;
    return [...grown];
  }

  /** An object; undefined where it can be read, or is not there. */
  at(storageKey: string, namespace: string, name: string): Unreadable | undefined {
    if (this.#byType.size === 0) return undefined;
    const value = this.#byType.get(storageKey)?.get(`${namespace}/${name}`);
    return value && { refused: 'unreadable', why: value.why };
  }

  /** The first of a selection, or of a part of its list. */
  among({ storageKey, namespace, fieldSelector }: Selection, part?: ListedPart): Unreadable | undefined {
    const ofType = this.#byType.size === 0 ? undefined : this.#byType.get(storageKey);
    if (ofType === undefined) return undefined;
    const name = NAME_TERM.exec(fieldSelector)?.[1];
    for (const [within, { path, why, since }] of [...ofType].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (namespace !== '' && !within.startsWith(`${namespace}/`)) continue;
      if (name !== undefined && !within.endsWith(`/${name}`)) continue;
      if (part !== undefined && (since > part.revision || within <= part.after)) continue;
      if (part !== undefined && part.upTo !== '' && within > part.upTo) continue;
      return { refused: 'unreadable', why: `unable to transform key ${JSON.stringify(path)}: ${why}` };
    }
    return undefined;
  }
}
