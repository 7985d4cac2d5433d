// Which addresses the server connects to on an object's word: those of nodes, pods and services could otherwise be pointed at
// the server itself, or at what only its machine can reach. Pure: names are resolved by who connects.
import { parseIp, specialUse } from '../../values/ip.ts';

/** Why an address is not connected to; undefined when it may be. `permitsLoopback`: this machine's own are no problem. */
export function addressProblem(text: string, permitsLoopback = false): string | undefined {
  const address = parseIp(text);
  if (address === undefined) return `${JSON.stringify(text)} is no IP address`;
  const use = specialUse(address);
  return use === undefined || (permitsLoopback && use === 'loopback')
    ? undefined
    : `the address ${text} is not one the server connects to`;
}
