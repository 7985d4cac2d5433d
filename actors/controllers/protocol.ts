// What the controllers understand: the store's stream, and the question which post-start hooks are through.
import type { Protocol } from '../../runtime/actor.ts';
import type { StoreFeedTells } from '../store/protocol.ts';

/** One post-start hook as `/readyz` and `/livez` report it (SPEC.md "Health endpoints"). Once done it stays done. */
export interface HookState {
  /** The check's name, with the `poststarthook/` in front. */
  readonly name: string;
  readonly done: boolean;
  /** What the last attempt failed with; empty when it did not, or has not been made. */
  readonly failure: string;
}

export interface ControllersProtocol extends Protocol {
  readonly asks: {
    readonly hooks: {
      readonly message: Record<never, never>;
      /** `isManaging`: one of the controllers runs that `--controllers` chooses among. */
      readonly reply: { readonly hooks: readonly HookState[]; readonly isManaging: boolean };
    };
  };
  readonly tells: StoreFeedTells;
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly controllers: ControllersProtocol;
  }
}
