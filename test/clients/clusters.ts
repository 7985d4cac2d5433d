// The servers of a test file, one a dialect, and the kubectls that talk to them: the one on the PATH and, where
// ORCH_KUBECTL_OLD names another, that one as well. kubectl and the client libraries have the groups' Kubernetes names built
// in, so what they do by a built-in name works in that dialect only; what they learn from discovery works in both.
import type { ExecutionContext, TestFn } from 'ava';
import { DIALECT_NAMES, DIALECTS, type Dialect } from '../../config/dialect.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl, kubectlPrograms, type Program } from './kubectl.ts';

/** A kubectl and its server. */
export interface Client {
  readonly dialect: Dialect;
  readonly server: ServerProcess;
  readonly kubectl: Kubectl;
}

export interface ClusterSettings {
  /** Further arguments of the servers. */
  readonly args?: readonly string[];
  /** What each server holds when the tests begin. */
  readonly prepare?: (client: Client) => Promise<void>;
}

export type Body = (t: ExecutionContext, client: Client) => Promise<void>;

export interface Clusters {
  /** The same test once a dialect, one after the other; an older kubectl runs it in its own dialect. */
  inBothDialects(title: string, body: Body): void;
  /** The same test once a dialect and kubectl. Older ones look for much by its Kubernetes name, in OpenAPI too. */
  everywhere(title: string, body: Body): void;
  /** The same test once a kubectl, for what it does by a built-in name. */
  inKubernetes(title: string, body: Body): void;
}

/** Starts the file's servers before its tests and ends them after. */
export function clusters(ava: TestFn, { args = [], prepare = async () => {} }: ClusterSettings = {}): Clusters {
  const test = testNeeding(ava, ['kubectl']);
  const programs = kubectlPrograms();
  const clients = new Map<string, Client>();
  const undo: (() => void | Promise<void>)[] = [];
  const keyOf = ({ name }: Dialect, program: string): string => `${name} ${program}`;

  const start = async (dialect: Dialect): Promise<void> => {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.push(step) };
    const placement = dialect.name === 'kubernetes' ? 'default' : 'single';
    const server = await startServer(scope, { args: ['--api-dialect', dialect.name, ...args], placement });
    for (const [index, program] of programs.entries()) {
      const kubectl = new Kubectl(server, program);
      undo.push(() => kubectl.dispose());
      const client = { dialect, server, kubectl };
      clients.set(keyOf(dialect, program.path), client);
      if (index === 0) await prepare(client);
    }
  };
  test.before(async () => {
    await Promise.all(Object.values(DIALECTS).map(start));
  });
  test.after.always(async () => {
    for (const step of undo) await step();
  });

  const add = (title: string, dialect: Dialect, body: Body, among: readonly Program[] = programs): void => {
    for (const { path, isOlder } of among) {
      const where = isOlder ? `${dialect.name}, older kubectl` : dialect.name;
      test.serial(`${title} (${where})`, (t) => body(t, clients.get(keyOf(dialect, path))!));
    }
  };
  const newer = programs.filter(({ isOlder }) => !isOlder);
  return {
    inBothDialects(title, body) {
      add(title, DIALECTS.orch, body, newer);
      add(title, DIALECTS.kubernetes, body);
    },
    everywhere(title, body) {
      for (const name of DIALECT_NAMES) add(title, DIALECTS[name], body);
    },
    inKubernetes(title, body) {
      add(title, DIALECTS.kubernetes, body);
    },
  };
}
