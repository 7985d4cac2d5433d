// Whether the server that an APIService names can be reached, as its condition Available says. What is found by looking at the
// objects is decided here; whether the server answers, by who calls it. Pure.
import type { JsonObject } from '../json/json-value.ts';
import { listAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { AVAILABLE, type ServicePort } from './api-service.ts';

/** What the condition is to say. Plain data. */
export interface Finding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const LOCAL: Finding = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
export const PASSED: Finding = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/** Its server did not answer as it must. */
export function failedDiscovery(message: string): Finding {
  return { status: 'False', reason: 'FailedDiscoveryCheck', message };
}

/** It could not be looked at. `what`: which of its objects. */
export function notLookedAt({ service, namespace }: ServicePort, what: 'Service' | 'Endpoints', why: string): Finding {
  const message = `service/${service} in "${namespace}" cannot be checked due to: ${why}`;
  return { status: 'Unknown', reason: `${what}AccessError`, message };
}

/** What stands in the way as far as its service shows; undefined: nothing. `service` undefined: there is none. */
export function serviceProblem(backend: ServicePort, service: JsonObject | undefined): Finding | undefined {
  const { namespace, service: name, port } = backend;
  if (service === undefined) return lacking('ServiceNotFound', `service/${name} in "${namespace}" is not present`);
  if (!hasEndpoints(service) || portOf(service, port) !== undefined) return undefined;
  return lacking('ServicePortError', `service/${name} in "${namespace}" is not listening on port ${port}`);
}

/** Whether the addresses of a service are a matter of this cluster. */
export function hasEndpoints(service: JsonObject): boolean {
  return textAt(partAt(service, 'spec'), 'type', 'ClusterIP') === 'ClusterIP';
}

/** The same of its endpoints. */
export function endpointsProblem(
  backend: ServicePort,
  service: JsonObject,
  endpoints: JsonObject | undefined,
): Finding | undefined {
  const { namespace, service: name, port } = backend;
  if (endpoints === undefined)
    return lacking('EndpointsNotFound', `cannot find endpoints for service/${name} in "${namespace}"`);
  const portName = textAt(portOf(service, port) ?? {}, 'name');
  const isReady = partsAt(endpoints, 'subsets').some(
    (subset) =>
      listAt(subset, 'addresses').length > 0 &&
      partsAt(subset, 'ports').some((one) => textAt(one, 'name') === portName),
  );
  if (isReady) return undefined;
  const message = `endpoints for service/${name} in "${namespace}" have no addresses with port name "${portName}"`;
  return lacking('MissingEndpoints', message);
}

/** The status with the finding in its condition; the same object where that says so already. */
export function statusWith(status: JsonObject, finding: Finding, nowIso: string): JsonObject {
  const conditions = partsAt(status, 'conditions');
  const present = conditions.find(({ type }) => type === AVAILABLE);
  if (
    present?.status === finding.status &&
    present.reason === finding.reason &&
    textAt(present, 'message') === finding.message
  )
    return status;
  const lastTransitionTime = present?.status === finding.status ? present.lastTransitionTime : nowIso;
  const condition = {
    type: AVAILABLE,
    status: finding.status,
    lastTransitionTime,
    reason: finding.reason,
    message: finding.message,
  };
  const kept = conditions.map((one) => (one === present ? condition : one));
  return { ...status, conditions: present === undefined ? [...kept, condition] : kept };
}

function lacking(reason: string, message: string): Finding {
  return { status: 'False', reason, message };
}

function portOf(service: JsonObject, port: number): JsonObject | undefined {
  return partsAt(partAt(service, 'spec'), 'ports').find((one) => one.port === port);
}
