// What an extension server says of an object that another names as its owner. Plain data: it crosses threads.

/** What an owner reference names: an object of a group that another server answers for. */
export interface RemoteOwnerAsked {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the dependent; where the owner is of a type without namespaces, it does not matter. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * `unknown`: nobody can tell now. `absent`: the server has no object of that name. `present`: it has, of this uid; `deletion` says what
 * its own deletion waits for.
 */
export type RemoteOwner =
  | { readonly is: 'unknown' }
  | { readonly is: 'absent' }
  | { readonly is: 'present'; readonly uid: string; readonly deletion: 'none' | 'foreground' | 'orphan' };

export const UNKNOWN_OWNER: RemoteOwner = { is: 'unknown' };
