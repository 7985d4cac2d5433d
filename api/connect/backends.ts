// Where the objects that can be connected to are: a node's agent, a pod's port, one of a service's endpoints. Pure; the
// random choice among endpoints is handed in.

import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { metadataOf } from '../metadata/object-meta.ts';
import { badRequest, quote, serviceUnavailable, unnamedError } from '../status/failures.ts';
import { type Status, StatusError } from '../status/status.ts';
import { isPortNumber, type ProxiedName } from './proxied-name.ts';
import { addressProblem } from './proxyable-address.ts';

export interface Backend {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

interface NodeAddress {
  readonly type?: string;
  readonly address?: string;
}

/** How node agents are reached, as the operator set it. */
export interface AgentReach {
  /** `--orchlet-preferred-address-types`. */
  readonly addressTypes: readonly string[];
  /** For nodes that do not report theirs. */
  readonly port: number;
  /** `--orchlet-permit-loopback`. */
  readonly permitsLoopback: boolean;
}

/**
 * The agent of a node. A host that is a name is still to be checked when it is resolved. Throws StatusError: 500 for a node
 * without an address of the wanted types, 400 for an address that is not connected to.
 */
export function agentOf(node: JsonObject, { addressTypes, port, permitsLoopback }: AgentReach): Backend {
  const status = asObject(node.status) as {
    readonly addresses?: readonly NodeAddress[];
    readonly daemonEndpoints?: Readonly<Record<string, { readonly Port?: number } | undefined>>;
  };
  const addresses = status.addresses ?? [];
  const { name = '' } = metadataOf(node);
  for (const type of addressTypes) {
    const host = addresses.find((address) => address.type === type)?.address;
    // The one endpoint is the agent's, whatever the dialect calls it.
    const [endpoint] = Object.values(status.daemonEndpoints ?? {});
    if (!host) continue;
    const problem = isIpText(host) ? addressProblem(host, permitsLoopback) : undefined;
    if (problem !== undefined)
      throw new StatusError(badRequest(`the agent of node ${name} cannot be reached: ${problem}`));
    return { scheme: 'https', host, port: endpoint?.Port || port };
  }
  const known = addresses.map(({ type = '', address = '' }) => `${type} ${address}`).join(', ');
  throw new StatusError(unnamedError(`node ${name} has no address to reach its agent at; it has: ${known || 'none'}`));
}

/** True for what is connected to without being resolved, and for what only looks like it. */
export function isIpText(host: string): boolean {
  return /^[\d.]+$|:/.test(host);
}

interface PodFields {
  readonly spec?: {
    readonly containers?: readonly { readonly ports?: readonly { readonly containerPort?: number }[] }[];
  };
  readonly status?: { readonly podIP?: string; readonly podIPs?: readonly { readonly ip?: string }[] };
}

/** The port of a pod that a proxy request names. Throws StatusError 400 for an address that is not connected to. */
export function podBackend(pod: JsonObject, { scheme, port }: ProxiedName): Backend {
  const { spec, status } = pod as PodFields;
  const [firstPort] = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports);
  const host = status?.podIP ?? '';
  const problem = addressProblem(host);
  if (problem !== undefined) throw new StatusError(badRequest(`the pod cannot be reached: ${problem}`));
  if (port !== '' && !isPortNumber(port)) throw new StatusError(badRequest(`port ${port} of a pod must be a number`));
  const number = port === '' ? (firstPort?.containerPort ?? 0) : Number(port);
  return { scheme: scheme || 'http', host, port: number || DEFAULT_PORTS[scheme || 'http'] };
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

interface ServiceFields {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port?: number }[] };
}

interface EndpointAddress {
  readonly ip?: string;
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
}

interface EndpointsFields {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[];
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
  }[];
}

/** One address of a service, with the pod that must have it. */
export interface Candidate {
  readonly backend: Backend;
  readonly podName: string;
}

/**
 * The addresses that a proxy request to a service may go to, in an order that `random` (numbers in [0, 1)) begins. Only
 * those that stand for a pod of the namespace: others could be anything. `service` is there where the name has a number for
 * its port. Throws StatusError 503.
 */
export function serviceCandidates(
  service: JsonObject | undefined,
  endpoints: JsonObject,
  { scheme, name, port }: ProxiedName,
  random: () => number,
): readonly Candidate[] {
  const portName = service === undefined ? port : portNameOf(service, name, port);
  const { namespace = '' } = metadataOf(endpoints);
  const candidates: Candidate[] = [];
  for (const { addresses = [], ports = [] } of (endpoints as EndpointsFields).subsets ?? []) {
    const number = ports.find((one) => (one.name ?? '') === portName)?.port;
    if (number === undefined) continue;
    for (const { ip = '', targetRef } of addresses) {
      const isOwnPod = targetRef?.kind === 'Pod' && targetRef.namespace === namespace;
      if (!isOwnPod || addressProblem(ip) !== undefined) continue;
      candidates.push({ backend: { scheme: scheme || 'http', host: ip, port: number }, podName: targetRef.name ?? '' });
    }
  }
  const first = Math.floor(random() * candidates.length);
  return [...candidates.slice(first), ...candidates.slice(0, first)];
}

/** Endpoints know ports by name; a number is one of the service's own. */
function portNameOf(service: JsonObject, name: string, port: string): string {
  const ports = (service as ServiceFields).spec?.ports ?? [];
  const found = ports.find((one) => one.port === Number(port));
  if (found !== undefined) return found.name ?? '';
  throw new StatusError(serviceUnavailable(`no service port ${port} found for service ${quote(name)}`));
}

/** 503 for a service that none of its endpoints stands for. `asked`: the name as the request has it. */
export function noEndpoints(endpoints: JsonObject, { name }: ProxiedName, asked: string): Status {
  const { subsets = [] } = endpoints as EndpointsFields;
  return serviceUnavailable(`no endpoints available for service ${quote(subsets.length === 0 ? name : asked)}`);
}

/** True when the pod still has the address: endpoints may be behind, or written by anyone. */
export function hasAddress(pod: JsonObject, address: string): boolean {
  const { podIP, podIPs = [] } = (pod as PodFields).status ?? {};
  return podIP === address || podIPs.some(({ ip }) => ip === address);
}
