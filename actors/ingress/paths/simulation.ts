// What the scheduler would say about a pod that is not made: POST SIMULATION_PATH with a manifest. Whoever asks must be let to the
// path, and to create the pod: admission makes it in a dry run, as for any client, and the scheduler is asked about what came of it.
import { SUPERUSERS } from '../../../api/authorization/attributes.ts';
import { forbiddenAccess } from '../../../api/authorization/forbidden-access.ts';
import { type SimulatedPod, simulatedPod } from '../../../api/pods/simulated-pod.ts';
import { badRequest, failure, methodNotAllowed, serviceUnavailable, tooLarge } from '../../../api/status/failures.ts';
import { type Status, StatusError } from '../../../api/status/status.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { BodyError, decodeBody } from '../../../transport/body.ts';
import { parseMediaType } from '../../../transport/media-type.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { FilterFailed } from '../exchange/filter-failed.ts';
import { headersFor, JSON_TYPE } from '../reads/answers.ts';

export const SIMULATION_PATH = '/schedule:simulate';

const PODS = { group: '', version: 'v1', resource: 'pods', subresource: '', name: '' } as const;
const NODES_SHOWN = 100;
const NODES_SHOWN_MAX = 5_000;

export interface SimulationParts {
  readonly context: Pick<ActorContext, 'ref' | 'refs'>;
  readonly timeoutMs: number;
}

/** Answers with a WhatIf of the scheduler, as JSON. Throws StatusError, and OrchError Overloaded. */
export async function sendSimulation(exchange: Exchange, { context, timeoutMs }: SimulationParts): Promise<void> {
  if (exchange.request.method !== 'POST') throw new StatusError(methodNotAllowed());
  if (context.refs('scheduler').length === 0)
    throw new StatusError(serviceUnavailable('no scheduler runs in this server'));
  const nodesMax = shownIn(exchange);
  const asked = await podIn(exchange);
  const limits = { deadlineMs: timeoutMs, requestNumber: exchange.requestNumber };
  await requireCreate(exchange, asked.namespace, context, limits);
  const pod = await admitted(exchange, asked, context, limits);
  const reply = await context.ref('scheduler').ask<'whatIf'>({ type: 'whatIf', pod, nodesMax }, limits);
  if (reply.refused === 'behind')
    throw new StatusError(serviceUnavailable('the scheduler does not know the cluster yet'));
  if (reply.refused !== undefined)
    throw new StatusError(badRequest("no profile of this scheduler has the pod's spec.schedulerName"));
  exchange.answer(200, headersFor(JSON_TYPE), `${JSON.stringify(reply.answer)}\n`);
}

/** `limit`: nodes in the answer. */
function shownIn({ query }: Exchange): number {
  const text = query.get('limit') ?? String(NODES_SHOWN);
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > NODES_SHOWN_MAX)
    throw new StatusError(
      badRequest(`limit: a whole number from 1 to ${NODES_SHOWN_MAX}, not ${JSON.stringify(text)}`),
    );
  return limit;
}

async function podIn(exchange: Exchange): Promise<SimulatedPod> {
  const payload = exchange.body === undefined ? undefined : await exchange.body;
  if (payload === null) throw new StatusError(tooLarge());
  const type = parseMediaType(exchange.request.header('content-type')).type;
  const asked = payload === undefined ? undefined : simulatedPod(decoded(payload, type));
  if (asked === undefined) throw new StatusError(badRequest('the body must be an object of kind Pod'));
  return asked;
}

function decoded(payload: Uint8Array, type: string): unknown {
  try {
    return decodeBody(payload, type);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw new StatusError(
      error.code === 415 ? failure(415, 'UnsupportedMediaType', error.message) : badRequest(error.message),
    );
  }
}

type Context = SimulationParts['context'];
type Limits = { readonly deadlineMs: number; readonly requestNumber: number };

/** Nothing is said to whom the namespace is closed: the answer tells what there is and what admission thinks. */
async function requireCreate({ user }: Exchange, namespace: string, context: Context, limits: Limits): Promise<void> {
  if (user.groups.includes(SUPERUSERS)) return;
  const access = { ...PODS, verb: 'create', isResource: true, namespace, path: '' };
  const asked = { type: 'authorize', user, access } as const;
  const { allowed, reason, error } = await context.ref('auth').ask<'authorize'>(asked, limits);
  if (allowed) return;
  if (error !== undefined) throw new FilterFailed(error);
  throw new StatusError(forbiddenAccess(user.name, access, reason));
}

/** As the server would make it, which it does not. */
async function admitted(
  { user, request }: Exchange,
  { namespace, manifest }: SimulatedPod,
  context: Context,
  limits: Limits,
): Promise<Record<string, unknown>> {
  const reply = await context.ref('admission').ask<'write'>(
    {
      type: 'write',
      verb: 'create',
      target: { ...PODS, namespace },
      user,
      userAgent: request.header('user-agent'),
      parameters: { dryRun: ['All'] },
      contentType: JSON_TYPE,
      payload: Buffer.from(JSON.stringify(manifest)),
    },
    limits,
  );
  if (!('body' in reply)) throw new Error('a dry run has stored a pod');
  if (reply.code >= 300) throw new StatusError(reply.body as Status);
  return reply.body as Record<string, unknown>;
}
