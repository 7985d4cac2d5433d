// What a listener that closes waits for: that its clients take what they were answered. Bounded, since a client may never read.

/** How long clients have for it where nothing is said, and how often is looked. */
const TAKEN_MS_MAX = 5_000;
const LOOK_EACH_MS = 5;

/** Resolves when nothing is outstanding any more, or when the time is over. `outstanding`: answers and sessions that are not taken whole. */
export async function lastAnswersTaken(outstanding: () => number, takenMsMax = TAKEN_MS_MAX): Promise<void> {
  for (let waitedMs = 0; outstanding() > 0 && waitedMs < takenMsMax; waitedMs += LOOK_EACH_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EACH_MS));
}
