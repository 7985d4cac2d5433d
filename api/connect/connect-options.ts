// What a connection asks for, as the object that admission plugins see in place of a body (PodExecOptions and the like).
import type { JsonObject } from '../json/json-value.ts';
import { isTrueParameter, type Query } from '../requests/query.ts';
import { badRequest, quote } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';

const FLAGS = ['stdin', 'stdout', 'stderr', 'tty'] as const;
const PORT_MAX = 65_535;

/** What else a proxied request asks is its backend's to read. */
const OF_A_PROXY = /ProxyOptions$/;

/** The options of a kind that a request's query and the rest of its path give. Throws StatusError 400. */
export function connectOptions(kind: string, query: Query, rest: string): JsonObject {
  const options: Record<string, unknown> = { kind, apiVersion: 'v1' };
  if (rest !== '') options.path = rest;
  if (OF_A_PROXY.test(kind)) return options;
  for (const flag of FLAGS) if (isTrueParameter(query.get(flag))) options[flag] = true;
  const container = query.get('container');
  if (container !== undefined && container !== '') options.container = container;
  const command = query.all('command');
  if (command.length > 0) options.command = command;
  const ports = query.all('ports').flatMap((text) => text.split(',').map(portOf));
  if (ports.length > 0) options.ports = ports;
  return options;
}

function portOf(text: string): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && Number(text) <= PORT_MAX) return Number(text);
  const problem = isNumber ? 'value out of range' : 'invalid syntax';
  throw new StatusError(badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${problem}`));
}
