// Cipher suites by the names operators give them (SPEC.md "Transport security options"), as the TLS libraries under the
// listeners know them. Which suites may be named is the option table's.
import { getCiphers } from 'node:tls';

/** Suites of TLS 1.3 have one name everywhere. */
const TLS13_SUITES: readonly string[] = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
];

const OPENSSL_NAMES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
};

/** Known to OpenSSL, on which Node's listener stands, and not to BoringSSL, on which that of uws does. */
const ABSENT_FROM_UWS: ReadonlySet<string> = new Set([
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'AES128-SHA256',
]);

export interface CipherChoice {
  /** Up to TLS 1.2, in OpenSSL's names. */
  readonly older: readonly string[];
  /** Of TLS 1.3. All of them where the operator names none: as in Go, a list of older suites is not about TLS 1.3. */
  readonly tls13: readonly string[];
}

/** The suites to offer, of those named the ones that are there; `missing` are the others' names. */
export function chooseCiphers(names: readonly string[]): CipherChoice & { readonly missing: readonly string[] } {
  // Nearly every start: the library's modules are loaded to be asked.
  if (names.length === 0) return { older: [], tls13: TLS13_SUITES, missing: [] };
  const present = new Set(getCiphers());
  const tls13 = names.filter((name) => TLS13_SUITES.includes(name));
  const others = names.filter((name) => !TLS13_SUITES.includes(name));
  const isPresent = (name: string): boolean => present.has(OPENSSL_NAMES[name]?.toLowerCase() ?? '');
  return {
    older: [...new Set(others.filter(isPresent).map((name) => OPENSSL_NAMES[name]!))],
    tls13: tls13.length === 0 ? TLS13_SUITES : tls13,
    missing: others.filter((name) => !isPresent(name)),
  };
}

/** True where the listener of uws can offer exactly these: of TLS 1.3 it always offers all, and it needs an older one. */
export function isChoiceForUws({ older, tls13 }: CipherChoice): boolean {
  return tls13.length === TLS13_SUITES.length && older.length > 0 && !older.some((name) => ABSENT_FROM_UWS.has(name));
}
