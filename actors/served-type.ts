// The type at a path, also where its definition has been committed and this thread has not heard of it: then the hub of the
// thread is waited for, which tells the thread's types. Built-in types cost nothing but their look-up.
import type { Registry } from '../api/resources/registry.ts';
import type { KnownType } from '../api/resources/resource-table.ts';
import type { Ref } from '../runtime/actor.ts';
import type { HubProtocol } from './hub/protocol.ts';

/** What it takes to ask. */
interface TypeReader {
  readonly registry: Registry;
  readonly hub: Ref<HubProtocol>;
  readonly requestTimeoutMs: number;
  readonly requestNumber: number;
}

interface TypePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Undefined where no such type is served by now. */
export async function servedType(reader: TypeReader, path: TypePath): Promise<KnownType | undefined> {
  const { group, version, resource } = path;
  const known = reader.registry.byPath(group, version, resource);
  if (known !== undefined || !isCustomGroup(group)) return known;
  await definitionOf(reader, path);
  return reader.registry.byPath(group, version, resource);
}

/** The version of a custom type that its objects are stored in; undefined where there is none by now. */
export async function storedType(reader: TypeReader, path: TypePath): Promise<KnownType | undefined> {
  const storageKey = `${path.group}/${path.resource}`;
  const known = reader.registry.storageType(storageKey);
  if (known !== undefined) return known;
  await definitionOf(reader, path);
  return reader.registry.storageType(storageKey);
}

/** Definitions are made in domains. */
function isCustomGroup(group: string): boolean {
  return group.includes('.');
}

/** Waits until the thread knows the types as they are committed now. */
export async function definitionOf(
  { registry, hub, requestTimeoutMs, requestNumber }: TypeReader,
  { group, resource }: TypePath,
): Promise<void> {
  await hub.ask(
    {
      type: 'get',
      storageKey: registry.dialect.spell('apiextensions.@group/customresourcedefinitions'),
      namespace: '',
      name: `${resource}.${group}`,
      freshness: { kind: 'mostRecent' },
    },
    { deadlineMs: requestTimeoutMs, requestNumber },
  );
}
