// Names as connections look them up: who wants a name that is being looked up already waits with those who do. The system looks up two
// names at a time for the whole process, and takes its time (10 s and more) where no name server answers: a look-up for each connection to
// one name would keep all others out for minutes.
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Told = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** By name and by what of it is wanted. */
const underWay = new Map<string, Told[]>();

/** All addresses of a name. */
export function lookupAll(hostname: string, { family = 0, hints = 0 }: LookupOptions, told: Told): void {
  const key = `${hostname} ${family} ${hints}`;
  const waiting = underWay.get(key);
  if (waiting !== undefined) {
    waiting.push(told);
    return;
  }
  const all = [told];
  underWay.set(key, all);
  lookup(hostname, { family, hints, all: true }, (error, addresses) => {
    underWay.delete(key);
    // Each its own list: who is told may take from it.
    for (const one of all) one(error, error === null ? [...addresses] : []);
  });
}

/** In place of the one that connections have of themselves. */
export const sharedLookup: LookupFunction = (hostname, options, callback) => {
  lookupAll(hostname, options, (error, addresses) => {
    const [first] = addresses;
    if (error !== null || first === undefined) callback(error ?? new Error(`${hostname} has no address`), '');
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
