// Continue tokens: whatever a client makes of one is refused, or is the token it was given for the same list.
import { decodeContinueToken, encodeContinueToken } from '../../../actors/hub/lists/continue-token.ts';
import type { Selection } from '../../../actors/hub/protocol.ts';
import type { Dice } from '../generate/dice.ts';
import { ODD_TEXTS } from '../generate/junk.ts';
import { mutatedBytes, mutatedText } from '../generate/mutate-text.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { requireSame, type Target, Violation } from '../target.ts';

const KEY = Buffer.alloc(32, 7);
const SELECTION: Selection = { storageKey: 'core/pods', namespace: 'default', labelSelector: 'a=b', fieldSelector: '' };

function tokenText(real: string, dice: Dice): string {
  switch (dice.below(5)) {
    case 0:
      return real;
    case 1:
      return dice.pick(ODD_TEXTS);
    case 2:
      return mutatedBytes(Buffer.from(real, 'base64url'), dice).toString('base64url');
    default:
      return mutatedText(real, dice);
  }
}

function generate(dice: Dice): Input {
  const after = `${dice.pick(['default', 'é', ''])}/${dice.pick(ODD_TEXTS)}`;
  const revision = dice.pick([0, 1, -1, 2 ** 53 - 1, dice.below(1e9)]);
  const real = encodeContinueToken({ revision, after }, SELECTION, KEY);
  const token = tokenText(real, dice);
  const namespace = dice.oneIn(4) ? dice.pick(ODD_TEXTS) : SELECTION.namespace;
  return { text: { token, namespace, revision: String(revision), after, real }, body: NO_BYTES };
}

function run({ text: { token = '', namespace = '', revision = '', after = '', real = '' } }: Input): void {
  const read = decodeContinueToken(token, { ...SELECTION, namespace }, KEY);
  const isOwn = Buffer.from(token, 'base64url').equals(Buffer.from(real, 'base64url'));
  if (read === undefined) {
    if (isOwn && namespace === SELECTION.namespace) throw new Violation('its own token is refused');
    return;
  }
  if (namespace !== SELECTION.namespace || !isOwn)
    throw new Violation(`a token that was never given is taken: ${token}`);
  requireSame(JSON.stringify([read.revision, read.after]), JSON.stringify([Number(revision), after]), 'a token');
}

export const tokens: Target = { name: 'tokens', weight: 10, generate, run };
