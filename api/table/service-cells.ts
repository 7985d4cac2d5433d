// What is shown of a service: how it is reached from inside and outside, and through which ports.
import type { JsonObject } from '../json/json-value.ts';
import { numberAt, partAt, partsAt, textAt, textsAt } from '../json/object-fields.ts';
import { loadBalancerAddresses } from './load-balancer.ts';

const NONE = '<none>';

/** The first cluster address, `None` for a headless service, `<none>` where there is none. */
export function clusterIpText(service: JsonObject): string {
  const spec = partAt(service, 'spec');
  return textsAt(spec, 'clusterIPs')[0] ?? textAt(spec, 'clusterIP', NONE);
}

/** Addresses outside the cluster; `<pending>` while a load balancer has none yet. */
export function externalIpText(service: JsonObject): string {
  const spec = partAt(service, 'spec');
  const externalIps = textsAt(spec, 'externalIPs');
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIps.length === 0 ? NONE : externalIps.join(',');
    case 'LoadBalancer':
      return [...loadBalancerAddresses(service), ...externalIps].join(',') || '<pending>';
    case 'ExternalName':
      return textAt(spec, 'externalName');
    default:
      return '<unknown>';
  }
}

/** `80/TCP,443:30443/TCP`: each port, with the port on the nodes behind it where there is one. */
export function servicePortsText(service: JsonObject): string {
  const ports = partsAt(partAt(service, 'spec'), 'ports');
  if (ports.length === 0) return NONE;
  return ports.map(portText).join(',');
}

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, 'nodePort');
  const onNodes = nodePort > 0 ? `:${nodePort}` : '';
  return `${numberAt(port, 'port')}${onNodes}/${textAt(port, 'protocol')}`;
}
