// Client certificates that OpenSSL refuses for their purpose and 1.21 lets in: those for any purpose, and those whose key is not said to
// sign (what a key is for is not looked at there). Pure but for arithmetic.
import { X509Certificate } from 'node:crypto';
import { isSignedBy } from './certificates.ts';

const ANY_PURPOSE = '2.5.29.37.0';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** What Node calls OpenSSL's refusal. It tells the last of several: signatures and times, which it looks at later, are in order. */
const REFUSAL = 'INVALID_PURPOSE';

/**
 * True where nothing but its purpose is against a client's certificate, and that is nothing to us. That the chain leads to nobody who is
 * trusted OpenSSL finds out before it looks at purposes, and then does not tell.
 *
 * @param error what the socket says is against it.
 * @param chain DER of the certificate, of its issuer and so on.
 * @param authorities fingerprints of those who are trusted.
 */
export function isOfGoodPurpose(
  error: unknown,
  chain: readonly Uint8Array[],
  authorities: ReadonlySet<string>,
): boolean {
  // Without an issuer its signature was not looked at.
  if (String(error) !== REFUSAL || chain.length < 2) return false;
  const certificates = chain.map((der) => new X509Certificate(der));
  if (!certificates.some(({ fingerprint256 }) => authorities.has(fingerprint256))) return false;
  return certificates.every((certificate, index) => {
    const issuer = certificates[index + 1];
    return isForClients(certificate) && (issuer === undefined || isSignedBy(certificate, issuer));
  });
}

/** Without a word of purposes it is for all of them. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  // Node calls by this name what the extended usages are.
  const purposes = (keyUsage ?? []) as readonly string[];
  return purposes.length === 0 || purposes.includes(ANY_PURPOSE) || purposes.includes(CLIENT_AUTH);
}
