// What an admission plugin is: a row that says when it is asked, what its settings are, and the two calls by which it is.
import type { AccessAttributes } from '../../../api/authorization/attributes.ts';
import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import type { AdmissionPluginName } from '../../../config/admission-plugins.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeatureGateName } from '../../../config/feature-gates.ts';
import type {
  CredentialsByService,
  ServiceConnection,
  ServiceCredentials,
} from '../../../transport/outgoing/connection-file.ts';
import type { EgressWays } from '../../../transport/outgoing/egress.ts';
import type { MakeWebhookClient } from '../../../transport/outgoing/service-client.ts';
import type { OwnService } from '../../outside/own-service.ts';
import type { Attributes, Operation, PluginCall } from '../attributes.ts';
import type { ClusterView } from '../cluster.ts';
import type { WebhookConversion } from '../conversion/webhook-conversion.ts';
import type { StoreReader } from '../stored/store-reader.ts';

/** What plugins work with. They read the cluster on their thread. */
export interface PluginContext {
  /** Time, randomness and timers are in its `context`. Objects are read with that of the write (`Asked.reader`). */
  readonly reader: StoreReader;
  /** Small kinds, followed: a plugin that follows one is only asked when all committed by then is known. */
  readonly cluster: Pick<ClusterView, 'follow' | 'current'>;
  readonly registry: Registry;
  readonly dialect: Dialect;
  readonly schema: Schema;
  /** Between the versions of a kind. */
  readonly forms: StoredForm;
  /** Between those of a custom kind whose definition has a webhook for it. */
  readonly conversion: WebhookConversion;
  /** The server's options, as far as plugins have some of their own. */
  readonly options: PluginOptions;
  /** Whether the user of a write, or another for its sake, may, and why not. Rejects when the auth actor does not answer. */
  readonly authorize: (of: Pick<Attributes, 'user' | 'asked'>, access: AccessAttributes) => Promise<Authorization>;
}

export interface Authorization {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why it could not be decided. */
  readonly error?: string;
}

/** Options that are a plugin's, and feature gates. */
export interface PluginOptions {
  readonly gate: (name: FeatureGateName) => boolean;
  /** `--default-not-ready-toleration-seconds`. */
  readonly notReadySeconds: number;
  /** `--default-unreachable-toleration-seconds`. */
  readonly unreachableSeconds: number;
  /** `--enable-aggregator-routing`: services are called at their endpoints. */
  readonly callsEndpoints: boolean;
  /** `--proxy-client-cert-file`, `--proxy-client-key-file`: what services that are called are shown. */
  readonly shownToServices: ServiceCredentials;
  /** Absent: the server cannot be asked by itself. */
  readonly ownService?: OwnService | undefined;
  readonly webhookClient: MakeWebhookClient;
  /** A revision of the store is of one object of a type: what is charged together is not committed together. */
  readonly commitsEach?: boolean;
  /** `--egress-selector-config-file`; absent: all are straight. */
  readonly egress?: EgressWays | undefined;
}

/** A plugin at work, one on each admission actor. Either call may be left out. */
export interface AdmissionPlugin {
  /** May replace the object (`attributes.object`), guard the commit, or refuse. Runs before the object is validated. */
  readonly mutate?: PluginCall;
  /** May guard the commit, add to it, or refuse. Runs on the object as it will be stored. */
  readonly validate?: PluginCall;
  /** Answers the same plugin of another admission actor: the first of them has what there is one of in the server. */
  readonly answer?: (question: unknown) => unknown;
}

/** Which writes a plugin wants. */
export interface Wanted {
  readonly operations: readonly Operation[];
  /**
   * `core/pods` (the first label of the group, `core` for the group without a name, and the plural), with a subresource
   * `core/pods/binding`; `*` for every object, `**` for every subresource as well. Versions make no difference.
   */
  readonly resources: readonly string[];
}

/** Where a plugin's settings are read from, at the start. */
export interface ConfigurationFile {
  /** What YAML or JSON says. */
  readonly content: unknown;
  readonly dialect: Dialect;
  /** How the service is reached that a file of kind Config names; its path may be relative to the settings'. */
  readonly connection: (path: string) => ServiceConnection;
  /** Whom services are shown, by the users of such a file. */
  readonly credentials: (path: string) => CredentialsByService;
}

/** One row of the table of plugins. Whether it runs by default is config/admission-plugins.ts. */
export interface AdmissionPluginKind {
  readonly name: AdmissionPluginName;
  readonly wants: readonly Wanted[];
  /**
   * What it makes of an update follows from what is sent, what is stored and its settings, or it says that it has brought something in
   * (`Attributes.isComplete`). Absent: it may go by what else there is.
   */
  readonly isRepeatable?: boolean;
  /** Its settings as plain data, which crosses threads. Throws ConfigurationError. Absent: it takes none. */
  readonly readConfiguration?: (file: ConfigurationFile) => unknown;
  /** @param configuration what `readConfiguration` answered; undefined where no file has any for it. */
  readonly create: (context: PluginContext, configuration?: unknown) => AdmissionPlugin;
}

/** A plugin with settings: they are of the type that it reads itself. */
export function configurable<C>(
  kind: Pick<AdmissionPluginKind, 'name' | 'wants' | 'isRepeatable'> & {
    readonly readConfiguration: (file: ConfigurationFile) => C;
    readonly create: (context: PluginContext, configuration: C | undefined) => AdmissionPlugin;
  },
): AdmissionPluginKind {
  return { ...kind, create: (context, configuration) => kind.create(context, configuration as C | undefined) };
}

/** What the settings file says, by the plugin's name. */
export type PluginConfigurations = Readonly<Partial<Record<AdmissionPluginName, unknown>>>;
