// The files that are shown to node agents, and that they are believed by, as TLS material. Reading them is the caller's.
import { OrchError } from '../../runtime/errors.ts';
import { bundleProblem, pairProblem } from '../tls/certificates.ts';
import type { AgentTls } from './agent-address.ts';

/** Absolute paths; blank where there is none. Plain data: it crosses threads. */
export interface AgentTlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The files there are, in the order that `agentTlsOf` takes their texts in. */
export function agentTlsPaths({ ca, cert, key }: AgentTlsFiles): readonly string[] {
  return [ca, cert, key].filter((path) => path !== '');
}

/** The material of the texts. Throws BadConfiguration where they cannot be used together: each connection would fail. */
export function agentTlsOf(files: AgentTlsFiles, texts: readonly string[]): AgentTls {
  const paths = agentTlsPaths(files);
  const textOf = (path: string): string => texts[paths.indexOf(path)]!;
  const tls = {
    ...(files.ca === '' ? undefined : { caPem: textOf(files.ca) }),
    ...(files.cert === '' ? undefined : { certPem: textOf(files.cert) }),
    ...(files.key === '' ? undefined : { keyPem: textOf(files.key) }),
  };
  const problem = problemOf(tls);
  if (problem === undefined) return tls;
  throw new OrchError('BadConfiguration', `${paths.join(' and ')} cannot be used for node agents: ${problem}`);
}

function problemOf({ caPem, certPem, keyPem }: AgentTls): string | undefined {
  // A file without a certificate would be no authority at all.
  const problem = caPem === undefined ? undefined : bundleProblem(caPem);
  if (problem !== undefined) return `the authority ${problem}`;
  // TLS takes a file with nothing in it for none.
  return certPem === undefined || keyPem === undefined ? undefined : pairProblem({ certPem, keyPem });
}
