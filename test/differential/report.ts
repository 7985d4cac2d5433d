// What two servers are asked, and what their answers differ in, gathered by what differs: those of one cause are printed once, with the
// first of them, the most frequent first.

/** A request to both servers. */
export interface Asked {
  /** Of what type it is about. */
  readonly group: string;
  readonly plural: string;
  readonly version?: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Of the body, where that is not plain JSON. */
  readonly contentType?: string;
  readonly accept?: string;
  /** In place of the admin's; empty: none. */
  readonly token?: string;
}

/** Lines that are shown of one cause. */
const LINES_MAX = 12;

/** Of one kind of difference. */
interface Group {
  count: number;
  readonly first: { readonly index: number; readonly asked: Asked; readonly lines: readonly string[] };
}

/** The type as `plural.group/version`. */
export function nameOf({ plural, group, version }: Pick<Asked, 'plural' | 'group' | 'version'>): string {
  return `${plural}${group === '' ? '' : `.${group}`}${version === undefined ? '' : `/${version}`}`;
}

/** A difference without what stands in it, so that those of one cause meet. */
function groupOf({ group, plural, version, method }: Asked, lines: readonly string[]): string {
  const plain = lines.map((line) =>
    line
      .replace(/"[^"]*"/g, '"…"')
      .replace(/\d+/g, '#')
      .slice(0, 100),
  );
  // Custom types differ by a number, and are alike.
  const name =
    version === undefined ? nameOf({ group, plural }).replace(/\d+/g, '#') : nameOf({ group, plural, version });
  return [method, name, ...new Set(plain)].join('\n');
}

export class Differences {
  readonly #groups = new Map<string, Group>();
  differing = 0;

  /** Lines of one case; none where both say the same. */
  add(index: number, asked: Asked, lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.differing += 1;
    const key = groupOf(asked, lines);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { count: 1, first: { index, asked, lines } });
    else group.count += 1;
  }

  /** How many causes there are. */
  get ways(): number {
    return this.#groups.size;
  }

  /** The report, line by line. */
  *lines(): Generator<string> {
    for (const { count, first } of [...this.#groups.values()].sort((a, b) => b.count - a.count)) {
      const { asked, index, lines } = first;
      yield `${count} × ${asked.method} ${nameOf(asked)}, the first is --case ${index}`;
      for (const line of lines.slice(0, LINES_MAX)) yield `    ${line}`;
    }
  }
}
