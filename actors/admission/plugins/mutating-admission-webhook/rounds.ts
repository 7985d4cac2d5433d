// Which webhooks are asked in the second round of a write: those that want to be asked again, and have been asked before another
// one, or a plugin of the server, changed the object.
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { Hook } from '../../hooks/hook.ts';

export class Rounds {
  /** Asked since the last change that was not their own. */
  readonly #asked = new Set<string>();
  readonly #again = new Set<string>();
  #last: JsonObject | undefined;

  /** A webhook has been asked, and what it has changed is the object now. */
  asked({ id, isReinvoked }: Hook): void {
    if (isReinvoked) this.#asked.add(id);
  }

  /** Call it before `asked` of who has changed the object: its own change is no news to it. */
  changed(): void {
    for (const id of this.#asked) this.#again.add(id);
    this.#asked.clear();
  }

  /** The last webhook of the round has been asked. */
  ended(object: JsonObject): void {
    this.#last = object;
  }

  /** `object` is what plugins have made of it since. */
  beginSecond(object: JsonObject): void {
    if (!deepEqual(object, this.#last)) this.changed();
  }

  asksAgain({ id }: Hook): boolean {
    return this.#again.has(id);
  }
}
