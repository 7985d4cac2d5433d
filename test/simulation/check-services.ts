// What is given once belongs to one service at every durable revision, and what is noted as given is what services have: no more,
// which nobody could ever be given again, and no less. Pure.
import type { Committed, Version } from './committed.ts';

const SERVICES = 'core/services/';
/** Of one that is given, in this server's own layout: under which nobody but the server writes. */
const NOTES = ['internal/clusteraddresses', 'internal/nodeports'];

interface ServiceJson {
  readonly spec: {
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly { readonly nodePort?: number }[];
    readonly healthCheckNodePort?: number;
  };
}

/** What is wrong, one line each. `layout`: the original's notes what is given in another way. */
export function checkServices(
  { changes }: Pick<Committed, 'changes'>,
  layout: 'own' | 'kubernetes',
): readonly string[] {
  const problems: string[] = [];
  const held = new Map<string, ReadonlySet<string>>();
  const noted = new Set<string>();
  for (const [i, { key, revision, after }] of changes.entries()) {
    const note = noteOf(key);
    if (note !== undefined) {
      if (after === undefined) noted.delete(note);
      else noted.add(note);
    } else if (key.startsWith(SERVICES)) {
      if (after === undefined) held.delete(key);
      else held.set(key, given(after));
    } else continue;
    // What changes together is judged together.
    const next = changes[i + 1];
    if (next?.revision === revision && (next.key.startsWith(SERVICES) || noteOf(next.key) !== undefined)) continue;
    const owners = ownersIn(held);
    problems.push(...sharedProblems(owners, revision));
    if (layout === 'own') problems.push(...noteProblems(owners, noted, revision));
  }
  return problems;
}

function noteOf(key: string): string | undefined {
  const [group, plural, , name] = key.split('/');
  return NOTES.includes(`${group}/${plural}`) ? name : undefined;
}

function given({ text }: Version): ReadonlySet<string> {
  const { clusterIPs = [], ports = [], healthCheckNodePort = 0 } = (JSON.parse(text) as ServiceJson).spec;
  const numbers = [...ports.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort];
  return new Set([
    ...clusterIPs.filter((address) => address !== 'None'),
    ...numbers.filter((number) => number !== 0).map(String),
  ]);
}

function ownersIn(held: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const [service, all] of held) {
    for (const one of all) {
      const known = owners.get(one);
      if (known === undefined) owners.set(one, [service]);
      else known.push(service);
    }
  }
  return owners;
}

function sharedProblems(owners: ReadonlyMap<string, readonly string[]>, revision: number): readonly string[] {
  return [...owners]
    .filter(([, services]) => services.length > 1)
    .map(([one, services]) => `${one} is given to ${services.join(' and ')} at ${revision}`);
}

function noteProblems(
  owners: ReadonlyMap<string, readonly string[]>,
  noted: ReadonlySet<string>,
  revision: number,
): readonly string[] {
  return [
    ...[...noted].filter((one) => !owners.has(one)).map((one) => `${one} is held for no service at ${revision}`),
    ...[...owners]
      .filter(([one]) => !noted.has(one))
      .map(([one, [service]]) => `${one} is held for nobody at ${revision}, ${service} has it`),
  ];
}
