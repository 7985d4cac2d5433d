// What node agents are shown, and believed, by the options: reads the operator's files, so that a missing one stops the start.
import { readFileSync } from 'node:fs';
import type { ServerOptions } from '../config/options.ts';
import { OrchError } from '../runtime/errors.ts';
import type { AgentTls } from '../transport/outgoing/agent-address.ts';

/** Throws BadConfiguration for a file that cannot be read. */
export function agentTls({
  orchletCertificateAuthority,
  orchletClientCertificate,
  orchletClientKey,
}: ServerOptions): AgentTls {
  return {
    ...(orchletCertificateAuthority === '' ? undefined : { caPem: textOf(orchletCertificateAuthority) }),
    ...(orchletClientCertificate === '' ? undefined : { certPem: textOf(orchletClientCertificate) }),
    ...(orchletClientKey === '' ? undefined : { keyPem: textOf(orchletClientKey) }),
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OrchError('BadConfiguration', `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
