// Which queues a flow may wait in: a few of a priority level's queues, dealt like a hand of cards from the hash of the flow
// (shuffle sharding), so that two flows rarely share all of theirs. Pure.
import { createHash } from 'node:crypto';

/** A hand is dealt from at most 60 bits: no larger one passes validation (api/validation/kinds/flow-control.ts). */
const HASH_BYTES = 8;

/** The 64 bits that a flow is dealt by. */
export function flowHash(schema: string, distinguisher: string): bigint {
  // The zero byte keeps `a` + `bc` from being the flow `ab` + `c`: no name of a schema holds one.
  const digest = createHash('sha256').update(`${schema}\0${distinguisher}`).digest();
  return digest.subarray(0, HASH_BYTES).readBigUInt64LE();
}

/**
 * Deals `handSize` different cards of a deck numbered from 0. The same hash gives the same hand; over all hashes every hand is
 * equally likely, as far as the deck's factors divide 2^64.
 */
export function dealHand(hash: bigint, deckSize: number, handSize: number): readonly number[] {
  const drawn: number[] = [];
  let rest = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(deckSize - dealt);
    drawn.push(Number(rest % left));
    rest /= left;
  }
  return drawn.map((card, index) => cardAmongLeft(card, drawn, index));
}

/** Each draw counted the cards that were left: what was dealt before moves it up. */
function cardAmongLeft(card: number, drawn: readonly number[], index: number): number {
  let actual = card;
  for (let before = index - 1; before >= 0; before--) if (actual >= drawn[before]!) actual++;
  return actual;
}
