// What the server itself does to certificate signing requests: who asks is written down on create, and each way of updating
// changes its own part only. Pure; the rules of what may be said are in validation/kinds/certificates.ts.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asObject } from '../../json/object-fields.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly lastUpdateTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

/** The request with its creator's identity in place of whatever the body says of it. */
function withRequester(object: JsonObject, { user }: WriteFacts): JsonObject {
  const { name, uid, groups, extra } = user;
  const { username: _, uid: __, groups: ___, extra: ____, ...spec } = asObject(object.spec);
  return {
    ...object,
    spec: {
      ...spec,
      username: name,
      ...(uid === '' ? undefined : { uid }),
      ...(groups.length === 0 ? undefined : { groups }),
      ...(Object.keys(extra).length === 0 ? undefined : { extra }),
    },
  };
}

/** Decided by the approval subresource alone. */
const DECISIONS: ReadonlySet<unknown> = new Set(['Approved', 'Denied']);

/** What an update makes of a request: the spec never changes, approval writes the conditions, status the rest. */
function updated(
  next: JsonObject,
  stored: JsonObject,
  { subresource, nowIso, type: { version } }: WriteFacts,
): JsonObject {
  const { spec: _, ...rest } = next;
  const kept = stored.spec === undefined ? rest : { ...rest, spec: stored.spec };
  if (subresource === '') return kept;
  const before = asObject(stored.status);
  const after = asObject(next.status);
  const conditionsBefore = conditionsOf(before);
  const isSigning = subresource === 'status';
  // v1 refuses who signs and decides as well; before it all that he says of conditions is passed over.
  const isIgnored =
    isSigning && version === 'v1beta1' && !deepEqual(decisionsIn(conditionsOf(after)), decisionsIn(conditionsBefore));
  const turnedAt = new Map(conditionsBefore.toReversed().map((one) => [stateOf(one), one.lastTransitionTime]));
  const given = (isIgnored ? conditionsBefore : conditionsOf(after)).map((condition) => {
    // Who signs passes on the decision as it was made.
    const decided = isSigning && DECISIONS.has(condition.type);
    const made = decided ? conditionsBefore.find(({ type }) => type === condition.type) : undefined;
    return made ?? dated(condition, turnedAt, nowIso);
  });
  const { conditions: __, ...others } = subresource === 'approval' ? before : after;
  return { ...kept, status: given.length === 0 ? others : { ...others, conditions: given } };
}

/** The decisions of a list, in one order. */
function decisionsIn(conditions: readonly Condition[]): readonly string[] {
  return conditions.flatMap(({ type = '' }) => (DECISIONS.has(type) ? [type] : [])).sort();
}

function conditionsOf({ conditions }: JsonObject): readonly Condition[] {
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}

/** The same for conditions of which none has turned into the other. */
function stateOf({ type, status }: Condition): string {
  return JSON.stringify([type, status]);
}

/** A condition with its times; one that has not turned keeps the time at which it did. */
function dated(
  condition: Condition,
  turnedAt: ReadonlyMap<string, Condition['lastTransitionTime']>,
  nowIso: string,
): Condition {
  return {
    ...condition,
    lastUpdateTime: condition.lastUpdateTime || nowIso,
    lastTransitionTime: condition.lastTransitionTime || turnedAt.get(stateOf(condition)) || nowIso,
  };
}

export const certificateSigningRequest: Strategy = { onCreate: withRequester, onUpdate: updated };
