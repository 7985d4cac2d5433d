// Makes the certificate that a request asks for: its subject, its key and its alternative names, for the usages that its
// spec lists. Whether it should be made is signers.ts. Pure but for the signature.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  authorityKeyId,
  basicConstraints,
  extKeyUsage,
  KEY_USAGE,
  keyUsage,
  PURPOSE,
  pem,
  serialNumber,
  signCertificate,
  signingProblem,
  subjectAltNames,
  subjectKeyId,
  subjectKeyIdOf,
  subjectOf,
} from '../../values/x509.ts';
import type { RequestedParts } from './certificate-request.ts';

/** Bits of the key usage, by the name that requests use. */
const BITS: Readonly<Record<string, number>> = {
  signing: KEY_USAGE.digitalSignature,
  'digital signature': KEY_USAGE.digitalSignature,
  'content commitment': KEY_USAGE.contentCommitment,
  'key encipherment': KEY_USAGE.keyEncipherment,
  'key agreement': KEY_USAGE.keyAgreement,
  'data encipherment': KEY_USAGE.dataEncipherment,
  'cert sign': KEY_USAGE.certSign,
  'crl sign': KEY_USAGE.crlSign,
  'encipher only': KEY_USAGE.encipherOnly,
  'decipher only': KEY_USAGE.decipherOnly,
};

/** Object identifiers of extended usages, likewise. */
const PURPOSES: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': PURPOSE.serverAuth,
  'client auth': PURPOSE.clientAuth,
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** An empty sequence: a subject without names. */
const EMPTY_SUBJECT_BYTES = 2;

/** Why a certificate cannot have the usages; empty where it can. */
export function usagesProblem(usages: readonly string[]): string {
  const unknown = usages.filter((usage) => !Object.hasOwn(BITS, usage) && !Object.hasOwn(PURPOSES, usage));
  return unknown.length === 0 ? '' : `unrecognized usage values: ${JSON.stringify(unknown)}`;
}

/** Whoever has its key signs certificates that are believed by those who know its certificate. */
export class CertificateAuthority {
  readonly notAfterMs: number;
  readonly #key: KeyObject;
  readonly #name: Buffer;
  readonly #publicKey: Buffer;
  readonly #keyId: Buffer | undefined;

  /** From PEM texts. Throws where they are none, do not belong together, or the key is of a kind that signs no certificates here. */
  constructor({ certPem, keyPem }: { readonly certPem: string; readonly keyPem: string }) {
    const certificate = new X509Certificate(certPem);
    this.#key = createPrivateKey(keyPem);
    if (!certificate.checkPrivateKey(this.#key)) throw new Error('the key does not belong to the certificate');
    const problem = signingProblem(this.#key);
    if (problem !== undefined) throw new Error(problem);
    this.#name = subjectOf(certificate.raw);
    this.#publicKey = certificate.publicKey.export({ type: 'spki', format: 'der' });
    this.#keyId = subjectKeyIdOf(certificate.raw);
    this.notAfterMs = Date.parse(certificate.validTo);
  }

  /**
   * The certificate, as PEM.
   *
   * @param usages that `usagesProblem` finds nothing wrong with.
   * @param random of 16 bytes, for the serial number.
   */
  issue(
    { subject, publicKey, alternativeNames }: RequestedParts,
    usages: readonly string[],
    { notBefore, notAfter, random }: { readonly notBefore: Date; readonly notAfter: Date; readonly random: Uint8Array },
  ): string {
    const bits = usages.flatMap((usage) => (Object.hasOwn(BITS, usage) ? [BITS[usage]!] : []));
    const purposes = new Set(usages.flatMap((usage) => (Object.hasOwn(PURPOSES, usage) ? [PURPOSES[usage]!] : [])));
    const extensions = [
      ...(bits.length === 0 ? [] : [keyUsage(bits)]),
      ...(purposes.size === 0 ? [] : [extKeyUsage([...purposes])]),
      basicConstraints(false),
      subjectKeyId(publicKey),
      authorityKeyId(this.#publicKey, this.#keyId),
      ...(alternativeNames.length === 0
        ? []
        : [subjectAltNames(alternativeNames, subject.length === EMPTY_SUBJECT_BYTES)]),
    ];
    const serial = serialNumber(random);
    const fields = { serial, issuer: this.#name, notBefore, notAfter, subject, publicKey, extensions };
    return pem('CERTIFICATE', signCertificate(fields, this.#key));
  }
}
