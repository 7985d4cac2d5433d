// The TLS server of the node listener, and its neighbours for clients that connect to an address with a certificate of its
// own. Owns their secure contexts: which certificate a client gets, what is spoken, and how all of it is replaced.
import { constants } from 'node:crypto';
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import type { Socket } from 'node:net';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext, type SecureContextOptions } from 'node:tls';
import { OrchError } from '../../runtime/errors.ts';
import { unmappedText } from '../../values/ip.ts';
import { atUsualLevel } from '../../values/security-level.ts';
import type { CipherChoice } from '../cipher-suites.ts';
import type { KeyPair, TlsMaterial } from '../http.ts';
import { believing, fingerprintsOf } from '../tls/certificates.ts';
import { type ServerNames, serverNames } from '../tls/server-names.ts';

export interface SecureServers {
  /** The one that listens. */
  readonly main: Http2SecureServer;
  /** All there are. They need the same listeners attached. */
  readonly all: readonly Http2SecureServer[];
  /** Fingerprints of the authorities that clients' certificates are of. */
  readonly authorities: ReadonlySet<string>;
  /**
   * As Listener.replaceTls. True: other authorities vouch for clients from now on. A connection stays verified, or not, by those of its
   * handshake, so that whoever has one is to come anew. Throws BadConfiguration.
   */
  replace(tls: TlsMaterial): boolean;
  /** Whether other authorities have taken the place of those that were asked at the connection's handshake. */
  isOutdated(connection: object): boolean;
}

/** Makes the servers; `options` are those beside TLS. Throws BadConfiguration where the material cannot be used. */
export function createSecureServers(options: SecureServerOptions, tls: TlsMaterial): SecureServers {
  let names = contextsOf(tls);
  let own = ownContext(tls);
  let authorities = authoritiesOf(tls);
  const create = (pair: KeyPair): Http2SecureServer =>
    usable(() => {
      const server = createSecureServer({
        ...options,
        ...contextOptions(tls, pair),
        ...(tls.clientCaPem === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
        // A name that is nobody's gets the listener's own certificate, at whatever address it is asked for.
        SNICallback: (name, callback) => callback(null, names.find(name)?.context ?? own),
      });
      setContext(server, tls, pair);
      return server;
    });
  const main = create(tls);
  const byAddress = new Map([...names.byAddress].map(([address, { pair }]) => [address, create(pair)]));
  if (byAddress.size > 0) spread(main, byAddress);
  const all = [main, ...byAddress.values()];
  let { clientCaPem } = tls;
  /** How often they were replaced, and how often before a connection's handshake. */
  let replacements = 0;
  const before = new WeakMap<object, number>();
  if (clientCaPem !== undefined)
    for (const server of all) server.on('secureConnection', (socket) => before.set(socket, replacements));
  return {
    main,
    all,
    isOutdated: (connection) => replacements > 0 && before.get(connection) !== replacements,
    get authorities() {
      return authorities;
    },
    replace(next) {
      const nextNames = contextsOf(next);
      const nextOwn = ownContext(next);
      names = nextNames;
      own = nextOwn;
      authorities = authoritiesOf(next);
      setContext(main, next, next);
      for (const [address, server] of byAddress) setContext(server, next, names.byAddress.get(address)?.pair ?? next);
      // Who was never asked for a certificate is not asked now either.
      if (tls.clientCaPem === undefined || next.clientCaPem === clientCaPem) return false;
      ({ clientCaPem } = next);
      replacements++;
      return true;
    },
  };
}

function authoritiesOf({ clientCaPem = '' }: TlsMaterial): ReadonlySet<string> {
  return usable(() => fingerprintsOf(clientCaPem));
}

/**
 * What a server shows a client that asks for no name. Node makes such a context without `allowPartialTrustChain` (as of 24), so that it
 * is put where Node keeps it.
 */
function setContext(server: Http2SecureServer, tls: TlsMaterial, pair: KeyPair): void {
  const options = contextOptions(tls, pair);
  server.setSecureContext(options);
  if (tls.clientCaPem !== undefined) Object.assign(server, { _sharedCreds: createSecureContext(options) });
}

function ownContext(tls: TlsMaterial): SecureContext {
  return usable(() => createSecureContext(contextOptions(tls, tls)));
}

interface NamedContext {
  readonly pair: KeyPair;
  readonly context: SecureContext;
}

function contextsOf(tls: TlsMaterial): ServerNames<NamedContext> {
  return usable(() =>
    serverNames(
      (tls.namedPairs ?? []).map((pair) => ({
        value: { pair, context: createSecureContext(contextOptions(tls, pair)) },
        patterns: pair.patterns,
        certPem: pair.certPem,
      })),
    ),
  );
}

/** A client that asks for no name is told by the address it came to, before TLS says its first word. */
function spread(main: Http2SecureServer, byAddress: ReadonlyMap<string, Http2SecureServer>): void {
  const own = main.listeners('connection');
  main.removeAllListeners('connection');
  main.on('connection', (socket: Socket) => {
    const other = byAddress.get(unmappedText(socket.localAddress));
    if (other === undefined) for (const listener of own) listener.call(main, socket);
    else other.emit('connection', socket);
  });
  // The limits of HTTP/1.1 begin to hold with this, for connections that others accept too.
  main.once('listening', () => {
    for (const server of byAddress.values()) server.emit('listening');
  });
  main.once('close', () => {
    for (const server of byAddress.values()) server.close();
  });
}

/** Stands beside suites of TLS 1.3 alone, where nothing older is spoken: without one no level can be written. */
const UNUSED_SUITE = 'ECDHE-ECDSA-AES256-GCM-SHA384';

function contextOptions(
  { clientCaPem, minVersion = 'TLSv1.2', ciphers }: TlsMaterial,
  pair: KeyPair,
): SecureContextOptions {
  const isNewest = ciphers?.older.length === 0;
  const { tls13, older }: CipherChoice = ciphers ?? { tls13: [], older: [DEFAULT_CIPHERS] };
  const suites = [...tls13, ...(isNewest ? [UNUSED_SUITE] : older)].join(':');
  // Below TLS 1.2 signatures are made with SHA-1, which OpenSSL permits on its lowest level only.
  const isOld = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  return {
    key: pair.keyPem,
    cert: pair.certPem,
    minVersion: isNewest ? 'TLSv1.3' : minVersion,
    ciphers: isOld ? `${suites}:@SECLEVEL=0` : atUsualLevel(suites),
    // A resumed session brings the certificate without its chain: nobody could tell who vouches for it.
    ...(clientCaPem === undefined ? {} : { ...believing(clientCaPem), secureOptions: constants.SSL_OP_NO_TICKET }),
  };
}

function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new OrchError('BadConfiguration', `the TLS certificate and key cannot be used together (${String(error)})`);
  }
}
