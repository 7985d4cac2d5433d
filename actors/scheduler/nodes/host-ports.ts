// The ports that the pods of one node claim on it. Two claims conflict when protocol and port are equal and the
// addresses are, or when one of them is every address.
import { ALL_ADDRESSES, type HostPort } from '../pods/pod-request.ts';

/** Counted, because pods that another scheduler bound may claim the same port. */
export class HostPortClaims {
  /** By `<protocol>/<port>`, then by address, how many pods claim it. */
  private readonly claims = new Map<string, Map<string, number>>();

  add(claim: HostPort): void {
    const key = claimKey(claim);
    const addresses = this.claims.get(key) ?? new Map<string, number>();
    addresses.set(claim.ip, (addresses.get(claim.ip) ?? 0) + 1);
    this.claims.set(key, addresses);
  }

  remove(claim: HostPort): void {
    const key = claimKey(claim);
    const addresses = this.claims.get(key);
    const count = addresses?.get(claim.ip);
    if (addresses === undefined || count === undefined) return;
    if (count > 1) addresses.set(claim.ip, count - 1);
    else addresses.delete(claim.ip);
    if (addresses.size === 0) this.claims.delete(key);
  }

  /** True when another claim stands in the way of this one. */
  conflicts(claim: HostPort): boolean {
    const addresses = this.claims.get(claimKey(claim));
    if (addresses === undefined) return false;
    return claim.ip === ALL_ADDRESSES || addresses.has(claim.ip) || addresses.has(ALL_ADDRESSES);
  }
}

function claimKey(claim: HostPort): string {
  return `${claim.protocol}/${claim.port}`;
}
