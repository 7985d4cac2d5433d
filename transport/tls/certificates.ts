// Certificates in PEM (RFC 7468): those of a bundle, and what is wrong with a text that should hold some.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPair } from '../http.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM bundle. Throws where one cannot be read. */
function certificatesOf(bundlePem: string): readonly X509Certificate[] {
  return (bundlePem.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
}

/** SHA-256 fingerprints of the certificates of a PEM bundle, upper-case hexadecimal with colons. Throws where one cannot be read. */
export function fingerprintsOf(bundlePem: string): ReadonlySet<string> {
  return new Set(certificatesOf(bundlePem).map(({ fingerprint256 }) => fingerprint256));
}

/** When a certificate in PEM runs out, in milliseconds; infinite for a text that is none, which does not say so. */
export function expiryOf(pem: string): number {
  const certificate = readOrNone(() => new X509Certificate(pem));
  return certificate === undefined ? Number.POSITIVE_INFINITY : Date.parse(certificate.validTo);
}

/** Whether the issuer may sign, and has signed the certificate. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Whether an authority of a PEM bundle that is valid now has signed the certificate itself. Throws where one cannot be read. */
export function isSignedByOneOf(bundlePem: string, der: Uint8Array, nowMs: number): boolean {
  const certificate = new X509Certificate(der);
  return certificatesOf(bundlePem).some(
    (issuer) => untimelinessOf(issuer, nowMs) === undefined && isSignedBy(certificate, issuer),
  );
}

/** The subject of the first authority of a bundle that is signed by one which is not in it, if there is such. Throws where one cannot be read. */
export function signedElsewhere(bundlePem: string): string | undefined {
  const authorities = certificatesOf(bundlePem);
  const found = authorities.find((one) => !authorities.some((issuer) => one.checkIssued(issuer)));
  return found?.subject.replaceAll('\n', ', ');
}

/** TLS options by which each authority of a bundle is believed by itself, whether or not another vouches for it. */
export function believing(bundlePem: string): { readonly ca: string; readonly allowPartialTrustChain: true } {
  return { ca: bundlePem, allowPartialTrustChain: true };
}

/** Why a text is no bundle of authorities, if so. One that is being written is none: whom its last ones let in would be refused meanwhile. */
export function bundleProblem(bundlePem: string): string | undefined {
  if (endsWithinBlock(bundlePem)) return 'ends within a certificate';
  try {
    return certificatesOf(bundlePem).length > 0 ? undefined : 'holds no certificates';
  } catch {
    return 'holds a certificate that cannot be read';
  }
}

function endsWithinBlock(pem: string): boolean {
  const last = pem.lastIndexOf('-----BEGIN ');
  return last >= 0 && !/-----END [^-]+-----/.test(pem.slice(last));
}

/** How PEM says that a key has a passphrase: in PKCS #8, and in the older forms. */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Why certificate and key cannot be used together, if so. */
export function pairProblem({ certPem, keyPem }: KeyPair): string | undefined {
  // OpenSSL would ask for the passphrase, and says that it was interrupted.
  if (ENCRYPTED.test(keyPem)) return 'the key is encrypted, and nobody can be asked for its passphrase';
  const certificate = readOrNone(() => new X509Certificate(certPem));
  if (certificate === undefined) return 'the certificate is no certificate in PEM';
  const key = readOrNone(() => createPrivateKey(keyPem));
  if (key === undefined) return 'the key is no private key in PEM';
  return certificate.checkPrivateKey(key) ? undefined : 'the key does not belong to the certificate';
}

/** What OpenSSL says of a text that is none are codes, which do not tell what it should have been. */
function readOrNone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What of its dates keeps clients from believing a certificate now, if anything. Throws where it cannot be read. */
export function untimeliness(certPem: string, nowMs: number): string | undefined {
  return untimelinessOf(new X509Certificate(certPem), nowMs);
}

function untimelinessOf({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  if (Date.parse(validTo) <= nowMs) return `has ended (${validTo})`;
  return Date.parse(validFrom) > nowMs ? `begins later (${validFrom})` : undefined;
}
