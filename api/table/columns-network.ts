// The columns of services and of what traffic passes through on its way to pods.
import type { JsonObject } from '../json/json-value.ts';
import { listAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { AGE, column, type KindTable, type KindTables, kindTable, NAME, wideColumn } from './column.ts';
import { endpointsText, sliceAddressesText, slicePortsText } from './endpoint-cells.ts';
import { loadBalancerAddresses } from './load-balancer.ts';
import { labelsText, selectorText } from './selector-text.ts';
import { clusterIpText, externalIpText, servicePortsText } from './service-cells.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');

const HOSTS_SHOWN_MAX = 3;

/** The first hosts of an ingress. What follows counts rules, also those without a host. */
function hostsText(ingress: JsonObject): string {
  const rules = partsAt(spec(ingress), 'rules');
  const hosts: string[] = [];
  let more = false;
  for (const rule of rules) {
    const host = textAt(rule, 'host');
    if (hosts.length === HOSTS_SHOWN_MAX) more = true;
    else if (host !== '') hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return more ? `${hosts.join(',')} + ${rules.length - HOSTS_SHOWN_MAX} more...` : hosts.join(',');
}

function parametersText(ingressClass: JsonObject): string {
  const { parameters } = spec(ingressClass);
  if (parameters === undefined || parameters === null) return '<none>';
  const reference = partAt(spec(ingressClass), 'parameters');
  const group = typeof reference.apiGroup === 'string' ? `.${reference.apiGroup}` : '';
  return `${textAt(reference, 'kind')}${group}/${textAt(reference, 'name')}`;
}

const INGRESS: KindTable = kindTable([
  NAME,
  column('Class', 'string', 'The class that says who serves the ingress.', (object) =>
    textAt(spec(object), 'ingressClassName', '<none>'),
  ),
  column('Hosts', 'string', 'The hosts its rules are for; any host where no rule names one.', hostsText),
  column('Address', 'string', 'Where it is reached from outside, once it is.', (object) =>
    loadBalancerAddresses(object).join(','),
  ),
  column('Ports', 'string', 'The ports it listens on: with TLS also that of HTTPS.', (object) =>
    listAt(spec(object), 'tls').length > 0 ? '80, 443' : '80',
  ),
  AGE,
]);

export const NETWORK_TABLES: KindTables = {
  '/Service': kindTable([
    NAME,
    column('Type', 'string', 'How far the service can be reached from.', (object) => textAt(spec(object), 'type')),
    column('Cluster-IP', 'string', 'Its address inside the cluster.', clusterIpText),
    column('External-IP', 'string', 'Its addresses outside the cluster.', externalIpText),
    column('Port(s)', 'string', 'Its ports, with those on the nodes that lead to them.', servicePortsText),
    AGE,
    wideColumn('Selector', 'string', 'Which pods serve it, by their labels.', (object) =>
      labelsText(spec(object).selector),
    ),
  ]),
  '/Endpoints': kindTable([
    NAME,
    column('Endpoints', 'string', 'Addresses and ports that are ready to serve.', endpointsText),
    AGE,
  ]),
  'discovery.@group/EndpointSlice': kindTable([
    NAME,
    column('AddressType', 'string', 'Whether it holds IPv4 or IPv6 addresses or names.', (object) =>
      textAt(object, 'addressType'),
    ),
    column('Ports', 'string', 'The ports of its endpoints.', slicePortsText),
    column('Endpoints', 'string', 'The addresses of its endpoints.', sliceAddressesText),
    AGE,
  ]),
  'extensions/Ingress': INGRESS,
  'networking.@group/Ingress': INGRESS,
  'networking.@group/IngressClass': kindTable([
    NAME,
    column('Controller', 'string', 'The controller that serves ingresses of the class.', (object) =>
      textAt(spec(object), 'controller'),
    ),
    column('Parameters', 'string', 'The object that holds further settings for the controller.', parametersText),
    AGE,
  ]),
  'networking.@group/NetworkPolicy': kindTable([
    NAME,
    column('Pod-Selector', 'string', 'Which pods the policy is for, by their labels.', (object) =>
      selectorText(spec(object).podSelector),
    ),
    AGE,
  ]),
};
