// What a connection asks for, as the object that admission plugins see in place of a body (PodExecOptions and the like).
import type { JsonObject } from '../json-value.ts';
import { isTrueParameter, type Query } from '../query.ts';

const FLAGS = ['stdin', 'stdout', 'stderr', 'tty'] as const;
const PORT = /^\d{1,5}$/;

/** The options of a kind that a request's query and the rest of its path give. */
export function connectOptions(kind: string, query: Query, rest: string): JsonObject {
  const options: Record<string, unknown> = { kind, apiVersion: 'v1' };
  for (const flag of FLAGS) if (isTrueParameter(query.get(flag))) options[flag] = true;
  const container = query.get('container');
  if (container !== undefined && container !== '') options.container = container;
  const command = query.all('command');
  if (command.length > 0) options.command = command;
  const ports = query
    .all('ports')
    .flatMap((text) => text.split(','))
    .filter((text) => PORT.test(text));
  if (ports.length > 0) options.ports = ports.map(Number);
  if (rest !== '') options.path = rest;
  return options;
}
