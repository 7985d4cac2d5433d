// What clients show of themselves on a uws listener. The binary ends the handshake of whoever shows a certificate that no authority of
// the listener vouches for, or not for this use, or now; of a request it tells the certificate of its connection, as a PEM text each
// time, and not which others came with it. So who is here has been verified, and is known by the text.

import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { X509Certificate } from 'node:crypto';
import { Kept } from '../../values/kept.ts';
import type { PeerCertificate } from '../http.ts';

/** Certificates that are not read again. */
const KNOWN_MAX = 10_000;

/** There, and left out of the declared type. */
interface CertifiedResponse {
  /** PEM; empty for a client that has shown none. */
  getX509Certificate(): string;
}

export class ShownCertificates {
  readonly #known = new Kept<string, PeerCertificate>(KNOWN_MAX);

  /** Of a request whose connection is open. */
  of(native: NativeResponse): PeerCertificate | undefined {
    const pem = (native as unknown as CertifiedResponse).getX509Certificate();
    if (pem === '') return undefined;
    let certificate = this.#known.get(pem);
    if (certificate === undefined) {
      const { raw, fingerprint256 } = new X509Certificate(pem);
      certificate = { der: new Uint8Array(raw), chain: [fingerprint256] };
      this.#known.set(pem, certificate);
    }
    return certificate;
  }
}
