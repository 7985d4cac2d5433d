// Redirections of a service: to itself alone. Who answers for a service must not have the server ask any other place that it can
// reach, with what it has to show. Pure.
import { TARGET } from './called-address.ts';

/** As often as clients in Go follow before they give up. */
export const REDIRECTIONS_MAX = 9;

/** A code by which a question is asked again as it was. */
const SAME = /^30[78]$/;
/** What is only read is read elsewhere by any of them. */
const READ = /^30[12378]$/;

interface Redirected {
  readonly status: number;
  readonly location: string;
}

/** The target at the same service that the answer to a request there sends its client to; undefined where it sends it to none. */
export function redirectedTo(url: string, method: string, { status, location }: Redirected): string | undefined {
  if (location === '' || !(method === 'GET' ? READ : SAME).test(String(status)) || !URL.canParse(location, url))
    return undefined;
  const { origin, pathname, search } = new URL(location, url);
  const target = pathname + search;
  return origin === new URL(url).origin && TARGET.test(target) ? target : undefined;
}

/** The request, to another target of its service. */
export function anew(request: Buffer, method: string, target: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1`, 'latin1'),
    request.subarray(request.indexOf('\r\n')),
  ]);
}
