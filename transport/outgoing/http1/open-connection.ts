// How a connection to a service is opened: over TCP or TLS, straight or through a proxy. It is handed over once it stands and the
// service has shown who it is. Keeps the sessions of TLS by which the next one is quicker. What connections of a thread read goes
// through one buffer: a turn is over before the next bytes come, and a buffer for each read would be made and freed by the system.
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { keep } from '../../../values/kept.ts';
import { believing } from '../../tls/certificates.ts';
import { USUAL_SUITES } from '../../tls/usual-suites.ts';
import type { Pems, ServiceConnection } from '../connection-file.ts';
import type { ConnectionSecretsParts } from '../connection-secrets.ts';
import { openTunnel } from '../egress.ts';
import { watchForNames } from '../nameless-peers.ts';
import { sharedLookup } from '../shared-lookup.ts';

const SESSIONS_MAX = 100;
const PROBE_MS = 15_000;

/** Where a connection leads. */
export interface Place {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The name its certificate must be for; empty: the host. */
  readonly serverName: string;
  readonly lookup?: LookupFunction;
}

/** A connection that stands. */
export interface Standing {
  readonly socket: Socket;
  /** Nothing has been read before. Bytes lie where the next ones will: who keeps them copies them. */
  onBytes(take: (bytes: Buffer) => void): void;
}

type Opened = (error: Error | undefined, standing: Standing | undefined) => void;

const READ_BYTES = 64 * 1024;
const READ = Buffer.allocUnsafeSlow(READ_BYTES);

/** Who is told of what a socket reads into the common buffer. */
class Reads {
  take: ((bytes: Buffer) => void) | undefined;

  /** As the options of sockets have it. */
  readonly onread = {
    buffer: READ,
    callback: (bytesRead: number): boolean => {
      this.take?.(READ.subarray(0, bytesRead));
      return true;
    },
  };
}

export class ConnectionOpener {
  readonly #isTls: boolean;
  readonly #connection: Pick<ServiceConnection, 'insecure' | 'way'>;
  readonly #pems: Pems;
  readonly #told: Pick<ConnectionSecretsParts, 'onDial' | 'onNameless'>;
  readonly #sessions = new Map<string, Buffer>();
  #context: SecureContext | undefined;

  constructor(
    connection: Pick<ServiceConnection, 'url' | 'insecure' | 'way'>,
    pems: Pems,
    told: Pick<ConnectionSecretsParts, 'onDial' | 'onNameless'> = {},
  ) {
    this.#told = told;
    this.#isTls = connection.url.startsWith('https:');
    this.#connection = connection;
    this.#pems = pems;
  }

  /**
   * Opens a connection and answers once, unless what is returned is called before: that gives it up. Throws where the material
   * of TLS cannot be used.
   */
  open(place: Place, opened: Opened): () => void {
    const { way } = this.#connection;
    if (this.#isTls) this.#context ??= contextOf(this.#pems);
    if (way === undefined) return this.#begin(place, undefined, opened);
    let isGivenUp = false;
    let giveUp = openTunnel(
      way,
      place,
      (error, tunnel) => {
        if (isGivenUp) return;
        if (tunnel === undefined) opened(error ?? new Error('no tunnel'), undefined);
        else giveUp = this.#begin(place, tunnel, opened);
      },
      this.#told.onDial,
    );
    return () => {
      isGivenUp = true;
      giveUp();
    };
  }

  #begin(place: Place, tunnel: Socket | undefined, opened: Opened): () => void {
    // Sockets over a tunnel have buffers of their own.
    const reads = tunnel === undefined ? new Reads() : undefined;
    const options = { ...placeOptions(place), ...(reads && { onread: reads.onread }) };
    const socket = this.#isTls ? this.#beginTls(place, options, tunnel) : (tunnel ?? connectPlain(options));
    const settle = (error: Error | undefined): void => {
      socket.off('error', settle).off('close', onClose).off(event, onStanding);
      if (error === undefined) opened(undefined, standing(socket, reads));
      else {
        socket.on('error', () => {}).destroy();
        opened(error, undefined);
      }
    };
    const onClose = (): void => settle(new Error('closed before it stood'));
    const onStanding = (): void => {
      socket.setNoDelay(true).setKeepAlive(true, PROBE_MS);
      settle(undefined);
    };
    const event = this.#isTls ? 'secureConnect' : 'connect';
    socket.on('error', settle).on('close', onClose);
    if (this.#isTls || socket.connecting) socket.on(event, onStanding);
    else process.nextTick(onStanding);
    return () => {
      socket.off('error', settle).off('close', onClose).off(event, onStanding);
      socket.on('error', () => {}).destroy();
    };
  }

  #beginTls(place: Place, options: PlaceOptions, tunnel: Socket | undefined): Socket {
    const { host, port } = place;
    const serverName = place.serverName || (isIP(host) === 0 ? host : '');
    const key = `${serverName} ${host} ${port}`;
    const session = this.#sessions.get(key);
    const socket = connectTls({
      ...(tunnel === undefined ? options : { host, port, socket: tunnel }),
      ...(serverName === '' ? undefined : { servername: serverName }),
      ...(session === undefined ? undefined : { session }),
      secureContext: this.#context!,
      rejectUnauthorized: !this.#connection.insecure,
      ALPNProtocols: ['http/1.1'],
    });
    const { onNameless } = this.#told;
    if (onNameless !== undefined) watchForNames(socket, onNameless);
    socket.on('session', (fresh) => {
      keep(this.#sessions, SESSIONS_MAX, key, fresh);
    });
    socket.on('error', () => this.#sessions.delete(key));
    return socket;
  }
}

function standing(socket: Socket, reads: Reads | undefined): Standing {
  return {
    socket,
    onBytes(take) {
      if (reads === undefined) socket.on('data', take);
      else reads.take = take;
    },
  };
}

interface PlaceOptions {
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
  readonly onread?: Reads['onread'];
}

function placeOptions({ host, port, lookup = sharedLookup }: Place): PlaceOptions {
  return { host, port, lookup };
}

function contextOf({ caPem, certPem, keyPem }: Pems): SecureContext {
  return createSecureContext({
    ciphers: USUAL_SUITES,
    ...(caPem === '' ? undefined : believing(caPem)),
    ...(certPem === '' ? undefined : { cert: certPem, key: keyPem }),
  });
}
