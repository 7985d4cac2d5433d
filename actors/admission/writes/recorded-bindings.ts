// The scheduler's bindings where requests are recorded: each is one, though they are carried out together.
import type { User } from '../../../api/authorization/attributes.ts';
import { isStatusError, type Status } from '../../../api/status/status.ts';
import { created } from '../../../api/status/successes.ts';
import type { InsideAudit, WriteRecord } from '../inside-audit.ts';
import type { Binding, BindingOutcome, BindRequest, WriteReply } from '../protocol.ts';
import type { WriteContext } from '../write-context.ts';
import { BINDING_TARGET, bind, bindingStatus, bodyOfBinding } from './bind.ts';

/** As `bind`. A binding whose first event is not where it must be is not carried out. */
export async function bindRecorded(
  write: WriteContext,
  { bindings, user, userAgent }: BindRequest,
  audit: InsideAudit,
): Promise<BindingOutcome[]> {
  const records = bindings.map((binding) => begun(audit, binding, user, userAgent));
  const refusals = await Promise.all(records.map(refusalOf));
  const places = bindings.map((_, at) => at).filter((at) => refusals[at] === undefined);
  const admitted = await bind(
    write,
    places.map((at) => bindings[at]!),
    user,
  ).catch(async (error: unknown) => {
    await Promise.all(places.map((at) => records[at]?.failed(error)));
    throw error;
  });
  const outcomes = refusals.map((status) => refusedWith(status));
  await Promise.all(
    places.map((at, index) => {
      const outcome = admitted[index]!;
      outcomes[at] = outcome;
      // Each has attributes of its own, in this order.
      const auditAnnotations = write.auditAnnotations[index]?.all ?? [];
      return records[at]?.answered({ ...answerOf(write, bindings[at]!, outcome), auditAnnotations });
    }),
  );
  return outcomes;
}

function begun(audit: InsideAudit, binding: Binding, user: User, userAgent: string): WriteRecord | undefined {
  return audit.begin({
    verb: 'create',
    target: { ...BINDING_TARGET, namespace: binding.namespace, name: binding.name },
    user,
    userAgent,
    parameters: {},
    contentType: 'application/json',
    payload: Buffer.from(JSON.stringify(bodyOfBinding(binding))),
  });
}

/** Undefined: it may go on. Rejects where nobody knows of the event. */
async function refusalOf(record: WriteRecord | undefined): Promise<Status | undefined> {
  try {
    await record?.received();
    return undefined;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.status;
  }
}

function refusedWith(status: Status | undefined): BindingOutcome {
  return { bound: false, reason: 'failed', message: status?.message ?? '' };
}

/** What a client would be answered. */
function answerOf(write: WriteContext, binding: Binding, outcome: BindingOutcome): WriteReply {
  if (outcome.bound) return { code: 201, body: created() };
  const body = outcome.status ?? bindingStatus(write, binding, outcome);
  return { code: body.code ?? 500, body };
}
