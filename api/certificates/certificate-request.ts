// Reads the few parts of a PKCS #10 certificate request (RFC 2986) that decide which signer it is for: the subject's
// names and the kinds of alternative names; and the signed parts, for whoever checks the signature.
import { type DerNode, derPart, derParts, isDerSequence, objectIdOf, readDer } from '../../values/der.ts';

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: number;
  readonly emails: number;
  readonly uris: number;
  readonly addresses: number;
}

/** What a request's signature is over, and with what. All are DER but the signature. */
export interface SignedRequest {
  readonly signed: Buffer;
  readonly publicKey: Buffer;
  /** The object identifier of the algorithm, dotted. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

/** What of a request a certificate for it takes over, all DER. */
export interface RequestedParts {
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  /** GeneralNames of the kinds that certificates here name: mail, DNS, URI and address. */
  readonly alternativeNames: readonly Buffer[];
}

const OID_COMMON_NAME = '2.5.4.3';
const OID_ORGANIZATION = '2.5.4.10';
const OID_EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const OID_ALTERNATIVE_NAMES = '2.5.29.17';
const TAG_ATTRIBUTES = 0xa0;
/** GeneralName tags (RFC 5280, 4.2.1.6). */
const TAG_EMAIL = 0x81;
const TAG_DNS = 0x82;
const TAG_URI = 0x86;
const TAG_ADDRESS = 0x87;
const NAME_TAGS: readonly number[] = [TAG_EMAIL, TAG_DNS, TAG_URI, TAG_ADDRESS];

/** The first block decides. Before it there may be text, such as `openssl req -text` writes. */
const FIRST_BLOCK = /(?:^|\n)[^\S\n]*(?=-----BEGIN )/;
const PEM = /-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/y;

/** Parses a PEM block `CERTIFICATE REQUEST`; undefined when it is none or its structure is broken. */
export function parseCertificateRequest(pem: string): CertificateRequest | undefined {
  return read(pem, requestOf);
}

/** The signed parts of a PEM block `CERTIFICATE REQUEST`; undefined when it is none or its structure is broken. */
export function signedRequest(pem: string): SignedRequest | undefined {
  return read(pem, (outer) => {
    const info = derPart(outer, 0);
    return {
      signed: info.whole,
      publicKey: derPart(info, 2).whole,
      algorithm: objectIdOf(derPart(derPart(outer, 1), 0)),
      // A bit string begins with the number of bits that do not count, which is none.
      signature: derPart(outer, 2).content.subarray(1),
    };
  });
}

/** The parts of a PEM block `CERTIFICATE REQUEST` for its certificate; undefined when it is none or broken. */
export function requestedParts(pem: string): RequestedParts | undefined {
  return read(pem, (outer) => {
    const info = derPart(outer, 0);
    return {
      subject: derPart(info, 1).whole,
      publicKey: derPart(info, 2).whole,
      alternativeNames: alternativeNames(derParts(info))
        .filter(({ tag }) => NAME_TAGS.includes(tag))
        .map(({ whole }) => whole),
    };
  });
}

function read<T>(pem: string, take: (outer: DerNode) => T): T | undefined {
  const first = FIRST_BLOCK.exec(pem);
  if (first === null) return undefined;
  PEM.lastIndex = first.index + first[0].length;
  const match = PEM.exec(pem);
  if (match === null) return undefined;
  try {
    return take(readDer(Buffer.from(match[1]!, 'base64')));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function requestOf(outer: DerNode): CertificateRequest {
  const info = derParts(derPart(outer, 0));
  const subject = info[1];
  if (!isDerSequence(outer) || subject === undefined) throw new RangeError('not a request');
  let commonName = '';
  const organizations: string[] = [];
  for (const pair of derParts(subject).flatMap(derParts)) {
    const name = objectIdOf(derPart(pair, 0));
    const text = derPart(pair, 1).content.toString('utf8');
    if (name === OID_COMMON_NAME) commonName = text;
    if (name === OID_ORGANIZATION) organizations.push(text);
  }
  const names = alternativeNames(info);
  const count = (kind: number) => names.filter(({ tag }) => tag === kind).length;
  return {
    commonName,
    organizations,
    dnsNames: count(TAG_DNS),
    emails: count(TAG_EMAIL),
    uris: count(TAG_URI),
    addresses: count(TAG_ADDRESS),
  };
}

function alternativeNames(info: readonly DerNode[]): readonly DerNode[] {
  return info
    .filter((node) => node.tag === TAG_ATTRIBUTES)
    .flatMap(derParts)
    .filter((attribute) => objectIdOf(derPart(attribute, 0)) === OID_EXTENSION_REQUEST)
    .flatMap((attribute) => derParts(derPart(derPart(attribute, 1), 0)))
    .map(derParts)
    .filter((extension) => objectIdOf(extension[0]) === OID_ALTERNATIVE_NAMES)
    .flatMap((extension) => derParts(readDer(extension.at(-1)!.content)));
}
