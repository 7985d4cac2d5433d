// Roles that somebody writes who may not escalate: their rules against those that are held.
import { type Grant, grantProblem } from '../../../api/authorization/grant.ts';
import { rulesOf } from '../../../api/authorization/policy-rule.ts';
import { isJsonObject } from '../../../api/json/json-value.ts';
import { decodeJson } from '../../../transport/body.ts';
import type { Dice } from '../generate/dice.ts';
import { junk, ODD_NAMES } from '../generate/junk.ts';
import type { Input } from '../input.ts';
import { accepted, type Target, Violation } from '../target.ts';

const USER = { name: 'u', uid: '', groups: ['g'], extra: {} };
const GRANT: Grant = { verb: 'escalate', resource: 'roles', name: 'r', rules: [], isSum: false };
const WORDS = ['*', 'pods', 'pods/log', '*/log', '*/', '/', 'get', 'apps', '', '/a/*', '/a'];

function texts(dice: Dice, most: number): unknown {
  if (dice.oneIn(40)) return junk(dice);
  const word = (index: number): string =>
    dice.oneIn(3) ? dice.pick(WORDS) : dice.oneIn(10) ? dice.pick(ODD_NAMES) : `w${index}`;
  return Array.from({ length: dice.below(most) }, (_, index) => word(index));
}

function role(dice: Dice): object {
  const most = dice.oneIn(300) ? 60 : 4;
  const rules = Array.from({ length: dice.oneIn(300) ? dice.below(100) : dice.below(6) }, () => ({
    verbs: texts(dice, most),
    ...(dice.oneIn(5) ? { nonResourceURLs: texts(dice, most) } : undefined),
    apiGroups: texts(dice, most),
    resources: texts(dice, most),
    ...(dice.oneIn(3) ? { resourceNames: texts(dice, most) } : undefined),
  }));
  return { rules };
}

function generate(dice: Dice): Input {
  return { text: { held: JSON.stringify(role(dice)) }, body: Buffer.from(JSON.stringify(role(dice))) };
}

function run({ text, body }: Input): void {
  const [held, granted] = [Buffer.from(text.held ?? ''), body].map((bytes) => accepted(() => decodeJson(bytes)));
  if (!isJsonObject(held) || !isJsonObject(granted)) return;
  grantProblem(USER, GRANT, { rules: rulesOf(held), errors: [] }, rulesOf(granted));
  const ofOwn = grantProblem(USER, GRANT, { rules: rulesOf(granted), errors: [] }, rulesOf(granted));
  if (ofOwn !== '' && !ofOwn.startsWith('the rules are too many')) throw new Violation(`not held: ${ofOwn}`);
}

export const grants: Target = { name: 'grants', weight: 1, passes: 2, generate, run };
