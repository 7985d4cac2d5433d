// Tokens that machines join with (SPEC.md "Bootstrap tokens"): secrets in the system namespace, followed from the store's
// stream. Only their digests are kept.
import { createHash, timingSafeEqual } from 'node:crypto';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { tokenEndMs } from '../../../api/tokens/bootstrap-secret.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { ClusterKnowledge, ClusterReader } from '../cluster-feed.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';

const NAME_PREFIX = 'bootstrap-token-';
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

interface KnownToken {
  readonly secretDigest: Buffer;
  /** Infinite for one that does not expire. */
  readonly expiresMs: number;
  readonly owner: TokenOwner;
}

export class BootstrapTokens implements TokenAuthenticator, ClusterReader {
  readonly storageKeys = ['core/secrets'];
  readonly #namespace: string;
  readonly #type: string;
  readonly #clock: Clock;
  readonly #cluster: ClusterKnowledge;
  /** By token id. */
  readonly #tokens = new Map<string, KnownToken>();

  constructor(dialect: Dialect, clock: Clock, cluster: ClusterKnowledge) {
    this.#namespace = dialect.systemNamespace;
    this.#type = dialect.spell('bootstrap.@label/token');
    this.#clock = clock;
    this.#cluster = cluster;
  }

  reset(): void {
    this.#tokens.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.namespace !== this.#namespace || !event.name.startsWith(NAME_PREFIX)) return;
    const id = event.name.slice(NAME_PREFIX.length);
    const known = event.type === 'delete' ? undefined : this.#read(id, event.object());
    if (known === undefined) this.#tokens.delete(id);
    else this.#tokens.set(id, known);
  }

  /** Throws ActorDown while the secrets are not known. */
  owner(token: string): TokenOwner | undefined {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    this.#cluster.requireWhole();
    const known = this.#tokens.get(id);
    if (known === undefined || !timingSafeEqual(known.secretDigest, digestOf(secret))) return undefined;
    if (known.expiresMs <= this.#clock.nowMs()) return undefined;
    return known.owner;
  }

  /** Undefined for a secret that lets nobody in. */
  #read(id: string, secret: Readonly<Record<string, unknown>>): KnownToken | undefined {
    const data = asObject(secret.data);
    const value = (key: string): string => Buffer.from(asText(data[key]), 'base64').toString('utf8');
    if (secret.type !== this.#type || metadataOf(secret).deletionTimestamp) return undefined;
    if (value('token-id') !== id || value('token-secret') === '') return undefined;
    if (value('usage-bootstrap-authentication') !== 'true') return undefined;
    const expiresMs = tokenEndMs(value('expiration'));
    const extraGroups = value('auth-extra-groups');
    const groups = extraGroups === '' ? [] : extraGroups.split(',');
    if (!groups.every((group) => GROUP.test(group))) return undefined;
    const user = withAuthenticatedGroup({
      name: `system:bootstrap:${id}`,
      uid: '',
      groups: [...new Set(['system:bootstrappers', ...groups])].sort(),
      extra: {},
    });
    return { secretDigest: digestOf(value('token-secret')), expiresMs, owner: { user, audiences: undefined } };
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
