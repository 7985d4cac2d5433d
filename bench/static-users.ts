// Users of a server of the bench's own that are known by static tokens, as many as a load wants: all may do everything, and none is
// exempt from limits as the administrator is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Target } from './bench.ts';
import { digitsOf } from './request-template.ts';

/** The options of a server that knows the first so many users of each name. */
export function staticUsers(bench: Bench, counts: Readonly<Record<string, number>>): readonly string[] {
  const file = join(bench.makeDirectory(), 'tokens.csv');
  const lines = Object.entries(counts).flatMap(([name, count]) =>
    Array.from(
      { length: count },
      (_, number) => `${tokenOf(name, digitsOf(number))},${name}-${number},uid-${name}-${number}`,
    ),
  );
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return [`token-auth-file=${file}`, 'authorization-mode=AlwaysAllow'];
}

/** A target as its users of a name see it: each request is by the user whose number is that of its object. */
export function asUsers(target: Target, name: string): Target {
  const { endpoint } = target;
  const { tls } = endpoint;
  const { cert: _cert, key: _key, ...trust } = tls ?? {};
  const authorization = `Bearer ${tokenOf(name, '{object}')}`;
  return { ...target, endpoint: { ...endpoint, ...(tls === undefined ? {} : { tls: trust }), authorization } };
}

function tokenOf(name: string, number: string): string {
  return `bench-${name}-${number}`;
}
