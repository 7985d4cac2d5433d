// One object of every type that is kept, and what is known of the types beside the server itself: the tables of
// test/fixtures, in a dialect's words.
import { readFileSync } from 'node:fs';
import type { Dialect } from '../../config/dialect.ts';
import type { Kubectl } from './kubectl.ts';

/** Where the objects are that have a namespace. */
export const ZOO = 'zoo';

/** Makes the objects. The namespace goes before: its pod waits for an account. */
export async function makeZoo(kubectl: Kubectl, dialect: Dialect): Promise<void> {
  const [namespace = ''] = zooManifest(dialect).split('\n---\n');
  await kubectl.ok(['apply', '-f', '-'], namespace);
  await kubectl.accountIn(ZOO);
  await kubectl.ok(['apply', '-f', '-'], zooManifest(dialect));
}

/** The objects as YAML. */
export function zooManifest(dialect: Dialect): string {
  const request = readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64');
  return dialect.spell(readFileSync('test/fixtures/clients/zoo.yaml', 'utf8').replace('@request', request));
}

/** A built-in type in one of its versions. */
export interface BuiltIn {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly preferredVersion: string;
  readonly servedByDefault: boolean;
}

interface Column {
  readonly name: string;
  readonly priority: number;
}

interface TableColumns {
  readonly kind: string;
  readonly columns: readonly Column[];
}

/** What a server that was told nothing serves: a row a type and version. */
export function builtIns(dialect: Dialect): BuiltIn[] {
  return lines<BuiltIn>('test/fixtures/registry/resources.jsonl')
    .filter(({ servedByDefault }) => servedByDefault)
    .map((row) => ({ ...row, group: row.group.replace(/\borch\.io$/, dialect.groupDomain) }));
}

/** The columns of a kind's table. */
export function columnsOf(kind: string): readonly Column[] {
  const tables = lines<TableColumns>('test/fixtures/table/columns.jsonl');
  const table = tables.find((one) => one.kind === kind) ?? tables.find((one) => one.kind === '*default');
  return table!.columns;
}

/** `apps/v1`, and `v1` for the group without a name. */
export function apiVersionOf({ group, version }: Pick<BuiltIn, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

function lines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
