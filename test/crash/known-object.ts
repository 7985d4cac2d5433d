// What is known of one object that one client alone writes to, one request at a time: the states it was acknowledged in, and
// the one that was asked for last and not answered. From that follows exactly what a server may show of it.
import type { ApiObject } from '../server/https-client.ts';
import type { WatchEvent } from '../server/watch-stream.ts';

/** The annotations that say which write made an object, and whether it is whole. */
export const TOKEN = 'token';
export const FILL = 'fill';

/** A state of the object: the token of the write that made it, absent when there is no object. */
export interface Step {
  readonly token: string | undefined;
  /** Unknown for a deletion, which is answered without one. */
  readonly version: number | undefined;
}

const ABSENT: Step = { token: undefined, version: undefined };

export class KnownObject {
  readonly name: string;
  /** As last acknowledged. */
  state: Step = ABSENT;
  /** What was asked for and not answered: it may have happened or not. */
  open: { readonly token: string | undefined } | undefined;
  /** Every state since the last `forget`, the one before them first. */
  #steps: Step[] = [ABSENT];
  #backup: Step = ABSENT;

  constructor(name: string) {
    this.name = name;
  }

  get exists(): boolean {
    return this.state.token !== undefined;
  }

  /** The acknowledged states since the last `forget` that have a version. */
  get versions(): readonly number[] {
    return this.#steps.slice(1).flatMap(({ version }) => (version === undefined ? [] : [version]));
  }

  acknowledge(step: Step): void {
    this.state = step;
    this.open = undefined;
    this.#steps.push(step);
  }

  /** Settles what was open by what is stored now. Returns what is wrong with that. */
  settle(stored: ApiObject | undefined): string | undefined {
    const found = stored === undefined ? ABSENT : stepOf(stored);
    const { state, open, name } = this;
    this.open = undefined;
    if (stored !== undefined && !isWhole(stored)) return `${name} is not whole: ${JSON.stringify(stored)}`;
    if (open !== undefined && found.token === open.token) {
      if ((found.version ?? Number.POSITIVE_INFINITY) <= (state.version ?? 0)) return `${name} went back in versions`;
      this.acknowledge(found);
      return undefined;
    }
    const isAsAcknowledged =
      found.token === state.token && (state.version === undefined || found.version === state.version);
    if (isAsAcknowledged) return undefined;
    const wanted = open === undefined ? describe(state) : `${describe(state)} or ${describe({ ...ABSENT, ...open })}`;
    return `${name} is ${describe(found)} and was acknowledged as ${wanted}`;
  }

  /** What is wrong with the events of this object since the last `forget`; nothing when they are its states, each once. */
  checkEvents(events: readonly WatchEvent[]): string | undefined {
    const [first, ...steps] = this.#steps;
    let before = first!;
    for (const [index, step] of steps.entries()) {
      const event = events[index];
      if (event === undefined) return `a watch did not see ${this.name} as ${describe(step)}`;
      const due = step.token === undefined ? 'DELETED' : before.token === undefined ? 'ADDED' : 'MODIFIED';
      // A deletion shows the object as it was last.
      const token = step.token ?? before.token;
      const { version } = stepOf(event.object);
      const isRight =
        event.type === due &&
        stepOf(event.object).token === token &&
        (step.version === undefined || step.version === version) &&
        isWhole(event.object);
      if (!isRight) {
        const seen = `${event.type} ${describe(stepOf(event.object))}`;
        return `a watch saw ${this.name} as ${seen} where ${due} ${describe({ ...step, token })} was due`;
      }
      before = step;
    }
    const more = events[steps.length];
    return more === undefined
      ? undefined
      : `a watch saw ${this.name} as ${describe(stepOf(more.object))}, unexpectedly`;
  }

  /** This state may come back. */
  backUp(): void {
    this.#backup = this.state;
  }

  /** It came back: what was acknowledged since is gone. What is open may happen still. */
  restore(): void {
    this.state = this.#backup;
    this.#steps = [this.state];
  }

  /** Drops the states that were checked. */
  forget(): void {
    this.#steps = [this.state];
  }
}

export function stepOf({ metadata }: ApiObject): Step {
  return { token: metadata.annotations?.[TOKEN], version: Number(metadata.resourceVersion) };
}

/** Annotations of a write: the second follows from the first, and differs in length from write to write. */
export function annotationsOf(token: string): Record<string, string> {
  let length = 0;
  for (const character of token) length = (31 * length + character.charCodeAt(0)) % 3001;
  return { [TOKEN]: token, [FILL]: `${token} `.repeat(Math.ceil(length / (token.length + 1))) };
}

function isWhole({ metadata }: ApiObject): boolean {
  const token = metadata.annotations?.[TOKEN] ?? '';
  return metadata.annotations?.[FILL] === annotationsOf(token)[FILL];
}

function describe({ token, version }: Step): string {
  if (token === undefined) return 'absent';
  return version === undefined ? token : `${token} at ${version}`;
}
