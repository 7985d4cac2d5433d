// ServiceAccount: a pod runs as a service account, which must be there, and gets its token and its pull secrets. Pods that node
// agents made for themselves get nothing and may name none of it.
import type { JsonObject } from '../../../../api/json-value.ts';
import { nameSuffix } from '../../../../api/metadata.ts';
import { asObject, partAt, partsAt, textAt } from '../../../../api/object-fields.ts';
import { metadataOf } from '../../../../api/object-meta.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { forbidden, serverTimeout } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import type { Asked, Attributes } from '../../attributes.ts';
import { decodePlace, findPlace, readCurrent, type StoreReader } from '../../store-reader.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import { type Account, isMounted, readAccount } from './account.ts';
import { limitProblem, mirrorProblem } from './secret-limits.ts';
import { boundTokenVolume, keptTokenVolume, type TokenVolume, withTokenVolume } from './token-volume.ts';

/** The account of pods that name none. Every namespace is given it, soon after it was made. */
const DEFAULT_ACCOUNT = 'default';
/** Looks at an account that is on its way, and the time between them: so much plus as much again by chance. */
const DEFAULT_LOOKS = 10;
const LOOK_AGAIN_MS = 100;
const REMEMBERED_MAX = 10_000;

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

  readonly mutate = (attributes: Attributes): Promise<void> | undefined => {
    if (this.#isMirror(attributes.object)) {
      requireNone(attributes, mirrorProblem(attributes.object));
      return undefined;
    }
    const spec = asObject(attributes.object.spec);
    const name = textAt(spec, 'serviceAccountName', DEFAULT_ACCOUNT);
    return this.#account(attributes, name).then(async (account) => {
      attributes.object = { ...attributes.object, spec: await this.#completed(attributes, spec, account) };
    });
  };

  /** Others may have changed the pod since. */
  readonly validate = (attributes: Attributes): Promise<void> | undefined => {
    if (this.#isMirror(attributes.object)) {
      requireNone(attributes, mirrorProblem(attributes.object));
      return undefined;
    }
    const spec = partAt(attributes.object, 'spec');
    const { namespace } = attributes.asked;
    const name = textAt(spec, 'serviceAccountName');
    if (name === '')
      requireNone(attributes, `no service account specified for pod ${namespace}/${nameOf(attributes.object)}`);
    return this.#account(attributes, name).then((account) =>
      requireNone(attributes, account.limitsSecrets ? limitProblem(spec, account) : undefined),
    );
  };

  #isMirror(pod: JsonObject): boolean {
    return metadataOf(pod).annotations?.[this.#mirrorKey] !== undefined;
  }

  async #completed({ dialect, asked }: Attributes, spec: JsonObject, account: Account): Promise<JsonObject> {
    // The older name of the same member says the same.
    const named = { ...spec, serviceAccountName: account.name, serviceAccount: account.name };
    const mounted = isMounted(account, named)
      ? withTokenVolume(named, dialect, await this.#tokenVolume(asked, dialect, account))
      : named;
    if (account.pullSecrets.length === 0 || partsAt(mounted, 'imagePullSecrets').length > 0) return mounted;
    return { ...mounted, imagePullSecrets: account.pullSecrets.map((name) => ({ name })) };
  }

  async #tokenVolume({ reader, namespace }: Asked, dialect: Dialect, account: Account): Promise<TokenVolume> {
    const { random } = reader.context;
    const suffix = (): string => nameSuffix(() => random.next());
    if (this.#isBound) return boundTokenVolume(dialect, suffix);
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
  async #account(attributes: Attributes, name: string): Promise<Account> {
    const { namespace, reader } = attributes.asked;
    const found = await this.#find(reader, namespace, name);
    if (found !== undefined) return found;
    const looks = name === DEFAULT_ACCOUNT ? DEFAULT_LOOKS : 1;
    for (let look = 1; look < looks; look++) {
      await this.#pause();
      const made = await this.#find(reader, namespace, name);
      if (made !== undefined) return made;
    }
    const absent = `serviceaccount ${JSON.stringify(name)} not found`;
    throw refusal(attributes, `error looking up service account ${namespace}/${name}: ${absent}`);
  }

  /** Any state will do; only absence is looked at again. */
  async #find(reader: StoreReader, namespace: string, name: string): Promise<Account | undefined> {
    const place =
      (await findPlace(reader, this.#accounts, namespace, name, { kind: 'local' })) ??
      (await findPlace(reader, this.#accounts, namespace, name));
    if (place === null) return undefined;
    const key = `${namespace}/${name}`;
    const known = this.#remembered.get(key);
    if (known?.revision === place.revision) return known.account;
    const account = readAccount(decodePlace(reader, place), this.#limitsKey);
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.set(key, { revision: place.revision, account });
    return account;
  }

  #pause(): Promise<void> {
    const { timers, random } = this.#context;
    return new Promise((resolve) => {
      timers.after(LOOK_AGAIN_MS * (1 + random.next()), resolve);
    });
  }
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
