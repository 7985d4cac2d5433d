// What an admission plugin is: a row that says when it is asked, and the two calls by which it is.
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { AdmissionPluginName } from '../../../config/admission-plugins.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Operation, PluginCall } from '../attributes.ts';
import type { StoreReader } from '../store-reader.ts';

/** What plugins work with. They read the cluster from the hub of their thread. */
export interface PluginContext {
  readonly reader: StoreReader;
  readonly registry: Registry;
  readonly dialect: Dialect;
  /** Whether a user may, and why not. Rejects when the auth actor does not answer. */
  readonly authorize: (user: User, access: AccessAttributes) => Promise<Authorization>;
}

export interface Authorization {
  readonly allowed: boolean;
  readonly reason: string;
}

/** A plugin at work, one on each admission actor. Either call may be left out. */
export interface AdmissionPlugin {
  /** May replace the object (`attributes.object`), guard the commit, or refuse. Runs before the object is validated. */
  readonly mutate?: PluginCall;
  /** May guard the commit, add to it, or refuse. Runs on the object as it will be stored. */
  readonly validate?: PluginCall;
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

/** One row of the table of plugins. Whether it runs by default is config/admission-plugins.ts. */
export interface AdmissionPluginKind {
  readonly name: AdmissionPluginName;
  readonly wants: readonly Wanted[];
  readonly create: (context: PluginContext) => AdmissionPlugin;
}
