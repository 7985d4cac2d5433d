// Connections that are kept for requests to come, and how they are let go of while others are in use.
import type { Agent } from 'node:http';

/** Requests in progress go on, and their connections end with them. */
export function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  dropIdle(agent);
}

/** Closes the connections that nothing is using. */
function dropIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
