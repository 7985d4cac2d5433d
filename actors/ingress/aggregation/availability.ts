// Tries whether the server that an APIService names can be reached, by the way that requests take: its service, its endpoints, and
// then itself.
import { pathOf, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import {
  endpointsProblem,
  type Finding,
  failedDiscovery,
  hasEndpoints,
  notLookedAt,
  PASSED,
  serviceProblem,
} from '../../../api/aggregation/availability.ts';
import { identityHeaders } from '../../../api/aggregation/identity-headers.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { AgentUnreachable } from '../../../transport/outgoing/agent-address.ts';
import type { Backends } from './backends.ts';
import { CallLimit } from './call-limit.ts';

/** For an answer, with its connection. */
const ANSWER_MS = 6000;
/** Beside the first: one of several endpoints may be down. */
const MORE_TRIES = 4;
const ANSWER_BYTES_MAX = 1024;

/** What is found. Never rejects. */
export async function availabilityOf(
  apiService: RemoteApiService,
  { backends, dialect, timers }: { readonly backends: Backends; readonly dialect: Dialect; readonly timers: Timers },
): Promise<Finding> {
  const found = await objectsProblem(backends, apiService);
  if (found !== undefined) return found;
  const attempt = (): Promise<string> => answerProblem(backends, dialect, timers, apiService);
  const first = await attempt();
  if (first === '') return PASSED;
  const more = await Promise.all(Array.from({ length: MORE_TRIES }, attempt));
  return more.includes('') ? PASSED : failedDiscovery(more.at(-1)!);
}

async function objectsProblem(backends: Backends, { backend }: RemoteApiService): Promise<Finding | undefined> {
  const { namespace, service: name } = backend;
  let service: JsonObject | undefined;
  try {
    service = await backends.find('core/services', namespace, name);
  } catch (error) {
    return notLookedAt(backend, 'Service', (error as Error).message);
  }
  const problem = serviceProblem(backend, service);
  if (problem !== undefined || service === undefined || !hasEndpoints(service)) return problem;
  try {
    return endpointsProblem(backend, service, await backends.find('core/endpoints', namespace, name));
  } catch (error) {
    return notLookedAt(backend, 'Endpoints', (error as Error).message);
  }
}

/** Why it does not answer as it must; empty where it does. */
async function answerProblem(
  backends: Backends,
  dialect: Dialect,
  timers: Timers,
  apiService: RemoteApiService,
): Promise<string> {
  const path = pathOf(apiService);
  const groups = ['system:masters'];
  const user = { name: dialect.spell('system:@short-aggregator'), uid: '', groups, extra: {} };
  let url = path;
  const limit = new CallLimit(timers, ANSWER_MS);
  try {
    const { client, target } = await backends.of(apiService);
    url = `https://${target.host}:${target.port}${path}`;
    const headers = [['accept', 'application/json'] as const, ...(identityHeaders(user) ?? [])];
    const answer = await client.send(target, { method: 'GET', path, headers, body: undefined }, limit.onSent);
    await answer.text(ANSWER_BYTES_MAX).catch(() => '');
    if (answer.status >= 200 && answer.status < 300) return '';
    return `failing or missing response from ${url}: bad status from ${url}: ${answer.status}`;
  } catch (error) {
    if (limit.isLate) return `timed out waiting for ${url}`;
    const { message } = error as Error;
    const why = error instanceof AgentUnreachable ? `Get ${JSON.stringify(url)}: ${message}` : message;
    return `failing or missing response from ${url}: ${why}`;
  } finally {
    limit.end();
  }
}
