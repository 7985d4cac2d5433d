// ComponentStatus: the health of the parts of the control plane, asked of them when a client asks. Deprecated, and served
// because some clients still look.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { askedOptions, checkMatchOfList } from '../../../api/list-options.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { compileFieldSelector } from '../../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import { notFound } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext, ActorName } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { sendValue } from '../reads/answers.ts';
import type { Representation } from '../reads/representation.ts';

/** Empty when a part is well, else what is wrong. */
type Check = () => Promise<string>;

export class ComponentStatuses {
  /** By name, in order. */
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #metaGroup: string;

  constructor(context: ActorContext, { storeComponent, metaGroup }: Dialect, deadlineMs: number) {
    this.#metaGroup = metaGroup;
    const placed = (actor: ActorName): boolean => context.refs(actor).length > 0;
    const limit = { deadlineMs };
    this.#checks = new Map<string, Check>([
      [
        'controller-manager',
        async () => {
          if (!placed('controllers')) return NOT_PLACED;
          const { isManaging } = await context.ref('controllers').ask({ type: 'hooks' }, limit);
          return isManaging ? '' : 'no controller runs in this server';
        },
      ],
      [
        'scheduler',
        async () => {
          if (!placed('scheduler')) return NOT_PLACED;
          const { following } = await context.ref('scheduler').ask({ type: 'status' }, limit);
          return following ? '' : 'it does not follow the store';
        },
      ],
      [
        storeComponent,
        async () => {
          const { healthy, reason } = await context.ref('store').ask({ type: 'health' }, limit);
          return healthy ? '' : reason;
        },
      ],
    ]);
  }

  async serve(
    exchange: Exchange,
    { verb, name }: ResourceRequestInfo,
    type: KnownType,
    representation: Representation,
  ): Promise<void> {
    if (verb === 'get') {
      const check = this.#checks.get(name);
      if (check === undefined) throw new StatusError(notFound(type, name));
      const object = { ...TYPE_META, ...(await statusOf(name, check)) };
      sendValue(exchange, 200, representation.renderer.object(object), representation);
      return;
    }
    const items = (await this.#selected(exchange, type)).map((item) => ({ ...TYPE_META, ...item }));
    const { rendering, renderer } = representation;
    const list =
      rendering.shape === undefined
        ? {
            kind: type.listKind,
            apiVersion: type.apiVersion,
            metadata: {},
            items: items.map(({ kind: _, apiVersion: __, ...item }) => item),
          }
        : renderer.shapedList(items, {});
    sendValue(exchange, 200, list, representation);
  }

  /** They have no versions, and are not paged: what asks for that is only checked, as of any list. Throws 400 and 422. */
  async #selected({ query }: Exchange, type: KnownType): Promise<JsonObject[]> {
    const { labelSelector } = askedOptions(type, query, this.#metaGroup, checkMatchOfList);
    const labels = parseLabelSelector(labelSelector);
    const fields = compileFieldSelector(query.get('fieldSelector') ?? '', type.selectableFields);
    const all = await Promise.all([...this.#checks].map(([name, check]) => statusOf(name, check)));
    return all.filter((item) => labels.matches({}) && fields.matches([metadataOf(item).name ?? '', '']));
  }
}

const TYPE_META = { kind: 'ComponentStatus', apiVersion: 'v1' } as const;
const NOT_PLACED = 'it is not part of this server';

async function statusOf(name: string, check: Check): Promise<JsonObject> {
  const problem = await check().catch((error: unknown) =>
    isOrchError(error) ? `it does not answer: ${error.code}` : String(error),
  );
  const condition =
    problem === ''
      ? { type: 'Healthy', status: 'True', message: 'ok' }
      : { type: 'Healthy', status: 'False', message: problem };
  return { metadata: { name, creationTimestamp: null }, conditions: [condition] };
}
