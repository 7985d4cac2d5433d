// What X.509 certificates are made of (RFC 5280), on top of DER: their fields, their extensions, the signature over them.
// Knows no policy: what a certificate may say is for those who ask for one.
import { createHash, type KeyObject, sign } from 'node:crypto';
import {
  derBits,
  derInteger,
  derNull,
  derObjectId,
  derOctets,
  derPart,
  derParts,
  derSequence,
  derTagged,
  derTime,
  derTrue,
  objectIdOf,
  readDer,
} from './der.ts';

const OID = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const;

/** By the kind of the key that signs: how the signature is named, and what is signed of the bytes (null: they are). */
const SIGNATURES: ReadonlyMap<string | undefined, { readonly algorithm: Buffer; readonly digest: string | null }> =
  new Map([
    ['ec', { algorithm: derSequence(derObjectId('1.2.840.10045.4.3.2')), digest: 'sha256' }],
    ['rsa', { algorithm: derSequence(derObjectId('1.2.840.113549.1.1.11'), derNull()), digest: 'sha256' }],
    ['ed25519', { algorithm: derSequence(derObjectId('1.3.101.112')), digest: null }],
  ]);

/** What a key may be used for, each with its bit (RFC 5280 4.2.1.3). */
export const KEY_USAGE = {
  digitalSignature: 0,
  contentCommitment: 1,
  keyEncipherment: 2,
  dataEncipherment: 3,
  keyAgreement: 4,
  certSign: 5,
  crlSign: 6,
  encipherOnly: 7,
  decipherOnly: 8,
} as const;

/** Purposes, by their object identifiers. */
export const PURPOSE = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

const KEY_ID_BYTES = 20;
/** Of the extensions among the fields that are signed. */
const EXTENSIONS_TAG = 0xa3;

/** All of a certificate but its signature. Names, keys and extensions are DER. */
export interface CertificateFields {
  readonly serial: Uint8Array;
  readonly issuer: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
}

/** Why certificates cannot be signed with a private key, if so. */
export function signingProblem({ asymmetricKeyType }: KeyObject): string | undefined {
  if (SIGNATURES.has(asymmetricKeyType)) return undefined;
  return `no certificates are signed here with a key of the kind ${asymmetricKeyType}`;
}

/** The certificate, signed with a private key, as DER. Throws for one that `signingProblem` tells of. */
export function signCertificate(fields: CertificateFields, privateKey: KeyObject): Buffer {
  const { algorithm, digest } = SIGNATURES.get(privateKey.asymmetricKeyType)!;
  const signed = derSequence(
    derTagged(0, true, derInteger(Buffer.from([2]))),
    derInteger(fields.serial),
    algorithm,
    fields.issuer,
    derSequence(derTime(fields.notBefore), derTime(fields.notAfter)),
    fields.subject,
    fields.publicKey,
    derTagged(3, true, derSequence(...fields.extensions)),
  );
  return derSequence(signed, algorithm, derBits(sign(digest, signed, privateKey)));
}

/** A serial number of random bytes: positive and never zero (RFC 5280 4.1.2.2). */
export function serialNumber(random: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(random);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

/** Subject of a certificate, as DER. */
export function subjectOf(certificate: Buffer): Buffer {
  return derPart(derPart(readDer(certificate), 0), 5).whole;
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return derSequence(derObjectId(id), ...(isCritical ? [derTrue()] : []), derOctets(value));
}

/** Whether the certificate may sign others. */
export function basicConstraints(isAuthority: boolean): Buffer {
  return extension(OID.basicConstraints, true, isAuthority ? derSequence(derTrue()) : derSequence());
}

/** @param bits of `KEY_USAGE`; at least one. */
export function keyUsage(bits: readonly number[]): Buffer {
  const last = Math.max(...bits);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7);
  return extension(OID.keyUsage, true, derBits(bytes, 7 - (last & 7)));
}

/** @param purposes object identifiers; at least one. */
export function extKeyUsage(purposes: readonly string[]): Buffer {
  return extension(OID.extKeyUsage, false, derSequence(...purposes.map(derObjectId)));
}

/** @param names GeneralNames (RFC 5280 4.2.1.6); a critical extension where there is no subject beside them. */
export function subjectAltNames(names: readonly Buffer[], isCritical = false): Buffer {
  return extension(OID.subjectAltName, isCritical, derSequence(...names));
}

/** The extension by which a certificate says which key it is of. */
export function subjectKeyId(publicKey: Buffer): Buffer {
  return extension(OID.subjectKeyIdentifier, false, derOctets(keyId(publicKey)));
}

/**
 * @param publicKey of the authority.
 * @param said which key it is of by its own certificate: where that is another name for it, the two are not known to belong together.
 */
export function authorityKeyId(publicKey: Buffer, said: Buffer = keyId(publicKey)): Buffer {
  return extension(OID.authorityKeyIdentifier, false, derSequence(derTagged(0, false, said)));
}

/** Which key a certificate says that it is of; undefined where it does not. */
export function subjectKeyIdOf(certificate: Buffer): Buffer | undefined {
  const extensions = derParts(derPart(readDer(certificate), 0)).find(({ tag }) => tag === EXTENSIONS_TAG);
  if (extensions === undefined) return undefined;
  const found = derParts(derPart(extensions, 0)).find(
    (one) => objectIdOf(derPart(one, 0)) === OID.subjectKeyIdentifier,
  );
  return found && readDer(derParts(found).at(-1)!.content).content;
}

function keyId(publicKey: Buffer): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, KEY_ID_BYTES);
}

/** A PEM block. */
export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
