// A self-signed server certificate (RFC 5280): an EC P-256 key, its own authority, so that a client can be given the
// certificate as the one to trust.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import {
  bitString,
  booleanTrue,
  generalizedTime,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  utf8String,
} from './der.ts';

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const DAY_MS = 86_400_000;
const VALID_MS = 3650 * DAY_MS;
/** Clients whose clock is a little behind accept it all the same. */
const BACKDATED_MS = DAY_MS;
/** digitalSignature, keyEncipherment, keyCertSign: bits 0, 2 and 5. */
const KEY_USAGE = Buffer.from([0b1010_0100]);
const KEY_USAGE_UNUSED_BITS = 2;

export interface SelfSignedPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** Makes a pair for the given host names and addresses, valid for ten years from `nowMs`. */
export function makeSelfSigned(commonName: string, names: readonly string[], nowMs: number): SelfSignedPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const name = sequence(setOf(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    sequence(generalizedTime(nowMs - BACKDATED_MS), generalizedTime(nowMs + VALID_MS)),
    name,
    keyInfo,
    tagged(0xa3, sequence(...extensions(names, keyInfo))),
  );
  const certificate = sequence(body, algorithm, bitString(sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    certPem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function extensions(names: readonly string[], keyInfo: Uint8Array): Buffer[] {
  const keyId = createHash('sha1').update(keyInfo).digest();
  return [
    extension(OID.basicConstraints, sequence(booleanTrue()), true),
    extension(OID.keyUsage, bitString(KEY_USAGE, KEY_USAGE_UNUSED_BITS), true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth)), false),
    extension(OID.subjectKeyIdentifier, octetString(keyId), false),
    extension(OID.subjectAltName, sequence(...names.map(alternativeName)), false),
  ];
}

function extension(oid: string, value: Uint8Array, isCritical: boolean): Buffer {
  return sequence(objectIdentifier(oid), ...(isCritical ? [booleanTrue()] : []), octetString(value));
}

function alternativeName(name: string): Buffer {
  if (isIPv4(name)) return tagged(0x87, Buffer.from(name.split('.').map(Number)));
  if (isIPv6(name)) return tagged(0x87, ipv6Bytes(name));
  return tagged(0x82, Buffer.from(name, 'ascii'));
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser writes the canonical form, without an embedded IPv4 part.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = canonical.split('::');
  const groupsOf = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const before = groupsOf(head);
  const after = canonical.includes('::') ? groupsOf(tail) : [];
  const groups = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(groups.flatMap((group) => [group >>> 8, group & 0xff]));
}
