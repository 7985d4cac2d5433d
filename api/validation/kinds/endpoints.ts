// Rules of where services lead to: endpoints and endpoint slices.
import { parseIp } from '../../../values/ip.ts';
import { textProblems } from '../../metadata/formats.ts';
import { fqdnProblems, nonSpecialIpProblems } from '../field-formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import { labels } from './labels.ts';

interface Subset {
  readonly addresses?: readonly object[];
  readonly notReadyAddresses?: readonly object[];
  readonly ports?: readonly { readonly name?: string }[];
}

const subset: Rule<Subset> = ({ addresses = [], notReadyAddresses = [] }, at) => {
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    at.required('', 'must specify `addresses` or `notReadyAddresses`');
  }
};

/** With more than one port each has a name. */
const portIsNamed: Rule<{ readonly name?: string }> = ({ name = '' }, at) => {
  if (name === '' && at.list.length > 1) at.required('name');
};

const reachable: Rule<{ readonly ip?: string }> = ({ ip = '' }, at) => at.problems('ip', ip, nonSpecialIpProblems(ip));

interface Slice {
  readonly addressType?: string;
}

const ADDRESSES_MAX = 100;

const ENDPOINTS_MAX = 1000;
const PORTS_MAX = 20_000;

const addresses: Rule<{ readonly addresses?: readonly string[] | null }> = ({ addresses: list }, at) => {
  const { addressType = '' } = at.root as Slice;
  const texts = list ?? [];
  if (texts.length === 0) at.required('addresses', 'must contain at least 1 address');
  else if (texts.length > ADDRESSES_MAX) at.tooMany('addresses', texts.length, ADDRESSES_MAX);
  for (let i = 0; i < Math.min(texts.length, ADDRESSES_MAX); i++) checkAddress(texts[i]!, addressType, i, at);
};

function checkAddress(address: string, addressType: string, index: number, at: Report): void {
  const path = `addresses[${index}]`;
  if (addressType === 'FQDN') {
    if (address === '') at.required(path);
    else at.problems(path, address, fqdnProblems(address));
  }
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return;
  const family = parseIp(address)?.family;
  if (family === undefined || `IPv${family}` !== addressType) {
    at.invalid(path, address, `must be a valid ${addressType} address`);
  }
  at.problems(path, address, nonSpecialIpProblems(address));
}

interface SlicePort {
  readonly name?: string | null;
}

const portName: Rule<SlicePort> = ({ name }, at) => {
  if ((name ?? '') !== '') at.problems('name', name, textProblems('dns1123Label', name!));
};

/** Ports without a name are as alike as those with the same one. */
const portNames = distinct<SlicePort>(
  ({ name }) => `=${name ?? ''}`,
  (_key, { name }, at) => at.duplicate('name', name ?? ''),
);

const zoneNames = distinct<{ readonly name?: string }>(
  ({ name }) => name,
  (name, _zone, at) => at.duplicate('name', name),
);

const TOPOLOGY_LABELS_MAX = 16;

const topologyLabels: Rule<Readonly<Record<string, string>>> = (map, at) => {
  const count = Object.keys(map).length;
  if (count > TOPOLOGY_LABELS_MAX) at.tooMany('', count, TOPOLOGY_LABELS_MAX);
  labels(map, at);
};

/** More than the schema knows: it counts the two families among the address families. */
const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

const HOST = { hostname: { format: 'dns1123Label' }, nodeName: { format: 'dns1123Subdomain' } } as const;
const HINTS = { forZones: { itemsMax: 8 } } as const;

export const endpointTypes: RuleTable = {
  'core/v1.EndpointSubset': { rules: [subset, 'addresses', 'notReadyAddresses', 'ports'] },
  'core/v1.EndpointAddress': {
    fields: { ip: { format: 'ip', emptyToo: true }, ...HOST },
    rules: ['ip', 'hostname', 'nodeName', reachable],
  },
  'core/v1.EndpointPort': {
    fields: {
      name: { format: 'dns1123Label' },
      port: { format: 'portNumber' },
      protocol: { required: true, enum: true },
      appProtocol: { format: 'qualifiedName' },
    },
    rules: [portIsNamed, 'name', 'port', 'protocol', 'appProtocol'],
  },
  'discovery.EndpointSlice': {
    fields: {
      addressType: { required: true, enum: ADDRESS_TYPES },
      endpoints: { itemsMax: ENDPOINTS_MAX },
      ports: { itemsMax: PORTS_MAX },
    },
  },
  'discovery/v1.Endpoint': {
    fields: { ...HOST, deprecatedTopology: { rules: [topologyLabels] } },
    rules: [addresses, 'nodeName', 'deprecatedTopology', 'hostname', 'hints'],
  },
  'discovery/v1beta1.Endpoint': {
    fields: { ...HOST, topology: { rules: [topologyLabels] } },
    rules: [addresses, 'nodeName', 'topology', 'hostname', 'hints'],
  },
  'discovery.EndpointHints': { fields: HINTS },
  'discovery.ForZone': { fields: { name: { format: 'labelValue' } }, rules: [zoneNames, 'name'] },
  'discovery.EndpointPort': {
    fields: { protocol: { required: true, enum: true }, appProtocol: { format: 'qualifiedName' } },
    rules: [portName, portNames, 'protocol', 'appProtocol'],
  },
};

export const endpointUpdates: ChangeTable = {
  'discovery.EndpointSlice': { fields: { addressType: { immutable: true } } },
};
