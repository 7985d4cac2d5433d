// Names as connections look them up, where not every address that a name may stand for is connected to.
import type { LookupFunction } from 'node:net';
import { lookupAll } from './shared-lookup.ts';

/** Looks a name up, and fails where one of its addresses is refused. */
export function checkedLookup(addressProblem: (address: string) => string | undefined): LookupFunction {
  return (hostname, options, callback) => {
    lookupAll(hostname, options, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const problem = addresses.map(({ address }) => addressProblem(address)).find((one) => one !== undefined);
      const [first] = addresses;
      if (problem !== undefined || first === undefined)
        callback(new Error(problem ?? `${hostname} has no address`), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
