// The last step of the pipeline: who answers a request. Reads and watches go to the hub, writes to admission, what leads out of the server
// to its node agents and extension servers, the rest to the table of paths. Owns nothing that lasts; asks for a type once whether its
// definition was committed before this thread has heard of it.
import type { RemoteApiService } from '../../api/aggregation/api-service.ts';
import type { ResourceRequestInfo } from '../../api/requests/request-info.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { StatusError } from '../../api/status/status.ts';
import { isWriteVerb } from '../../api/verbs.ts';
import type { Ref } from '../../runtime/actor.ts';
import type { Soon } from '../../runtime/soon.ts';
import type { HubProtocol } from '../hub/protocol.ts';
import { servedType } from '../served-type.ts';
import { remoteAt } from './aggregation/remote-paths.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { IngressOptions } from './options.ts';
import type { ComponentStatuses } from './paths/component-status.ts';
import { answerNothingThere } from './paths/nothing-there.ts';
import type { Paths } from './paths/paths.ts';
import { refusalOfPath } from './paths/served-paths.ts';
import type { Deprecations } from './pipeline/deprecations.ts';
import type { AnswerForms } from './reads/answer-forms.ts';
import type { Lists } from './reads/lists.ts';
import type { Reads } from './reads/reads.ts';
import type { Watches } from './watch/watches.ts';
import type { WayOut } from './way-out.ts';
import type { Writes } from './writes.ts';

/** Subresources that lead out of the server. */
const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

export interface DispatchParts {
  readonly options: Pick<IngressOptions, 'registry' | 'remotes' | 'requestTimeoutMs'>;
  readonly hub: Ref<HubProtocol>;
  readonly forms: AnswerForms;
  readonly reads: Reads;
  readonly lists: Lists;
  readonly writes: Writes;
  readonly watches: Watches;
  readonly components: ComponentStatuses;
  readonly deprecations: Deprecations;
  readonly paths: Paths;
  readonly out: WayOut;
}

export class Dispatch {
  readonly #parts: DispatchParts;
  readonly #options: DispatchParts['options'];

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#options = parts.options;
  }

  /** Has a request answered. Throws, or rejects with, what refuses it. */
  serve(exchange: Exchange): Soon<void> {
    const { info } = exchange;
    const remote = remoteAt(this.#options.remotes, info);
    if (remote !== undefined) return this.#passOn(exchange, remote);
    if (!info.isResource) return this.#parts.paths.serve(exchange, info);
    const type = this.#options.registry.byPath(info.group, info.version, info.resource);
    return type === undefined ? this.#serveUnknown(exchange, info) : this.#serveType(exchange, info, type);
  }

  async #serveUnknown(exchange: Exchange, info: ResourceRequestInfo): Promise<void> {
    const type = await this.#typeUnknownSoFar(exchange, info);
    if (type !== undefined) return this.#serveType(exchange, info, type);
    const { registry, remotes } = this.#options;
    const remote = remoteAt(remotes, info);
    if (remote === undefined) return answerNothingThere(exchange, registry, info.group, info.version);
    return this.#passOn(exchange, remote);
  }

  #serveType(exchange: Exchange, info: ResourceRequestInfo, type: KnownType): Soon<void> {
    const refusal = refusalOfPath(type, info, exchange.request.method);
    const { verb, subresource } = info;
    const { deprecations, out, forms, writes, components, reads, lists, watches } = this.#parts;
    deprecations.signal(exchange, type, subresource, refusal === undefined);
    if (refusal !== undefined) {
      exchange.audit?.refused();
      throw new StatusError(refusal);
    }
    if (subresource !== '' && CONNECT_SUBRESOURCES.has(subresource)) return out.serve(exchange, info, type);
    const form = forms.of(exchange, type);
    if (isWriteVerb(verb)) return writes.serve(exchange, info, verb, form);
    if (!type.persisted) return components.serve(exchange, info, type, form.representation);
    if (verb === 'get') return reads.get(exchange, info, form);
    if (verb === 'list') return lists.list(exchange, info, form);
    return watches.serve(exchange, info, form);
  }

  async #passOn(exchange: Exchange, remote: RemoteApiService): Promise<void> {
    return (await this.#parts.out.aggregation()).serve(exchange, remote);
  }

  /** Its definition may have been committed before this thread has heard of it. */
  #typeUnknownSoFar({ requestNumber }: Exchange, info: ResourceRequestInfo): Promise<KnownType | undefined> {
    const { registry, requestTimeoutMs } = this.#options;
    return servedType({ registry, requestTimeoutMs, hub: this.#parts.hub, requestNumber }, info);
  }
}
