// Stored objects that writes come upon and that have to wait for room on the heap, or are large.
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Asked } from '../attributes.ts';
import { tooLateToCommit } from '../commits/commit.ts';
import { afterOthers } from '../large-writes.ts';
import { findStored } from '../stored/store-reader.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';

/**
 * An object that was found, once there is room on the heap for what is made of it, and in a turn of its own. It may lie elsewhere by
 * then, and is read in that turn. Rejects where nobody waits for it any more.
 */
export async function foundInRoom(
  write: WriteContext,
  type: KnownType,
  { namespace, name }: Pick<Asked, 'namespace' | 'name'>,
  { heapBytes }: StoredObject,
): Promise<StoredObject | null> {
  await write.heapShare.borrow(heapBytes);
  await afterOthers(write);
  if (write.patience.isOver) throw tooLateToCommit();
  return findStored(write, type, namespace, name);
}
