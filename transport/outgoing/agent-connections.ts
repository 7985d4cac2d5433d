// The connections of Node's own client to one service: for answers that come part by part, and may last.
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { believing } from '../tls/certificates.ts';
import { USUAL_SUITES } from '../tls/usual-suites.ts';
import type { Pems, ServiceConnection } from './connection-file.ts';
import type { Connections } from './connection-secrets.ts';
import { throughWay } from './egress.ts';
import { retire } from './idle-connections.ts';

const IDLE_SOCKETS_MAX = 64;
const SOCKETS_MAX = 256;

export class AgentConnections implements Connections {
  readonly agent: PlainAgent | TlsAgent;

  constructor(connection: ServiceConnection, pems: Pems) {
    this.agent = agentFor(connection, pems);
  }

  close(): void {
    this.agent.destroy();
  }

  retire(): void {
    retire(this.agent);
  }
}

/** All connections of one agent are made alike: where they lead tells them apart, and the name is short. */
class OneServiceAgent extends TlsAgent {
  override getName({ host, port }: AgentPlace = {}): string {
    return `${host ?? ''}:${port ?? ''}`;
  }
}

type AgentPlace = NonNullable<Parameters<TlsAgent['getName']>[0]>;

function agentFor(
  { url, insecure, serverName, way }: ServiceConnection,
  { caPem, certPem, keyPem }: Pems,
): PlainAgent | TlsAgent {
  const limits = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX, maxSockets: SOCKETS_MAX };
  if (!url.startsWith('https:')) return throughWay(new PlainAgent(limits), way);
  const agent = new OneServiceAgent({
    ...limits,
    rejectUnauthorized: !insecure,
    ciphers: USUAL_SUITES,
    ...(caPem === '' ? {} : believing(caPem)),
    ...(certPem === '' ? {} : { cert: certPem, key: keyPem }),
    ...(serverName === '' ? {} : { servername: serverName }),
  });
  return throughWay(agent, way);
}
