// ServiceAccount: a pod runs as a service account, which must be there, and gets its token and its pull secrets. Pods that node
// agents made for themselves get nothing and may name none of it.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asObject, partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { nameSuffix } from '../../../../api/metadata/metadata.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { forbidden, serverTimeout } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import { type Soon, whenThere } from '../../../../runtime/soon.ts';
import { keep } from '../../../../values/kept.ts';
import type { PublishedPlace } from '../../../store/protocol.ts';
import type { Asked, Attributes } from '../../attributes.ts';
import type { KnownSpec } from '../../known-specs.ts';
import { decodePlace, findPlace, readCurrent, type StoreReader } from '../../stored/store-reader.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import { type Account, isMounted, readAccount } from './account.ts';
import { limitProblem, mirrorProblem } from './secret-limits.ts';
import { boundTokenVolume, keptTokenVolume, mountTokenVolume, type TokenVolume } from './token-volume.ts';

/** The account of pods that name none. Every namespace is given it, soon after it was made. */
const DEFAULT_ACCOUNT = 'default';
/** Looks at an account that is on its way, and the time between them: so much plus as much again by chance. */
const DEFAULT_LOOKS = 10;
const LOOK_AGAIN_MS = 100;
const REMEMBERED_MAX = 10_000;
/** Only absence is looked at again. */
const ANY_STATE = { kind: 'local' } as const;

class ServiceAccount implements AdmissionPlugin {
  readonly #context: StoreReader['context'];
  readonly #accounts: KnownType;
  readonly #secrets: KnownType;
  /** Tokens are made for each pod, rather than taken from the account's secret. */
  readonly #isBound: boolean;
  readonly #tokenType: string;
  /** Begins the annotations that say whose token a secret holds. */
  readonly #accountKey: string;
  readonly #mirrorKey: string;
  readonly #limitsKey: string;
  /** The parts of a spec that is known, before and after a token was mounted. */
  readonly #mounted = new WeakMap<KnownSpec, { readonly before: Mounts; readonly after: Mounts }>();
  /** By namespace and name. */
  readonly #remembered = new Map<string, { readonly revision: number; readonly account: Account }>();

  constructor({ reader, registry, dialect, options }: PluginContext) {
    this.#context = reader.context;
    const accounts = registry.storageType('core/serviceaccounts');
    const secrets = registry.storageType('core/secrets');
    if (accounts === undefined || secrets === undefined) throw new Error('the registry has no accounts or secrets');
    this.#accounts = accounts;
    this.#secrets = secrets;
    this.#isBound = options.gate('BoundServiceAccountTokenVolume');
    this.#tokenType = dialect.spell('@label/service-account-token');
    this.#accountKey = dialect.spell('@label/service-account');
    this.#mirrorKey = dialect.spell('@label/config.mirror');
    this.#limitsKey = dialect.spell('@label/enforce-mountable-secrets');
  }

  readonly mutate = (attributes: Attributes): Soon<void> => {
    if (this.#isMirror(attributes.object)) {
      requireNone(attributes, mirrorProblem(attributes.object));
      return undefined;
    }
    const name = textAt(asObject(attributes.object.spec), 'serviceAccountName', DEFAULT_ACCOUNT);
    return whenThere(this.#account(attributes, name), (account) => this.#complete(attributes, account));
  };

  /** Others may have changed the pod since. */
  readonly validate = (attributes: Attributes): Soon<void> => {
    if (this.#isMirror(attributes.object)) {
      requireNone(attributes, mirrorProblem(attributes.object));
      return undefined;
    }
    const spec = partAt(attributes.object, 'spec');
    const { namespace } = attributes.asked;
    const name = textAt(spec, 'serviceAccountName');
    if (name === '')
      requireNone(attributes, `no service account specified for pod ${namespace}/${nameOf(attributes.object)}`);
    return whenThere(this.#account(attributes, name), (account) =>
      requireNone(attributes, account.limitsSecrets ? limitProblem(spec, account) : undefined),
    );
  };

  #isMirror(pod: JsonObject): boolean {
    return metadataOf(pod).annotations?.[this.#mirrorKey] !== undefined;
  }

  #complete(attributes: Attributes, account: Account): Soon<void> {
    const { dialect, asked } = attributes;
    const spec = attributes.ownSpec();
    spec.serviceAccountName = account.name;
    // The older name of the same member says the same.
    spec.serviceAccount = account.name;
    if (account.pullSecrets.length > 0 && partsAt(spec, 'imagePullSecrets').length === 0)
      spec.imagePullSecrets = account.pullSecrets.map((name) => ({ name }));
    if (!isMounted(account, spec)) return;
    const volume = this.#isBound
      ? boundTokenVolume(dialect, suffixOf(asked))
      : this.#keptTokenVolume(asked, account, suffixOf(asked));
    return whenThere(volume, (made) => this.#mount(attributes, made));
  }

  /** Pods of one template are mounted alike, so that they are stored alike: the name of the volume is one that each has to itself. */
  #mount(attributes: Attributes, volume: TokenVolume): void {
    const spec = attributes.ownSpec();
    const { knownSpec } = attributes;
    const mounted = knownSpec && this.#mounted.get(knownSpec);
    const before = partsOf(spec);
    if (mounted !== undefined && MOUNTED.every((part) => mounted.before[part] === before[part])) {
      Object.assign(spec, mounted.after);
      return;
    }
    mountTokenVolume(spec, attributes.dialect, volume);
    if (this.#isBound && knownSpec !== undefined) this.#mounted.set(knownSpec, { before, after: partsOf(spec) });
  }

  async #keptTokenVolume({ reader, namespace }: Asked, account: Account, suffix: () => string): Promise<TokenVolume> {
    for (const name of account.secrets) {
      const stored = await readCurrent(reader, this.#secrets, namespace, name);
      if (stored !== null && this.#isTokenOf(stored.object, account)) return keptTokenVolume(name, suffix);
    }
    const absent = `No API token found for service account ${JSON.stringify(account.name)}`;
    const message = `${absent}, retry after the token is automatically created and added to the service account`;
    throw new StatusError({ ...serverTimeout('create pod', this.#accounts, 1), message });
  }

  #isTokenOf(secret: JsonObject, { name, uid }: Account): boolean {
    const { annotations = {} } = metadataOf(secret);
    const [namedFor, uidOf] = [annotations[`${this.#accountKey}.name`], annotations[`${this.#accountKey}.uid`]];
    return secret.type === this.#tokenType && namedFor === name && uidOf === uid;
  }

  /** Throws 403 where it is not there; the default one is waited for. */
  #account(attributes: Attributes, name: string): Soon<Account> {
    const { namespace, reader } = attributes.asked;
    const looking = findPlace(reader, this.#accounts, namespace, name, ANY_STATE);
    return whenThere(looking, (place) =>
      place === null ? this.#lookAgain(attributes, name) : this.#read(reader, place, namespace, name),
    );
  }

  /** Absence may be no more. */
  async #lookAgain(attributes: Attributes, name: string): Promise<Account> {
    const { namespace, reader } = attributes.asked;
    const looks = name === DEFAULT_ACCOUNT ? DEFAULT_LOOKS : 1;
    for (let look = 1; look <= looks; look++) {
      if (look > 1) await this.#pause();
      const place = await findPlace(reader, this.#accounts, namespace, name);
      if (place !== null) return this.#read(reader, place, namespace, name);
    }
    const absent = `serviceaccount ${JSON.stringify(name)} not found`;
    throw refusal(attributes, `error looking up service account ${namespace}/${name}: ${absent}`);
  }

  /** Call it in the turn that was told the place. */
  #read(reader: StoreReader, place: PublishedPlace, namespace: string, name: string): Account {
    const key = `${namespace}/${name}`;
    const known = this.#remembered.get(key);
    if (known?.revision === place.revision) return known.account;
    const account = readAccount(decodePlace(reader, place), this.#limitsKey);
    keep(this.#remembered, REMEMBERED_MAX, key, { revision: place.revision, account });
    return account;
  }

  #pause(): Promise<void> {
    const { timers, random } = this.#context;
    return new Promise((resolve) => {
      timers.after(LOOK_AGAIN_MS * (1 + random.next()), resolve);
    });
  }
}

/** What of a spec has a part in mounting a token. */
const MOUNTED = ['volumes', 'initContainers', 'containers'] as const;
type Mounts = Readonly<Partial<Record<(typeof MOUNTED)[number], unknown>>>;

function partsOf(spec: Readonly<Record<string, unknown>>): Mounts {
  const parts: Partial<Record<(typeof MOUNTED)[number], unknown>> = {};
  for (const part of MOUNTED) if (spec[part] !== undefined) parts[part] = spec[part];
  return parts;
}

function suffixOf({ reader }: Asked): () => string {
  const { random } = reader.context;
  return () => nameSuffix(() => random.next());
}

function nameOf(pod: JsonObject): string {
  const { name = '', generateName = '' } = metadataOf(pod);
  return name || generateName || 'Unknown';
}

function refusal({ type, object }: Attributes, problem: string): StatusError {
  return new StatusError(forbidden(type, nameOf(object), problem));
}

function requireNone(attributes: Attributes, problem: string | undefined): void {
  if (problem !== undefined) throw refusal(attributes, problem);
}

export const serviceAccount: AdmissionPluginKind = {
  name: 'ServiceAccount',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  create: (context) => new ServiceAccount(context),
};
