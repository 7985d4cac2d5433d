// Where a backend (a node agent, a pod, an endpoint of a service) is reached, and what is shown and believed there. Types
// only: agent-client.ts opens the connections, and is loaded when the first one is needed.
import type { BodyFlow, HeaderList } from '../http.ts';

/** TLS towards node agents, as PEM text. */
export interface AgentTls {
  /** Authorities that agents' certificates are verified against; without, any certificate will do. */
  readonly caPem?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

export interface AgentTarget {
  readonly scheme: 'http' | 'https';
  /** A name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * `agent`: our certificate is shown, and the agent's is verified where its authorities are known. `service`: the same, by the
   * host's authorities where it has none of its own. `none`: neither.
   */
  readonly trust: 'agent' | 'unverifiedAgent' | 'service' | 'none';
  /** The name that the certificate must be for; absent: the host. */
  readonly serverName?: string;
  /** Asked about each address that the name stands for: why it is not connected to, or undefined. */
  readonly addressProblem?: (address: string) => string | undefined;
}

export interface AgentRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: BodyFlow | undefined;
}

/** A backend that could not be reached, or did not answer in HTTP. */
export class AgentUnreachable extends Error {
  /** A kept connection turned out to be closed. */
  readonly isStale: boolean;
  /** The certificate that it showed is not believed. */
  readonly isUnbelieved: boolean;

  constructor(message: string, isStale = false, isUnbelieved = false) {
    super(message);
    this.isUnbelieved = isUnbelieved;
    this.name = 'AgentUnreachable';
    this.isStale = isStale;
  }
}
