// Servers whose certificates say whom they are for in their subject alone, which clients of our days do not look at (RFC 9110 4.3.4).
import type { TLSSocket } from 'node:tls';

/** Tells of a connection, once it is secured, to a server whose certificate has no names beside its subject. */
export function watchForNames(socket: TLSSocket, onNameless: () => void): void {
  socket.once('secureConnect', () => {
    const { subject, subjectaltname } = socket.getPeerCertificate();
    if (subject !== undefined && subjectaltname === undefined) onNameless();
  });
}
