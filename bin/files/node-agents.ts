// What node agents are shown, and believed, by the options: reads the operator's files, so that a missing one stops the start.
import { resolve } from 'node:path';
import type { ServerOptions } from '../../config/options.ts';
import type { AgentTls } from '../../transport/outgoing/agent-address.ts';
import { type AgentTlsFiles, agentTlsOf, agentTlsPaths } from '../../transport/outgoing/agent-tls.ts';
import { operatorText } from './operator-file.ts';

/** Where the material is from. */
export function agentTlsFiles(options: ServerOptions): AgentTlsFiles {
  const pathOf = (file: string): string => (file === '' ? '' : resolve(file));
  return {
    ca: pathOf(options.orchletCertificateAuthority),
    cert: pathOf(options.orchletClientCertificate),
    key: pathOf(options.orchletClientKey),
  };
}

/** Throws BadConfiguration for files that cannot be read, or not be used together. */
export function agentTls(options: ServerOptions): AgentTls {
  const files = agentTlsFiles(options);
  return agentTlsOf(
    files,
    agentTlsPaths(files).map((path) => operatorText(path)),
  );
}
