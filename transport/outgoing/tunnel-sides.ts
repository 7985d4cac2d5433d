// Two connections joined to one: what each side says is passed to the other, and the end of one is the end of the other.
import type { Duplex } from 'node:stream';

/** When one side is over, and the other says nothing for so long and takes nothing of what is left for it, it is cut off. */
const SILENCE_MS = 30_000;

/** Looks again and again whether there is silence, until what it returns is called. */
type Looks = (look: () => void) => () => void;

const nowAndThen: Looks = (look) => {
  const timer = setInterval(look, SILENCE_MS).unref();
  return () => clearInterval(timer);
};

/** Resolves when both are closed. `open` has those that are not, for whoever ends them all. */
export async function joinSides(client: Duplex, backend: Duplex, open: Set<Duplex>, looks = nowAndThen): Promise<void> {
  const closed = [closedSide(client, backend, open, looks), closedSide(backend, client, open, looks)];
  client.pipe(backend);
  backend.pipe(client);
  await Promise.all(closed);
}

function closedSide(side: Duplex, other: Duplex, open: Set<Duplex>, looks: Looks): Promise<void> {
  open.add(side);
  side.on('error', () => {});
  // A side that has said everything still hears the other out.
  side.allowHalfOpen = true;
  side.once('end', () => cutOffInSilence(side, other, looks));
  return new Promise((resolve) => {
    side.once('close', () => {
      open.delete(side);
      // With everything that was said, where this one came to its end by itself.
      if (side.readableEnded) {
        // Nobody hears what the other says any more. Its end is to be seen all the same.
        other.unpipe(side).resume();
        other.end();
      } else other.destroy();
      resolve();
    });
  });
}

/**
 * Who has said everything may be gone altogether, and the other one hang: it would keep both connections for as long as it does. So it is
 * heard out as long as it speaks, or takes what it was sent.
 */
function cutOffInSilence(ended: Duplex, other: Duplex, looks: Looks): void {
  // Whether this one takes what is left for it is looked at since the other one ended.
  if (other.closed) return;
  let hasSpoken = false;
  other.on('data', () => {
    hasSpoken = true;
  });
  let left = other.writableLength;
  const stop = looks(() => {
    if ((hasSpoken && !ended.closed) || other.writableLength < left) {
      hasSpoken = false;
      left = other.writableLength;
      return;
    }
    ended.destroy();
    other.destroy();
  });
  other.once('close', stop);
}
