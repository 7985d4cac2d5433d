// Where a node agent or another backend is reached, and what it is shown there. Types and rules only: agent-client.ts opens
// the connections, and is loaded when the first one is needed.

/** TLS towards node agents, as PEM text. */
export interface AgentTls {
  /** Authorities that agents' certificates are verified against; without, any certificate will do. */
  readonly caPem?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}
