// Keeps a secret with a token for every service account (SPEC.md "Service-account tokens"): makes one and names it in the
// account, fills those that are made by hand, and deletes those whose account is gone.

import { asObject, asText, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { nameSuffix } from '../../../api/metadata/metadata.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { SecretTokenSubject } from '../../../api/tokens/service-account-claims.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock, Random } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import { Contested } from '../contested.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  deletionOf,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { controllerManagerIdentity } from '../identities.ts';
import { coreTarget, isTerminating, keyOf, splitKey } from '../targets.ts';
import { TokenOrders } from './token-orders.ts';

const ACCOUNTS = 'core/serviceaccounts';
const SECRETS = 'core/secrets';
const NAMESPACES = 'core/namespaces';
/** In front of the keys of accounts and of secrets. */
const ACCOUNT = 'account ';
const SECRET = 'secret ';
/** Until a write shows in the stream, or a token that could not be had is asked for once more. */
const LOOK_AGAIN_MS = 1_000;

interface TokenSecret {
  readonly accountKey: string;
  /** Empty while nobody has filled it. */
  readonly accountUid: string;
  readonly uid: string;
  readonly lacks: { readonly token: boolean; readonly ca: boolean; readonly namespace: boolean };
}

/** Asks for a token. Rejects where none is to be had. */
export type TokenIssuer = (subject: SecretTokenSubject) => Promise<string>;

export interface TokenSettings {
  readonly dialect: Dialect;
  /** Goes into the secrets beside the token. */
  readonly caPem: string;
  readonly random: Random;
  /** Signs a token; rejects where none can be had now. */
  readonly issue: TokenIssuer;
}

/** The controller of service accounts' tokens. Keys are those of accounts and of secrets. */
export class ServiceAccountTokens implements Controller {
  readonly name = 'serviceaccount-token';
  readonly identity;
  readonly wants = [ACCOUNTS, SECRETS, NAMESPACES];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 5;
  readonly #due: Due;
  readonly #settings: TokenSettings;
  readonly #caBase64: string;
  readonly #secretType: string;
  readonly #annotation: { readonly name: string; readonly uid: string };
  readonly #accounts = new Map<string, ApiObject>();
  readonly #secrets = new Map<string, TokenSecret>();
  /** Keys of secrets, by that of their account. */
  readonly #secretsOf = new GroupedSets();
  /** Names of secrets that were deleted, by account, until it names them no more. */
  readonly #gone = new Map<string, Set<string>>();
  /** Keys of secrets that are there and that their account named once and names no more: it is to have another one. */
  readonly #letGo = new Set<string>();
  /** Namespaces that take nothing new. */
  readonly #ending = new Set<string>();
  readonly #orders: TokenOrders;
  readonly #contested: Contested;

  constructor(clock: Clock, due: Due, settings: TokenSettings) {
    const { dialect, caPem } = settings;
    this.identity = controllerManagerIdentity(dialect);
    this.#contested = new Contested(clock);
    this.#due = due;
    this.#settings = settings;
    this.#caBase64 = Buffer.from(caPem).toString('base64');
    this.#secretType = dialect.spell('@label/service-account-token');
    const prefix = dialect.spell('@label/service-account');
    this.#annotation = { name: `${prefix}.name`, uid: `${prefix}.uid` };
    this.#orders = new TokenOrders(due, settings.issue);
  }

  reset(): void {
    for (const map of [this.#accounts, this.#secrets, this.#secretsOf, this.#gone, this.#letGo, this.#ending])
      map.clear();
    this.#orders.clear();
    this.#contested.clear();
  }

  onEvent(event: FeedEvent): void {
    const key = keyOf(event.namespace, event.name);
    if (event.storageKey === NAMESPACES) {
      if (event.type !== 'delete' && isTerminating(event.object())) this.#ending.add(event.name);
      else this.#ending.delete(event.name);
      return;
    }
    if (event.storageKey === SECRETS) {
      this.#onSecret(key, event);
      return;
    }
    if (event.type === 'delete') {
      this.#accounts.delete(key);
      this.#gone.delete(key);
    } else this.#onAccount(key, event);
    this.#due.add(ACCOUNT + key);
    for (const secret of this.#secretsOf.of(key)) this.#due.add(SECRET + secret);
  }

  onSynced(): void {
    for (const key of this.#accounts.keys()) this.#due.add(ACCOUNT + key);
    for (const key of this.#secrets.keys()) this.#due.add(SECRET + key);
  }

  plan(key: string): Plan {
    return key.startsWith(ACCOUNT)
      ? this.#planAccount(key, key.slice(ACCOUNT.length))
      : this.#planSecret(key, key.slice(SECRET.length));
  }

  onOutcome(key: string, { verb }: Write, { ok, code }: WriteOutcome): void {
    if (verb === 'create' && ok) this.#orders.made(key);
    // Somebody else has the name: another is taken.
    if (verb === 'create' && code === 409) this.#orders.drop(key);
    if (verb === 'patch' && ok) this.#contested.onSetRight(key);
  }

  #onAccount(key: string, event: FeedEvent): void {
    const before = this.#accounts.get(key);
    const account = event.object();
    this.#accounts.set(key, account);
    if (before === undefined) return;
    const named = namedBy(account);
    for (const secret of namedBy(before)) {
      const secretKey = keyOf(event.namespace, secret);
      if (!named.includes(secret) && this.#secrets.has(secretKey)) this.#letGo.add(secretKey);
    }
  }

  #onSecret(key: string, event: FeedEvent): void {
    const before = this.#secrets.get(key);
    const secret = event.type === 'delete' ? undefined : this.#read(event);
    if (before !== undefined && before.accountKey !== secret?.accountKey) this.#unlink(key, before.accountKey);
    if (secret === undefined) {
      this.#secrets.delete(key);
      this.#letGo.delete(key);
      if (before === undefined) return;
      this.#orders.drop(ACCOUNT + before.accountKey);
      if (event.type === 'delete') this.#goes(before.accountKey, event.name);
      return;
    }
    this.#secrets.set(key, secret);
    const { accountKey } = secret;
    this.#secretsOf.add(accountKey, key);
    this.#due.add(SECRET + key);
    this.#due.add(ACCOUNT + accountKey);
  }

  #goes(accountKey: string, secret: string): void {
    if (!this.#accounts.has(accountKey)) return;
    const gone = this.#gone.get(accountKey);
    if (gone === undefined) this.#gone.set(accountKey, new Set([secret]));
    else gone.add(secret);
  }

  /** Of those that are gone, the ones that the account still names. */
  #goneOf(accountKey: string, named: readonly string[]): ReadonlySet<string> {
    const gone = new Set([...(this.#gone.get(accountKey) ?? [])].filter((secret) => named.includes(secret)));
    if (gone.size === 0) this.#gone.delete(accountKey);
    else this.#gone.set(accountKey, gone);
    return gone;
  }

  #unlink(key: string, accountKey: string): void {
    this.#secretsOf.remove(accountKey, key);
    this.#due.add(ACCOUNT + accountKey);
  }

  /** Undefined for a secret of another type, and for one on its way out. */
  #read(event: FeedEvent): TokenSecret | undefined {
    const secret = event.object();
    if (secret.type !== this.#secretType || isTerminating(secret)) return undefined;
    const { annotations = {}, uid = '' } = metadataOf(secret);
    const data = asObject(secret.data);
    return {
      accountKey: keyOf(event.namespace, annotations[this.#annotation.name] ?? ''),
      accountUid: annotations[this.#annotation.uid] ?? '',
      uid,
      lacks: {
        token: asText(data.token) === '',
        ca: this.#caBase64 !== '' && data['ca.crt'] !== this.#caBase64,
        namespace: asText(data.namespace) === '',
      },
    };
  }

  #planAccount(key: string, accountKey: string): Plan {
    const account = this.#accounts.get(accountKey);
    const { namespace, name } = splitKey(accountKey);
    if (account === undefined || isTerminating(account) || this.#ending.has(namespace)) {
      this.#orders.drop(key);
      return NOTHING;
    }
    const { uid = '' } = metadataOf(account);
    const live = [...this.#secretsOf.of(accountKey)]
      .filter((secret) => ['', uid].includes(this.#secrets.get(secret)!.accountUid))
      .map((secret) => splitKey(secret).name);
    const isOurs = (secret: string): boolean => isNamedFor(name, secret);
    const named = namedBy(account);
    const gone = this.#goneOf(accountKey, named);
    const isAbsent = (secret: string): boolean =>
      (isOurs(secret) || gone.has(secret)) && !this.#secrets.has(keyOf(namespace, secret));
    const isNamed = named.some((secret) => live.includes(secret));
    // One that was made before a restart, or whose account could not be written until now.
    const isNew = (secret: string): boolean => isOurs(secret) && !this.#letGo.has(keyOf(namespace, secret));
    const added = isNamed ? undefined : live.find(isNew);
    if (added === undefined && !named.some(isAbsent)) {
      return isNamed
        ? this.#planNamed(key, namespace, named)
        : this.#planNew(key, { namespace, serviceAccount: { name, uid } });
    }
    const secrets = partsAt(account, 'secrets').filter((reference) => !isAbsent(textAt(reference, 'name')));
    const body = { ...account, secrets: added === undefined ? secrets : [...secrets, { name: added }] };
    return { writes: [{ verb: 'update', target: coreTarget('serviceaccounts', namespace, name), body }] };
  }

  /** While ours was made, another controller may have given the account one and named that: ours is nobody's then. */
  #planNamed(key: string, namespace: string, named: readonly string[]): Plan {
    const made = this.#orders.madeFor(key);
    if (made === undefined || named.includes(made)) {
      this.#orders.drop(key);
      return NOTHING;
    }
    const secret = this.#secrets.get(keyOf(namespace, made));
    if (secret === undefined) return { writes: [], againAfterMs: LOOK_AGAIN_MS };
    return { writes: [deletionOf(coreTarget('secrets', namespace, made), { uid: secret.uid })] };
  }

  /** A secret of a name of ours, with its token in it from the first. */
  #planNew(key: string, account: Omit<SecretTokenSubject, 'secretName'>): Plan {
    const { namespace, serviceAccount } = account;
    const { random } = this.#settings;
    const order = this.#orders.of(key, serviceAccount.uid, () => ({
      ...account,
      secretName: `${serviceAccount.name}-token-${nameSuffix(() => random.next())}`,
    }));
    if (order.token === undefined || order.isMade) return { writes: [], againAfterMs: LOOK_AGAIN_MS };
    const metadata = {
      name: order.subject.secretName,
      namespace,
      annotations: { [this.#annotation.name]: serviceAccount.name, [this.#annotation.uid]: serviceAccount.uid },
    };
    const data = {
      token: base64(order.token),
      namespace: base64(namespace),
      ...(this.#caBase64 === '' ? {} : { 'ca.crt': this.#caBase64 }),
    };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: this.#secretType, data };
    return { writes: [{ verb: 'create', target: coreTarget('secrets', namespace, ''), body }] };
  }

  #planSecret(key: string, secretKey: string): Plan {
    const secret = this.#secrets.get(secretKey);
    const { namespace, name: secretName } = splitKey(secretKey);
    if (secret === undefined) {
      this.#orders.drop(key);
      this.#contested.forget(key);
      return NOTHING;
    }
    const { accountUid, lacks, uid: secretUid, accountKey } = secret;
    const account = this.#accounts.get(accountKey);
    const { uid = '' } = account === undefined ? {} : metadataOf(account);
    const target = coreTarget('secrets', namespace, secretName);
    if (account === undefined || (accountUid !== '' && accountUid !== uid)) {
      return { writes: [deletionOf(target, { uid: secretUid })] };
    }
    const isFilled = accountUid !== '' && !lacks.token && !lacks.ca && !lacks.namespace;
    if (isFilled || isTerminating(account) || this.#ending.has(namespace)) {
      this.#orders.drop(key);
      return NOTHING;
    }
    const leftMs = this.#contested.leftMs(key);
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    const { name } = metadataOf(account);
    const subject = { namespace, serviceAccount: { name: name ?? '', uid }, secretName };
    const order = lacks.token ? this.#orders.of(key, uid, () => subject) : undefined;
    if (order !== undefined && order.token === undefined) return { writes: [], againAfterMs: LOOK_AGAIN_MS };
    const body = {
      metadata: { uid: secretUid, annotations: { [this.#annotation.uid]: uid } },
      data: {
        ...(order?.token === undefined ? {} : { token: base64(order.token) }),
        ...(lacks.ca ? { 'ca.crt': this.#caBase64 } : {}),
        ...(lacks.namespace ? { namespace: base64(namespace) } : {}),
      },
    };
    return { writes: [{ verb: 'patch', target, body }] };
  }
}

/** Names of secrets. */
function namedBy(account: ApiObject): readonly string[] {
  return partsAt(account, 'secrets').map((reference) => textAt(reference, 'name'));
}

const OURS = /^-token-[a-z0-9]{5}$/;

/** Whether a secret has a name that this controller would have given it. */
function isNamedFor(account: string, secret: string): boolean {
  return secret.startsWith(account) && OURS.test(secret.slice(account.length));
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
