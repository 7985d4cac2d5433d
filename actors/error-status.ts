// What a client is told of an error that ended its request.
import {
  insufficientStorage,
  internalError,
  restarting,
  serviceUnavailable,
  timeout,
  unnamedError,
} from '../api/status/failures.ts';
import { isStatusError, type Status } from '../api/status/status.ts';
import { SAFE_METHODS } from '../api/verbs.ts';
import { isOrchError } from '../runtime/errors.ts';

/** 504: nobody waits any longer for what the request asks for. */
export function tooLate(): Status {
  return timeout('request did not complete within the allotted timeout');
}

/** The Status an error stands for; undefined for one that nobody foresaw. */
export function statusOfError(error: unknown, method: string): Status | undefined {
  if (isStatusError(error)) return error.status;
  if (!isOrchError(error)) return undefined;
  switch (error.code) {
    case 'ActorDown':
      return restarting(!SAFE_METHODS.has(method));
    case 'DeadlineExceeded':
    // Who it was for has gone away.
    case 'Cancelled':
    // A store that others share is not reached: it was asked for as long as it is.
    case 'StoreUnusable':
      return tooLate();
    case 'StorageFull':
      return insufficientStorage(error.message);
    case 'StorageFailed':
      return internalError(error.message);
    case 'StorageUnsure':
      return serviceUnavailable(error.message);
    case 'StorageTooLarge':
      return unnamedError(error.message);
    default:
      return undefined;
  }
}
