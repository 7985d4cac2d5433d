// Deletes bootstrap tokens that have expired (SPEC.md "Bootstrap tokens"), when they do.
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { tokenEndMs } from '../../../api/tokens/bootstrap-secret.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type Controller, type Due, deletionOf, NOTHING, type Plan } from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget } from '../targets.ts';

interface ExpiringToken {
  readonly expiresMs: number;
  readonly uid: string;
  readonly revision: number;
}

/** The token cleaner. Keys are names of secrets in the system namespace. */
export class BootstrapTokenCleanup implements Controller {
  readonly name = 'token-cleaner';
  readonly identity;
  readonly wants = ['core/secrets'];
  readonly keysInFlightMax = 5;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #namespace: string;
  readonly #type: string;
  readonly #tokens = new Map<string, ExpiringToken>();

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'token-cleaner');
    this.#clock = clock;
    this.#due = due;
    this.#namespace = dialect.systemNamespace;
    this.#type = dialect.spell('bootstrap.@label/token');
  }

  reset(): void {
    this.#tokens.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.namespace !== this.#namespace) return;
    this.#tokens.delete(event.name);
    if (event.type === 'delete') return;
    const secret = event.object();
    const expiration = Buffer.from(asText(asObject(secret.data).expiration), 'base64').toString('utf8');
    if (secret.type !== this.#type || expiration === '') return;
    const expiresMs = tokenEndMs(expiration);
    this.#tokens.set(event.name, { expiresMs, uid: metadataOf(secret).uid ?? '', revision: event.revision });
    this.#due.add(event.name);
  }

  onSynced(): void {
    for (const name of this.#tokens.keys()) this.#due.add(name);
  }

  // The revision is a precondition: a token that was given more time meanwhile stays.
  plan(key: string): Plan {
    const token = this.#tokens.get(key);
    if (token === undefined) return NOTHING;
    const leftMs = token.expiresMs - this.#clock.nowMs();
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    const preconditions = { uid: token.uid, resourceVersion: String(token.revision) };
    return { writes: [deletionOf(coreTarget('secrets', this.#namespace, key), preconditions)] };
  }
}
