// All targets: those that run in this process, and those that put a server process under fire over sockets.
import { SOCKET_TARGETS } from './sockets/socket-target.ts';
import type { Target } from './target.ts';
import { columns } from './targets/columns.ts';
import { credentials } from './targets/credentials.ts';
import { customValues } from './targets/custom-values.ts';
import { fieldSets } from './targets/field-sets.ts';
import { grants } from './targets/grants.ts';
import { growth } from './targets/growth.ts';
import { headers } from './targets/headers.ts';
import { json } from './targets/json.ts';
import { objects } from './targets/objects.ts';
import { patches } from './targets/patches.ts';
import { protobuf } from './targets/protobuf.ts';
import { requests } from './targets/requests.ts';
import { scalars } from './targets/scalars.ts';
import { selectors } from './targets/selectors.ts';
import { structural } from './targets/structural.ts';
import { tokens } from './targets/tokens.ts';
import { webSockets } from './targets/web-sockets.ts';
import { writes } from './targets/writes.ts';
import { yaml } from './targets/yaml.ts';
import { yamlReference } from './targets/yaml-reference.ts';

export const TARGETS: readonly Target[] = [
  requests,
  headers,
  selectors,
  tokens,
  credentials,
  webSockets,
  scalars,
  json,
  yaml,
  yamlReference,
  protobuf,
  objects,
  structural,
  customValues,
  columns,
  grants,
  fieldSets,
  patches,
  writes,
  growth,
];

const ALL: readonly Target[] = [...TARGETS, ...SOCKET_TARGETS];

/** Throws for a name that no target has. */
export function targetNamed(name: string): Target {
  const target = ALL.find((one) => one.name === name);
  if (target === undefined) throw new Error(`no target ${name}; there are ${ALL.map((one) => one.name).join(', ')}`);
  return target;
}

export { SOCKET_TARGETS };
