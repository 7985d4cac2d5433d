// What a client is told when the hub cannot answer a read, or open a watch for another reason than that its version is gone.
import {
  badRequest,
  expiredContinue,
  expiredList,
  internalError,
  storeNotRead,
  tooLargeResourceVersion,
} from '../api/status/failures.ts';
import type { Status } from '../api/status/status.ts';
import { unreachable } from '../runtime/unreachable.ts';
import type { ReadRefusal } from './hub/protocol.ts';

/** The refusal as a Status. `askedVersion`: the resourceVersion the client asked for, as it wrote it. */
export function refusalStatus(refusal: ReadRefusal, askedVersion = ''): Status {
  switch (refusal.refused) {
    case 'expired':
      return refusal.freshToken === undefined ? expiredList() : expiredContinue(refusal.freshToken);
    case 'badToken':
      return badRequest('invalid continue token: continue key is not valid');
    case 'tooLarge':
      return tooLargeResourceVersion(askedVersion, refusal.currentRevision);
    case 'notReady':
      return storeNotRead();
    case 'unreadable':
      return internalError(refusal.why);
    default:
      return unreachable(refusal);
  }
}
