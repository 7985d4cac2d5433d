// How hard tests try that draw their cases: as many as a test says, times ORCH_EFFORT. `npm run properties` sets it, so that what
// is run at every change stays quick.

const FACTOR = factorOf(process.env.ORCH_EFFORT ?? '1');

function factorOf(text: string): number {
  const factor = Number(text);
  if (!(factor > 0)) throw new Error(`ORCH_EFFORT is ${text}, not a number above 0`);
  return factor;
}

/** So many cases, with the effort that was asked for; at least one. */
export function casesOf(count: number): number {
  return Math.max(1, Math.round(count * FACTOR));
}

/** One case in so many of those that could be tried; with more effort more of them. */
export function strideOf(stride: number): number {
  return Math.max(1, Math.round(stride / FACTOR));
}
