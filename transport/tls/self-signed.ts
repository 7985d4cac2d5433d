// Makes a certificate that is its own authority (X.509 v3, RFC 5280): ECDSA on P-256, valid for the names it is given.
// A peer that trusts it needs nothing else.
import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { promisify } from 'node:util';
import { derObjectId, derSequence, derSet, derTagged, derText } from '../../values/der.ts';
import { ipBytes, parseIp } from '../../values/ip.ts';
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
  subjectAltNames,
  subjectKeyId,
} from '../../values/x509.ts';

const OID_COMMON_NAME = '2.5.4.3';

/** The interface that a link-local address is of, which no certificate names. */
const ZONE = /%.*$/;
/** What stands between a blank and a tilde. */
const ASCII = /^[ -~]*$/;
const SERIAL_BYTES = 16;
const COMMON_NAME_MAX = 64;

export interface CertificateRequest {
  readonly commonName: string;
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** What the key may prove: a server's identity when absent. An authority signs, and proves nothing itself. */
  readonly purpose?: 'serverAuth' | 'clientAuth' | 'authority';
}

/** A new key and the certificate for it, as PEM. */
export async function makeSelfSigned(request: CertificateRequest): Promise<{ certPem: string; keyPem: string }> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  return {
    certPem: pem('CERTIFICATE', certificate(request, publicKey, privateKey)),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/**
 * The names as a SubjectAltName extension; a certificate that contains these bytes is for exactly these names. One beyond ASCII, which a
 * machine's may be, stands there as clients ask for it (xn--…): with any such byte, Go's take the whole certificate for malformed.
 */
export function subjectAltName(names: readonly string[]): Buffer {
  const entries = names.flatMap((name) => {
    const ip = parseIp(name.replace(ZONE, ''));
    if (ip !== undefined) return [derTagged(7, false, ipBytes(ip))];
    const asked = ASCII.test(name) ? name : domainToASCII(name);
    return asked === '' ? [] : [derTagged(2, false, Buffer.from(asked, 'latin1'))];
  });
  return subjectAltNames(entries);
}

function certificate(request: CertificateRequest, key: KeyObject, privateKey: KeyObject): Buffer {
  const publicKey = key.export({ type: 'spki', format: 'der' });
  const { commonName, names, purpose = 'serverAuth', notBefore, notAfter } = request;
  const name = derSequence(
    derSet(derSequence(derObjectId(OID_COMMON_NAME), derText(commonName.slice(0, COMMON_NAME_MAX)))),
  );
  return signCertificate(
    {
      serial: serialNumber(randomBytes(SERIAL_BYTES)),
      issuer: name,
      subject: name,
      notBefore,
      notAfter,
      publicKey,
      extensions: [
        basicConstraints(true),
        keyUsage([KEY_USAGE.digitalSignature, KEY_USAGE.certSign]),
        ...(purpose === 'authority' ? [] : [extKeyUsage([PURPOSE[purpose]])]),
        subjectKeyId(publicKey),
        authorityKeyId(publicKey),
        ...(names.length === 0 ? [] : [subjectAltName(names)]),
      ],
    },
    privateKey,
  );
}
