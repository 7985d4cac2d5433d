// What node agents are shown, and believed, by the options: reads the operator's files, so that a missing one stops the start.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { ServerOptions } from '../config/options.ts';
import { OrchError } from '../runtime/errors.ts';
import type { AgentTls } from '../transport/outgoing/agent-address.ts';
import { operatorText } from './operator-file.ts';

/** Throws BadConfiguration for files that cannot be read, or not be used together. */
export function agentTls({
  orchletCertificateAuthority,
  orchletClientCertificate,
  orchletClientKey,
}: ServerOptions): AgentTls {
  const tls = {
    ...(orchletCertificateAuthority === '' ? undefined : { caPem: operatorText(orchletCertificateAuthority) }),
    ...(orchletClientCertificate === '' ? undefined : { certPem: operatorText(orchletClientCertificate) }),
    ...(orchletClientKey === '' ? undefined : { keyPem: operatorText(orchletClientKey) }),
  };
  const paths = [orchletCertificateAuthority, orchletClientCertificate, orchletClientKey].filter((path) => path !== '');
  if (paths.length > 0) requireUsable(tls, paths);
  return tls;
}

/** Else each connection to a node agent would fail. */
function requireUsable({ caPem, certPem, keyPem }: AgentTls, paths: readonly string[]): void {
  try {
    // A file without a certificate would be no authority at all.
    if (caPem !== undefined) new X509Certificate(caPem);
    createSecureContext({ ca: caPem, cert: certPem, key: keyPem });
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new OrchError('BadConfiguration', `${paths.join(' and ')} cannot be used for node agents: ${reason}`);
  }
}
