// Ports of loopback for servers that are started as processes of their own. Whoever has asked for one keeps it until its process
// ends: others that look for one at the same time, or while the server is down between two starts, are given another.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the range the system takes ports for outgoing connections from: none of those can hold ours after a restart. */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const HOST = '127.0.0.1';

/** A port that nobody listens on, and that no other process of this program was given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    if ((await isClaimed(port)) && (await isFree(port))) return port;
  }
}

/** Holds the port's number in UDP, where none of the servers listens: the system gives it back when this process ends. */
function isClaimed(port: number): Promise<boolean> {
  const claim = createSocket('udp4').unref();
  return new Promise((resolve) => {
    claim.once('error', () => {
      claim.close();
      resolve(false);
    });
    claim.bind({ port, address: HOST, exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, HOST, () => probe.close(() => resolve(true)));
  });
}
