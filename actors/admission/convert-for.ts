// Converts objects for whoever reads them: the thread's ingress asks, and waits.
import { resourceNotFound } from '../../api/status/failures.ts';
import { isStatusError } from '../../api/status/status.ts';
import { servedType } from '../served-type.ts';
import type { ConvertReply, ConvertRequest } from './protocol.ts';
import type { WriteContext } from './write-context.ts';

/** Refused where the type is not there any more, and where its webhook does not convert. */
export async function convertFor(write: WriteContext, { target, objects }: ConvertRequest): Promise<ConvertReply> {
  const custom = (await servedType(write, target))?.custom;
  if (custom === undefined) return { refused: resourceNotFound() };
  try {
    return { refused: undefined, objects: await write.conversion.into(custom, objects) };
  } catch (error) {
    if (isStatusError(error)) return { refused: error.status };
    throw error;
  }
}
