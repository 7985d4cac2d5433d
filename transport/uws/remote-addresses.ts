// Where connections come from. The binary makes a buffer outside the heap each time it is asked, which costs a short request up to a
// tenth, and does not say which of its requests are of one connection. So it is asked as each connection opens; as long as all that
// are open come from one address, as from a balancer or from this machine, that is every request's, and only else is it asked again.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { ipTextOfBytes } from '../../values/ip.ts';

export class RemoteAddresses {
  #open = 0;
  /** Of all that opened since none was open; undefined: of none, or of several. */
  #common: string | undefined;

  opened(native: NativeResponse): void {
    const address = addressOf(native);
    this.#open++;
    if (this.#open === 1) this.#common = address;
    else if (this.#common !== address) this.#common = undefined;
  }

  closed(): void {
    this.#open--;
  }

  /** Of a request whose connection is open. */
  of(native: NativeResponse): string {
    return this.#common ?? addressOf(native);
  }
}

/** Empty: it is not known. */
function addressOf(native: NativeResponse): string {
  return ipTextOfBytes(new Uint8Array(native.getRemoteAddress()));
}
