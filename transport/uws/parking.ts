// What is done with a socket whose client is waited for, by whoever waits: the binary would cut it off ten seconds later.
import type { SendingByTries } from './sending-by-tries.ts';

/** What the binary has of a socket, whatever it carries. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

export interface KeptAlive {
  keepAlive(): void;
}

/** The responses that wait for their client to read. */
export interface ParkedResponses {
  add(response: KeptAlive): void;
  delete(response: KeptAlive): void;
}

/**
 * Renews the ten seconds after which the binary cuts a socket that takes nothing of what was refused. Pausing first is needed: resuming
 * restores the poll flags that the last pause on this thread saved, and without one it would stop the polling for good.
 */
export function renew(socket: Pausable): void {
  socket.pause();
  socket.resume();
}

/** Whose answer it is, as far as it waits. */
interface Waiter extends KeptAlive {
  readonly scope: { readonly parked: ParkedResponses };
  readonly sending: SendingByTries | undefined;
}

/** The stream of the answer holds what the socket did not take, or no longer. */
export function park(owner: Waiter, isFull: boolean): void {
  if (isFull) {
    owner.scope.parked.add(owner);
    owner.sending?.begin();
  } else owner.scope.parked.delete(owner);
}
