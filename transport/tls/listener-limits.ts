// What a listener is asked for that the uws listener cannot do, so that Node's must serve. The one table both listeners and
// the start go by.

import { isChoiceForUws } from '../cipher-suites.ts';
import type { ListenerOptions, TlsMaterial } from '../http.ts';
import { bundleProblem, signedElsewhere } from './certificates.ts';

/** Of the TLS material only what decides. */
type TlsNeeds = Pick<TlsMaterial, 'minVersion' | 'ciphers'> & {
  readonly clientCaPem?: unknown;
  readonly namedPairs?: readonly unknown[];
};

/** What decides which listener can serve. */
export type ListenerNeeds = Pick<ListenerOptions, 'streamsPerConnectionMax' | 'sendsAway'> & {
  readonly tls?: TlsNeeds;
};

/** Why the uws listener cannot serve with this material, if so. */
export function reasonAgainstUws({ minVersion, ciphers, namedPairs = [] }: TlsNeeds): string | undefined {
  if (minVersion === 'TLSv1.3') return 'TLS 1.2 is ruled out';
  if (minVersion === 'TLSv1' || minVersion === 'TLSv1.1') return 'TLS older than 1.2 is asked for';
  if (namedPairs.length > 0) return 'certificates are chosen by name';
  if (ciphers !== undefined && !isChoiceForUws(ciphers)) return 'cipher suites are asked for that it does not offer';
  return undefined;
}

/**
 * Why the uws listener cannot go by these authorities of clients (PEM), if so: of each it looks for the issuer, up to one that has signed
 * itself, and nowhere but here. What cannot be read is refused elsewhere.
 */
export function reasonAgainstAuthorities(clientCaPem: string): string | undefined {
  const alone = bundleProblem(clientCaPem) === undefined ? signedElsewhere(clientCaPem) : undefined;
  return alone === undefined
    ? undefined
    : `the authority of clients ${alone} is signed by another, which is not beside it`;
}

/** Why only Node's listener can serve this, if so. */
export function reasonForNode({ tls, streamsPerConnectionMax, sendsAway }: ListenerNeeds): string | undefined {
  if (tls === undefined) return undefined;
  if (streamsPerConnectionMax !== undefined || sendsAway !== undefined) return 'HTTP/2 is asked for';
  return reasonAgainstUws(tls);
}

/** Why Node's listener serves this unless the other is named: that can as well, and ends the handshakes of clients which this one refuses. */
export function reasonBeforeUws(needs: ListenerNeeds): string | undefined {
  const asksClients = needs.tls?.clientCaPem !== undefined;
  return reasonForNode(needs) ?? (asksClients ? 'client certificates are asked for' : undefined);
}
