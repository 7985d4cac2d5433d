// Reads the few parts of a PKCS #10 certificate request (RFC 2986) that decide which signer it is for: the subject's
// names and the kinds of alternative names; and the signed parts, for whoever checks the signature.

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
  /** The object identifier of the algorithm, in hexadecimal. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

interface Node {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

const TAG_OID = 0x06;
const TAG_SEQUENCE = 0x30;
const TAG_ATTRIBUTES = 0xa0;
const OID_COMMON_NAME = '550403';
const OID_ORGANIZATION = '55040a';
const OID_EXTENSION_REQUEST = '2a864886f70d01090e';
const OID_ALTERNATIVE_NAMES = '551d11';
/** GeneralName tags (RFC 5280, 4.2.1.6). */
const TAG_EMAIL = 0x81;
const TAG_DNS = 0x82;
const TAG_URI = 0x86;
const TAG_ADDRESS = 0x87;

const PEM = /^\s*-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/;

/** Parses a PEM block `CERTIFICATE REQUEST`; undefined when it is none or its structure is broken. */
export function parseCertificateRequest(pem: string): CertificateRequest | undefined {
  const match = PEM.exec(pem);
  if (match === null) return undefined;
  try {
    return requestOf(Buffer.from(match[1]!, 'base64'));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The signed parts of a PEM block `CERTIFICATE REQUEST`; undefined when it is none or its structure is broken. */
export function signedRequest(pem: string): SignedRequest | undefined {
  const match = PEM.exec(pem);
  if (match === null) return undefined;
  const der = Buffer.from(match[1]!, 'base64');
  try {
    const outer = nodeAt(der, 0, der.length);
    const info = child(der, outer, 0);
    const publicKey = child(der, info, 2);
    const signature = child(der, outer, 2);
    return {
      signed: der.subarray(outer.start, info.end),
      publicKey: der.subarray(child(der, info, 1).end, publicKey.end),
      algorithm: oidOf(der, child(der, child(der, outer, 1), 0)),
      // A bit string begins with the number of bits that do not count, which is none.
      signature: der.subarray(signature.start + 1, signature.end),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function requestOf(der: Buffer): CertificateRequest {
  const outer = nodeAt(der, 0, der.length);
  const info = childrenOf(der, child(der, outer, 0));
  const subject = info[1];
  if (outer.tag !== TAG_SEQUENCE || subject === undefined) throw new RangeError('not a request');
  let commonName = '';
  const organizations: string[] = [];
  for (const set of childrenOf(der, subject)) {
    for (const pair of childrenOf(der, set)) {
      const name = oidOf(der, child(der, pair, 0));
      const value = child(der, pair, 1);
      const text = der.toString('utf8', value.start, value.end);
      if (name === OID_COMMON_NAME) commonName = text;
      if (name === OID_ORGANIZATION) organizations.push(text);
    }
  }
  const tags = alternativeNameTags(der, info);
  const count = (tag: number) => tags.filter((one) => one === tag).length;
  return {
    commonName,
    organizations,
    dnsNames: count(TAG_DNS),
    emails: count(TAG_EMAIL),
    uris: count(TAG_URI),
    addresses: count(TAG_ADDRESS),
  };
}

function alternativeNameTags(der: Buffer, info: readonly Node[]): number[] {
  const tags: number[] = [];
  for (const attributes of info.filter((node) => node.tag === TAG_ATTRIBUTES)) {
    for (const attribute of childrenOf(der, attributes)) {
      if (oidOf(der, child(der, attribute, 0)) !== OID_EXTENSION_REQUEST) continue;
      for (const extension of childrenOf(der, child(der, child(der, attribute, 1), 0))) {
        const parts = childrenOf(der, extension);
        if (oidOf(der, parts[0]) !== OID_ALTERNATIVE_NAMES) continue;
        const octets = parts.at(-1)!;
        const names = nodeAt(der, octets.start, octets.end);
        tags.push(...childrenOf(der, names).map((node) => node.tag));
      }
    }
  }
  return tags;
}

function oidOf(der: Buffer, node: Node | undefined): string {
  return node?.tag === TAG_OID ? der.toString('hex', node.start, node.end) : '';
}

function child(der: Buffer, parent: Node, index: number): Node {
  const node = childrenOf(der, parent)[index];
  if (node === undefined) throw new RangeError('a part is missing');
  return node;
}

function childrenOf(der: Buffer, parent: Node): Node[] {
  const nodes: Node[] = [];
  for (let at = parent.start; at < parent.end; ) {
    const node = nodeAt(der, at, parent.end);
    nodes.push(node);
    at = node.end;
  }
  return nodes;
}

function nodeAt(der: Buffer, at: number, limit: number): Node {
  if (at + 2 > limit) throw new RangeError('cut off');
  const first = der[at + 1]!;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || at + 2 + lengthBytes > limit) throw new RangeError('length out of bounds');
  const length = lengthBytes === 0 ? (first < 0x80 ? first : Number.NaN) : der.readUIntBE(at + 2, lengthBytes);
  const start = at + 2 + lengthBytes;
  if (!(start + length <= limit)) throw new RangeError('length out of bounds');
  return { tag: der[at]!, start, end: start + length };
}
