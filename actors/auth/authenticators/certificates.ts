// Users by their client certificates (SPEC.md "Client certificates", "Authenticating proxy"). The listener has verified the
// chain; here is decided whose authority it ends at, and what the subject says.
import { X509Certificate } from 'node:crypto';
import type { User } from '../../../api/authorization/attributes.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { PeerCertificate } from '../../../transport/http.ts';
import { fingerprintsOf, isSignedByOneOf } from '../../../transport/tls/certificates.ts';
import { Kept } from '../../../values/kept.ts';
import type { Credentials } from '../protocol.ts';
import { type RefusedCredentials, type RequestAuthenticator, withAuthenticatedGroup } from './authenticator.ts';

/** Certificates whose subject is remembered. */
const REMEMBERED_MAX = 10_000;

/** What is read of a certificate once. */
interface KnownCertificate {
  readonly commonName: string;
  readonly user: User;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** The authorities of one bundle, and the subjects of those they vouch for. */
class Authorities {
  #bundlePem: string;
  #fingerprints: ReadonlySet<string>;
  /** By fingerprint, of certificates whose connections were verified by others: whether one of the bundle has signed them as well. */
  readonly #signed = new Kept<string, boolean>(REMEMBERED_MAX);
  readonly #clock: Clock;
  readonly #onRead: (leftMs: number) => void;
  readonly #known = new Kept<string, KnownCertificate>(REMEMBERED_MAX);

  constructor(bundlePem: string, clock: Clock, onRead: (leftMs: number) => void = () => {}) {
    this.#bundlePem = bundlePem;
    this.#fingerprints = fingerprintsOf(bundlePem);
    this.#clock = clock;
    this.#onRead = onRead;
  }

  replace(bundlePem: string): void {
    this.#fingerprints = fingerprintsOf(bundlePem);
    this.#bundlePem = bundlePem;
    this.#signed.clear();
  }

  /** Who shows the certificate, or why it is no good now. */
  read({ der, chain }: PeerCertificate): KnownCertificate | RefusedCredentials {
    const fingerprint = chain[0];
    if (
      fingerprint === undefined ||
      !(chain.some((one) => this.#fingerprints.has(one)) || this.#hasSigned(fingerprint, der))
    )
      return { error: 'the certificate is signed by no known authority' };
    let known = this.#known.get(fingerprint);
    if (known === undefined) {
      known = readCertificate(der);
      this.#known.set(fingerprint, known);
    }
    // A connection may outlive its certificate.
    const nowMs = this.#clock.nowMs();
    this.#onRead(known.notAfterMs - nowMs);
    if (nowMs < known.notBeforeMs || nowMs > known.notAfterMs) return { error: 'the certificate is not valid now' };
    return known;
  }

  /** An authority that is renewed has the key and the name that it had: what it signed is good, whatever its certificate was then. */
  #hasSigned(fingerprint: string, der: Uint8Array): boolean {
    let signed = this.#signed.get(fingerprint);
    if (signed === undefined) {
      signed = isSignedByOneOf(this.#bundlePem, der, this.#clock.nowMs());
      this.#signed.set(fingerprint, signed);
    }
    return signed;
  }
}

/** `--client-ca-file`: the common name is the user, each organization a group. */
export class ClientCertificates implements RequestAuthenticator {
  readonly #authorities: Authorities;

  /** `onSeen`: told with each certificate that an authority vouches for how long it is still valid; below 0: it is not. */
  constructor(authoritiesPem: string, clock: Clock, onSeen: (leftMs: number) => void) {
    this.#authorities = new Authorities(authoritiesPem, clock, onSeen);
  }

  /** From now on other authorities vouch, for open connections too. */
  replaceAuthorities(authoritiesPem: string): void {
    this.#authorities.replace(authoritiesPem);
  }

  user({ peerCertificate }: Credentials): User | RefusedCredentials | undefined {
    if (peerCertificate === undefined) return undefined;
    const known = this.#authorities.read(peerCertificate);
    if ('error' in known) return known;
    return known.commonName === '' ? undefined : known.user;
  }
}

/** `--requestheader-*`: what the headers say, of a proxy that shows the right certificate. */
export class AuthenticatingProxy implements RequestAuthenticator {
  readonly #authorities: Authorities;
  readonly #names: ReadonlySet<string>;

  /** `names`: common names of proxies; empty for any that is verified. */
  constructor(authoritiesPem: string, names: readonly string[], clock: Clock) {
    this.#authorities = new Authorities(authoritiesPem, clock);
    this.#names = new Set(names);
  }

  /** From now on other authorities vouch, for open connections too. */
  replaceAuthorities(authoritiesPem: string): void {
    this.#authorities.replace(authoritiesPem);
  }

  user({ peerCertificate, proxied }: Credentials): User | RefusedCredentials | undefined {
    if (peerCertificate === undefined) return undefined;
    const known = this.#authorities.read(peerCertificate);
    if ('error' in known) return known;
    if (this.#names.size > 0 && !this.#names.has(known.commonName))
      return { error: 'the certificate is that of no known proxy' };
    if (proxied === undefined || proxied.name === '') return undefined;
    return withAuthenticatedGroup({ ...proxied, uid: '' });
  }
}

function readCertificate(der: Uint8Array): KnownCertificate {
  const certificate = new X509Certificate(der);
  const { CN, O } = certificate.toLegacyObject().subject as unknown as Readonly<
    Record<string, string | readonly string[] | undefined>
  >;
  const groups = O === undefined ? [] : [O].flat();
  // Of several common names the last counts, as in Go's reader.
  const commonName = [CN ?? ''].flat().at(-1) ?? '';
  return {
    commonName,
    user: withAuthenticatedGroup({ name: commonName, uid: '', groups, extra: {} }),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
  };
}
