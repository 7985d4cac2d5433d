// Deletes bootstrap tokens that have expired (SPEC.md "Bootstrap tokens"), when they do.
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { tokenEndMs } from '../../../api/tokens/bootstrap-secret.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { Controller, Due, Plan } from '../controller.ts';
import { DatedDeletions } from '../dated-deletions.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget } from '../targets.ts';

/** The token cleaner. Keys are names of secrets in the system namespace. */
export class BootstrapTokenCleanup implements Controller {
  readonly name = 'token-cleaner';
  readonly identity;
  readonly wants = ['core/secrets'];
  readonly keysInFlightMax = 5;
  readonly #namespace: string;
  readonly #type: string;
  readonly #tokens: DatedDeletions;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'token-cleaner');
    this.#namespace = dialect.systemNamespace;
    this.#type = dialect.spell('bootstrap.@label/token');
    this.#tokens = new DatedDeletions(clock, due);
  }

  reset(): void {
    this.#tokens.clear();
  }

  onEvent(event: FeedEvent): void {
    const { namespace, name, type, revision } = event;
    if (namespace !== this.#namespace) return;
    this.#tokens.delete(name);
    if (type === 'delete') return;
    const secret = event.object();
    const expiration = Buffer.from(asText(asObject(secret.data).expiration), 'base64').toString('utf8');
    if (secret.type !== this.#type || expiration === '') return;
    const preconditions = { uid: metadataOf(secret).uid ?? '', resourceVersion: String(revision) };
    this.#tokens.add(name, {
      endMs: tokenEndMs(expiration),
      target: coreTarget('secrets', namespace, name),
      preconditions,
    });
  }

  onSynced(): void {
    this.#tokens.onSynced();
  }

  plan(key: string): Plan {
    return this.#tokens.plan(key);
  }
}
