// Makes a certificate that is its own authority (X.509 v3, RFC 5280): ECDSA on P-256, valid for the names it is given.
// A peer that trusts it needs nothing else.
import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import {
  derBits,
  derInteger,
  derObjectId,
  derOctets,
  derSequence,
  derSet,
  derTagged,
  derText,
  derTime,
  derTrue,
} from '../../values/der.ts';
import { ipBytes, parseIp } from '../../values/ip.ts';

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** digitalSignature, to serve TLS, and keyCertSign, to be its own authority: bits 0 and 5. */
const KEY_USAGE_BITS = Buffer.from([0b1000_0100]);
const KEY_USAGE_UNUSED_BITS = 2;

/** The interface that a link-local address is of, which no certificate names. */
const ZONE = /%.*$/;
const SERIAL_BYTES = 16;
const COMMON_NAME_MAX = 64;

export interface CertificateRequest {
  readonly commonName: string;
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** What the key may prove: a server's identity when absent. */
  readonly purpose?: 'serverAuth' | 'clientAuth';
}

/** A new key and the certificate for it, as PEM. */
export async function makeSelfSigned(request: CertificateRequest): Promise<{ certPem: string; keyPem: string }> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const algorithm = derSequence(derObjectId(OID.ecdsaWithSha256));
  const signed = toBeSigned(request, algorithm, publicKey);
  const certificate = derSequence(signed, algorithm, derBits(sign('sha256', signed, privateKey)));
  return {
    certPem: pem('CERTIFICATE', certificate),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** The names as a SubjectAltName extension; a certificate that contains these bytes is for exactly these names. */
export function subjectAltName(names: readonly string[]): Buffer {
  const entries = names.map((name) => {
    const ip = parseIp(name.replace(ZONE, ''));
    return ip === undefined ? derTagged(2, false, Buffer.from(name, 'latin1')) : derTagged(7, false, ipBytes(ip));
  });
  return extension(OID.subjectAltName, false, derSequence(...entries));
}

function toBeSigned(request: CertificateRequest, algorithm: Buffer, publicKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(spki).digest().subarray(0, 20);
  const name = derSequence(
    derSet(derSequence(derObjectId(OID.commonName), derText(request.commonName.slice(0, COMMON_NAME_MAX)))),
  );
  const extensions = derSequence(
    extension(OID.basicConstraints, true, derSequence(derTrue())),
    extension(OID.keyUsage, true, derBits(KEY_USAGE_BITS, KEY_USAGE_UNUSED_BITS)),
    extension(OID.extKeyUsage, false, derSequence(derObjectId(OID[request.purpose ?? 'serverAuth']))),
    extension(OID.subjectKeyIdentifier, false, derOctets(keyId)),
    extension(OID.authorityKeyIdentifier, false, derSequence(derTagged(0, false, keyId))),
    subjectAltName(request.names),
  );
  return derSequence(
    derTagged(0, true, derInteger(Buffer.from([2]))),
    derInteger(serialNumber()),
    algorithm,
    name,
    derSequence(derTime(request.notBefore), derTime(request.notAfter)),
    name,
    spki,
    derTagged(3, true, extensions),
  );
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return derSequence(derObjectId(id), ...(isCritical ? [derTrue()] : []), derOctets(value));
}

/** Positive and never zero (RFC 5280 4.1.2.2). */
function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
