// Splits what came back on a connection into answers, strictly: whatever is not HTTP/1.1, or says JSON and is none, is a
// violation.
import { parseChunks } from '../../contract/listener-client.ts';
import { Violation } from '../target.ts';

export interface SocketAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** `open`: a stream that may go on, or one whose end has not arrived. */
  readonly state: 'whole' | 'open';
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5][0-9]{2})(?: [^\r\n]*)?$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*$/;
const HEAD_END = '\r\n\r\n';

/**
 * The answers so far, to requests of these methods; what comes behind them answers what is no request. `isClosed`: nothing
 * more will come. Throws Violation.
 */
export function answersIn(received: Buffer, methods: readonly string[], isClosed: boolean): SocketAnswer[] {
  const answers: SocketAnswer[] = [];
  for (let rest = received; rest.length > 0 && answers.length < methods.length; ) {
    const headEnd = rest.indexOf(HEAD_END);
    if (headEnd < 0) {
      requireHeadBegins(rest);
      return answers;
    }
    const { status, headers } = headOf(rest.subarray(0, headEnd).toString('latin1'));
    const body = rest.subarray(headEnd + HEAD_END.length);
    // From here on the connection speaks another protocol.
    if (status === 101) return [...answers, { status, body, state: 'open' }];
    if (status < 200) {
      rest = body;
      continue;
    }
    const { length, content, state } = bodyOf(body, status, headers, methods[answers.length] ?? '', isClosed);
    const answer = { status, body: content, state };
    requireContent(answer, headers);
    answers.push(answer);
    if (state === 'open') return answers;
    rest = body.subarray(length);
  }
  return answers;
}

function requireHeadBegins(bytes: Buffer): void {
  const start = 'HTTP/1.1 ';
  const text = bytes.subarray(0, start.length).toString('latin1');
  if (!start.startsWith(text))
    throw new Violation(`no HTTP: ${JSON.stringify(bytes.toString('latin1').slice(0, 200))}`);
}

function headOf(head: string): { status: number; headers: ReadonlyMap<string, string> } {
  const [first = '', ...lines] = head.split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Violation(`no status line: ${JSON.stringify(first.slice(0, 200))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    if (!HEADER_LINE.test(line)) throw new Violation(`no header: ${JSON.stringify(line.slice(0, 200))}`);
    headers.set(line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim());
  }
  return { status, headers };
}

interface Body {
  readonly length: number;
  readonly content: Buffer;
  readonly state: 'whole' | 'open';
}

function bodyOf(
  bytes: Buffer,
  status: number,
  headers: ReadonlyMap<string, string>,
  method: string,
  isClosed: boolean,
): Body {
  // A listener's own refusal of bytes further on may come in place of an earlier answer, and ends the connection.
  const isLast = status >= 400 && headers.get('connection') === 'close' && !headers.has('content-length');
  if ((method === 'HEAD' && !isLast) || status === 204 || status === 304)
    return { length: 0, content: bytes.subarray(0, 0), state: 'whole' };
  if (headers.get('transfer-encoding') === 'chunked') {
    const { body, isWhole, length } = parseChunks(bytes);
    return { length, content: body, state: isWhole ? 'whole' : 'open' };
  }
  const length = headers.get('content-length');
  // Without a length the body ends with the connection.
  if (length === undefined) return { length: bytes.length, content: bytes, state: isClosed ? 'whole' : 'open' };
  if (!/^[0-9]+$/.test(length)) throw new Violation(`a length of ${length}`);
  const isWhole = bytes.length >= Number(length);
  return { length: Number(length), content: bytes.subarray(0, Number(length)), state: isWhole ? 'whole' : 'open' };
}

/** Codes that a listener may answer by itself to what is no HTTP, of a proxy to nowhere, and of a server that has no time. */
const FAILURES_ALLOWED: ReadonlySet<number> = new Set([501, 502, 503, 504, 505]);

function requireContent({ status, body, state }: SocketAnswer, headers: ReadonlyMap<string, string>): void {
  const text = body.toString();
  const type = headers.get('content-type') ?? '';
  const isHealthReport = status === 500 && type.startsWith('text/plain');
  if (status >= 500 && !FAILURES_ALLOWED.has(status) && !isHealthReport)
    throw new Violation(`answered ${status}: ${text.slice(0, 300)}`);
  const isPlain = type.startsWith('application/json') && !headers.has('content-encoding');
  if (!isPlain || text.trim() === '' || state === 'open') return;
  if (parses(text)) return;
  // A stream of JSON lines that has ended.
  for (const line of text.split('\n'))
    if (line.trim() !== '' && !parses(line)) throw new Violation(`no JSON: ${JSON.stringify(line.slice(0, 300))}`);
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
