// What is known of an actor without loading its code: enough to place it, and to number and bound its mailbox. Each actor
// states its own beside its protocol (`actors/<name>/facts.ts`); placement.ts knows no actor by name.

import type { FlatForms } from './flat-form.ts';

export interface ActorFacts {
  /** `store`: what placement files and refs call it. */
  readonly actor: string;
  /** The most messages waiting and asks unanswered; beyond it senders get `full` or Overloaded. */
  readonly mailboxMax: number;
  /** Lower stops first: edges before the store. */
  readonly stopOrder: number;
  /** Settings with their defaults, overridable in a placement file. */
  readonly settings?: Readonly<Record<string, number | string | boolean>>;
  /** Of each setting that is a number. */
  readonly ranges?: Readonly<Record<string, SettingRange>>;
  readonly placement?: PlacementRules;
  /** How some of its messages cross threads; all others are cloned. */
  readonly flat?: FlatForms;
}

/** What a setting may be; whole, unless it says otherwise. */
export interface SettingRange {
  readonly least: number;
  readonly most: number;
  readonly isFraction?: boolean;
}

/** Where instances of an actor may be, and what a plan must hold for them to work. */
export interface PlacementRules {
  /** There may be one in the whole plan. */
  readonly isSingle?: boolean;
  /** The actor that must be on the same thread, and why, as the end of a sentence. */
  readonly beside?: { readonly actor: string; readonly because: string };
  /** What comes of a plan that places none. */
  readonly absence?: {
    /** Such a plan is refused; otherwise it is warned of. */
    readonly isRefused: boolean;
    /** As the end of a sentence: `nothing can be kept`. */
    readonly means: string;
  };
  /** Places that the actor has for others, by name: how many, each instance of a taker filling one. */
  readonly offers?: Readonly<Record<string, number>>;
  /** Names of places that each instance of this actor fills. */
  readonly takes?: readonly string[];
}
