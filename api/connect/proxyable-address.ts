// Which addresses the server connects to on a client's word: those of pods and services could otherwise be pointed at the
// server itself, or at what only its machine can reach. Pure: names are resolved by who connects.
import { parseIp, specialUse } from '../../values/ip.ts';

/** Why an address is not connected to; undefined when it may be. */
export function addressProblem(text: string): string | undefined {
  const address = parseIp(text);
  if (address === undefined) return `${JSON.stringify(text)} is no IP address`;
  return specialUse(address) === undefined ? undefined : `the address ${text} is not one the server connects to`;
}
