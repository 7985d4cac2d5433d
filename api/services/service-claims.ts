// What a service has of the addresses and ports that are given once: under which name each is noted in the store. Pure.
import { isHeadless, needsClusterIp, needsHealthPort, needsNodePort, type ServiceFields } from './service-fields.ts';

/** Storage keys of the records that say what is taken. */
export const ADDRESS_RECORDS = 'internal/clusteraddresses';
export const PORT_RECORDS = 'internal/nodeports';

export interface ServiceClaim {
  readonly storageKey: typeof ADDRESS_RECORDS | typeof PORT_RECORDS;
  /** As the service has it; a record's name is its canonical text. */
  readonly written: string;
}

/** What of a spec is in use. */
export function claimsOf(spec: ServiceFields): readonly ServiceClaim[] {
  const claims: ServiceClaim[] = [];
  if (needsClusterIp(spec) && !isHeadless(spec)) {
    for (const written of spec.clusterIPs ?? []) claims.push({ storageKey: ADDRESS_RECORDS, written });
  }
  const { ports = [], healthCheckNodePort = 0 } = spec;
  if (needsNodePort(spec)) {
    for (const { nodePort = 0 } of ports) {
      if (nodePort !== 0) claims.push({ storageKey: PORT_RECORDS, written: String(nodePort) });
    }
  }
  if (needsHealthPort(spec) && healthCheckNodePort !== 0) {
    claims.push({ storageKey: PORT_RECORDS, written: String(healthCheckNodePort) });
  }
  return claims;
}
