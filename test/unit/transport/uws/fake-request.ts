// A request as it arrives on the listener of uws, whose body the test lends piece by piece.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { RemoteAddresses } from '../../../../transport/uws/remote-addresses.ts';
import { UwsRequest } from '../../../../transport/uws/request.ts';
import type { UwsResponse } from '../../../../transport/uws/response.ts';

type Give = (lent: ArrayBuffer, isLast: boolean) => void;

/** `answering`: what the request asks of its response beyond what every one does. */
export function arrivingOnUws(
  headers: readonly (readonly [name: string, value: string])[] = [],
  answering: object = {},
): { readonly request: UwsRequest; readonly give: Give } {
  let give: Give = () => {};
  const native = {
    getUrl: () => '/',
    getQuery: () => '',
    forEach: (each: (name: string, value: string) => void) => {
      for (const [name, value] of headers) each(name, value);
    },
  };
  const nativeResponse = {
    onData: (handler: Give) => {
      give = handler;
    },
  };
  const response = { belongsTo: () => {}, onAborted: () => {}, enterCallback: () => {}, ...answering };
  const request = new UwsRequest(
    'POST',
    native as unknown as NativeRequest,
    nativeResponse as unknown as NativeResponse,
    response as unknown as UwsResponse,
    undefined,
    { addresses: {} as RemoteAddresses, certificates: undefined },
  );
  return { request, give: (lent, isLast) => give(lent, isLast) };
}
