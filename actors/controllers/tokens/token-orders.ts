// Tokens that a controller has asked for, until what they are for shows them: signing one takes a while, and a plan does not
// wait. One order a key, so that a key that is planned again gets the token it asked for.
import type { SecretTokenSubject } from '../../../api/tokens/service-account-claims.ts';
import type { Due } from '../controller.ts';

export interface TokenOrder {
  readonly subject: SecretTokenSubject;
  /** Undefined until it has been signed. */
  token: string | undefined;
  /** What it is for is made: the stream shows it some time later. */
  isMade: boolean;
}

export class TokenOrders {
  readonly #due: Due;
  readonly #issue: (subject: SecretTokenSubject) => Promise<string>;
  readonly #orders = new Map<string, TokenOrder>();

  constructor(due: Due, issue: (subject: SecretTokenSubject) => Promise<string>) {
    this.#due = due;
    this.#issue = issue;
  }

  /**
   * The order of a key for an account, which becomes due when the token is there. One that fails is forgotten, and so is one for an
   * account that was made anew under its name: nobody lets its token in any more.
   */
  of(key: string, accountUid: string, subjectOf: () => SecretTokenSubject): TokenOrder {
    const known = this.#orders.get(key);
    if (known?.subject.serviceAccount.uid === accountUid) return known;
    const order: TokenOrder = { subject: subjectOf(), token: undefined, isMade: false };
    this.#orders.set(key, order);
    this.#issue(order.subject).then(
      (token) => {
        order.token = token;
        this.#due.add(key);
      },
      () => {
        if (this.#orders.get(key) === order) this.#orders.delete(key);
      },
    );
    return order;
  }

  /** What the token of a key is for was written just now. */
  made(key: string): void {
    const order = this.#orders.get(key);
    if (order !== undefined) order.isMade = true;
  }

  /** The name of the secret that was made for a key; undefined where none was, or where the stream has shown what it is for. */
  madeFor(key: string): string | undefined {
    const order = this.#orders.get(key);
    return order?.isMade === true ? order.subject.secretName : undefined;
  }

  drop(key: string): void {
    this.#orders.delete(key);
  }

  clear(): void {
    this.#orders.clear();
  }
}
