// NamespaceAutoProvision: a namespace comes with the first object in it. It is created as a request of the server's own would be,
// so that everything is done to it that is done to namespaces.
import { SUPERUSERS, type User } from '../../../../api/authorization/attributes.ts';
import { type Status, StatusError } from '../../../../api/status/status.ts';
import type { Ref } from '../../../../runtime/actor.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import type { AdmissionProtocol } from '../../protocol.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

const SERVER: User = { name: 'system:apiserver', uid: '', groups: [SUPERUSERS], extra: {} };
const ALREADY_THERE = 409;

class NamespaceAutoProvision implements AdmissionPlugin {
  readonly #namespaces: KindView<true>;
  readonly #admission: Ref<AdmissionProtocol>;
  readonly #userAgent: string;

  constructor({ cluster, reader, dialect }: PluginContext) {
    this.#namespaces = cluster.follow('v1/namespaces', () => true);
    this.#admission = reader.context.ref('admission');
    this.#userAgent = dialect.spell('@short-apiserver');
  }

  readonly mutate = (attributes: Attributes): Promise<void> | undefined => {
    const { type, asked } = attributes;
    const isThere = asked.dryRun || !type.namespaced || this.#namespaces.get('', asked.namespace) !== undefined;
    return isThere ? undefined : this.#provide(asked.namespace, attributes);
  };

  /** Throws 403, whatever the namespace was refused for. */
  async #provide(name: string, attributes: Attributes): Promise<void> {
    const { requestNumber, patience } = attributes.asked.reader;
    const { leftMs } = patience;
    const reply = await this.#admission.ask(
      {
        type: 'write',
        verb: 'create',
        target: { group: '', version: 'v1', resource: 'namespaces', subresource: '', namespace: '', name: '' },
        user: SERVER,
        userAgent: this.#userAgent,
        parameters: {},
        contentType: 'application/json',
        payload: Buffer.from(JSON.stringify({ metadata: { name } })),
        leftMs,
        isInside: true,
      },
      { deadlineMs: leftMs, requestNumber },
    );
    if (reply.code < 300 || reply.code === ALREADY_THERE) return;
    // What is refused is answered with a Status.
    if (!('body' in reply)) return;
    const status = reply.body as Status;
    throw status.reason === 'Forbidden' ? new StatusError(status) : forbid(attributes, status.message ?? '');
  }
}

export const namespaceAutoProvision: AdmissionPluginKind = {
  name: 'NamespaceAutoProvision',
  wants: [{ operations: ['create'], resources: ['**'] }],
  create: (context) => new NamespaceAutoProvision(context),
};
