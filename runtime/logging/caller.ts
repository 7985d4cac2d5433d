// Where in the source a line is logged: read off the stack, for lines that are written only.
import { inSources } from '../packed-sources.ts';

export interface Caller {
  /** Without its ending: what `--vmodule` names. */
  readonly module: string;
  /** `hub.js`. */
  readonly file: string;
  readonly folder: string;
  readonly line: number;
  /** The stack from there on. */
  readonly stack: string;
}

const NOWHERE: Caller = { module: '', file: '???', folder: '', line: 1, stack: '' };
/** The frames of logging itself: these files' and the library's. */
const OWN = /(?:^|[/\\\s(])runtime[/\\]logging[/\\](?:caller|log)\.[jt]s|(?:^|[/\\\s(])node_modules[/\\]pino[/\\]/;
const FRAME = /([^/\\\s(]*)[/\\]([^/\\]+?)(\.[cm]?[jt]s):(\d+):\d+\)?$/;

/** The first caller outside of logging. */
export function callerOf(): Caller {
  const { stack = '' } = new Error();
  const frames = inSources(stack).split('\n').slice(1);
  const index = frames.findIndex((frame) => !OWN.test(frame));
  const [, folder = '', module = '', ending = '', line] = FRAME.exec(frames[index] ?? '') ?? [];
  if (line === undefined) return NOWHERE;
  return { module, file: module + ending, folder, line: Number(line), stack: frames.slice(index).join('\n') };
}
