// Rules of where services lead to: endpoints and endpoint slices.
import { parseIp } from '../../../values/ip.ts';
import { fqdnProblems, nonSpecialIpProblems } from '../field-formats.ts';
import { textProblems } from '../formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import { labels } from './labels.ts';

interface Subset {
  readonly addresses?: readonly object[];
  readonly notReadyAddresses?: readonly object[];
  readonly ports?: readonly { readonly name?: string }[];
}

const subset: Rule<Subset> = ({ addresses = [], notReadyAddresses = [], ports = [] }, at) => {
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    at.required('', 'must specify `addresses` or `notReadyAddresses`');
  }
  if (ports.length < 2) return;
  for (const [index, { name = '' }] of ports.entries()) if (name === '') at.required(`ports[${index}].name`);
};

interface Slice {
  readonly addressType?: string;
  readonly endpoints?: readonly { readonly addresses?: readonly string[] | null }[] | null;
  readonly ports?: readonly { readonly name?: string | null }[] | null;
}

const ADDRESSES_MAX = 100;

const ENDPOINTS_MAX = 1000;
const PORTS_MAX = 20_000;

const sliceAddresses: Rule<Slice> = ({ addressType = '', endpoints: list }, at) => {
  const endpoints = list ?? [];
  if (endpoints.length > ENDPOINTS_MAX) return;
  for (let i = 0; i < endpoints.length; i++) {
    const addresses = endpoints[i]!.addresses ?? [];
    if (addresses.length === 0) at.required(`endpoints[${i}].addresses`, 'must contain at least 1 address');
    else if (addresses.length > ADDRESSES_MAX) {
      at.tooMany(`endpoints[${i}].addresses`, addresses.length, ADDRESSES_MAX);
    }
    for (let j = 0; j < Math.min(addresses.length, ADDRESSES_MAX); j++) {
      checkAddress(addresses[j]!, addressType, i, j, at);
    }
  }
};

function checkAddress(address: string, addressType: string, endpoint: number, index: number, at: Report): void {
  if (addressType === 'FQDN') {
    const problems = fqdnProblems(address);
    if (problems.length > 0) at.problems(`endpoints[${endpoint}].addresses[${index}]`, address, problems);
    return;
  }
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return;
  const family = parseIp(address)?.family;
  if (family === undefined || `IPv${family}` !== addressType) {
    at.invalid(`endpoints[${endpoint}].addresses[${index}]`, address, `must be a valid ${addressType} address`);
    return;
  }
  const problems = nonSpecialIpProblems(address);
  if (problems.length > 0) at.problems(`endpoints[${endpoint}].addresses[${index}]`, address, problems);
}

/** Ports without a name are as alike as those with the same one. */
const slicePorts: Rule<Slice> = ({ ports: list }, at) => {
  const ports = list ?? [];
  if (ports.length > PORTS_MAX) return;
  eachRepeated(
    ports,
    ({ name }) => `=${name ?? ''}`,
    (_key, index, report) => report.duplicate(`ports[${index}].name`, ports[index]!.name ?? ''),
    at,
  );
  for (const [index, { name }] of ports.entries()) {
    if ((name ?? '') !== '') at.problems(`ports[${index}].name`, name, textProblems('dns1123Label', name!));
  }
};

const TOPOLOGY_LABELS_MAX = 16;

const topologyLabels: Rule<Readonly<Record<string, string>>> = (map, at) => {
  const count = Object.keys(map).length;
  if (count > TOPOLOGY_LABELS_MAX) at.tooMany('', count, TOPOLOGY_LABELS_MAX);
  labels(map, at);
};

/** More than the schema knows: it counts the two families among the address families. */
const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

const HOST = { hostname: { format: 'dns1123Label' }, nodeName: { format: 'dns1123Subdomain' } } as const;
const HINTS = { forZones: { itemsMax: 8, unique: 'name' } } as const;

export const endpointTypes: RuleTable = {
  'core/v1.EndpointSubset': { rules: [subset] },
  'core/v1.EndpointAddress': {
    fields: { ip: { required: true, reason: 'invalid', format: 'nonSpecialIp' }, ...HOST },
  },
  'core/v1.EndpointPort': {
    fields: {
      name: { format: 'dns1123Label' },
      port: { format: 'portNumber' },
      protocol: { required: true, enum: true },
      appProtocol: { format: 'qualifiedName' },
    },
  },
  'discovery.EndpointSlice': {
    fields: {
      addressType: { required: true, enum: ADDRESS_TYPES },
      endpoints: { itemsMax: ENDPOINTS_MAX },
      ports: { itemsMax: PORTS_MAX },
    },
    rules: [sliceAddresses, slicePorts],
  },
  'discovery/v1.Endpoint': { fields: { ...HOST, deprecatedTopology: { rules: [topologyLabels] } } },
  'discovery/v1beta1.Endpoint': { fields: { ...HOST, topology: { rules: [topologyLabels] } } },
  'discovery.EndpointHints': { fields: HINTS },
  'discovery.ForZone': { fields: { name: { format: 'labelValue' } } },
  'discovery.EndpointPort': {
    fields: { protocol: { required: true, enum: true }, appProtocol: { format: 'qualifiedName' } },
  },
};

export const endpointUpdates: ChangeTable = {
  'discovery.EndpointSlice': { fields: { addressType: { immutable: true } } },
};
