// The head of an answer as the binary takes it: in one call, since each costs as much as a step of ours. It writes what it is given
// for a status behind the protocol's name as it is, and one line end behind that, so that the headers go along.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { HeaderList } from '../http.ts';
import { statusLine } from '../http-status.ts';
import { headOf, keptBeginning } from '../kept-headers.ts';
import { isFramingHeader, safeHeaderValue } from '../response-headers.ts';

/** Status and headers, without those that frame; to be called inside a cork. */
export function writeHead(native: NativeResponse, status: number, headers: HeaderList): void {
  const beginning = keptBeginning(headers);
  native.writeStatus(headOf(status, beginning ?? headers, headText));
  if (beginning === undefined) return;
  for (let i = beginning.length; i < headers.length; i++) {
    const [name, value] = headers[i]!;
    if (!isFramingHeader(name)) native.writeHeader(name, safeHeaderValue(value));
  }
}

/** Of a streamed answer. `saysClosed`: the binary itself says that the connection ends with a listener that stops. */
export function writeStreamHead(
  { native, scope }: { readonly native: NativeResponse; readonly scope: { readonly isStopping: boolean } },
  { status, headers }: { readonly status: number; readonly headers: HeaderList },
  saysClosed: boolean,
): void {
  writeHead(native, status, headers);
  if (scope.isStopping && !saysClosed) native.writeHeader('Connection', 'close');
}

function headText(status: number, headers: HeaderList): string {
  let text = statusLine(status);
  for (const [name, value] of headers) {
    if (!isFramingHeader(name)) text += `\r\n${name}: ${safeHeaderValue(value)}`;
  }
  return text;
}
