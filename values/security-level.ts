// How weak keys and signatures may be for TLS to go by them (OpenSSL's security level), which is written behind the names of suites.

const LEVEL = '@SECLEVEL=';
/** RSA from 1024 bits on; no certificates signed with SHA-1. */
const USUAL = 1;
/** What names of suites of TLS 1.3 begin with, and no others. */
const TLS13 = 'TLS_';

/**
 * Suites in OpenSSL's names, at one level whatever the version of Node. As of 24 Node's own is 2, which turns away RSA keys of less than
 * 2048 bits: of clients' and webhooks' old authorities, and the server's own, all of which 1.21 takes. A level that is there already is
 * the operator's (`--tls-cipher-list` of Node), and stays. Beside suites of TLS 1.3 alone none can be written: those stay as they are, too.
 */
export function atUsualLevel(suites: string): string {
  const hasOlder = suites.split(':').some((suite) => !suite.startsWith(TLS13));
  return suites.includes(LEVEL) || !hasOlder ? suites : `${suites}:${LEVEL}${USUAL}`;
}
