// Accept and Content-Type headers against everything an endpoint can offer.

import { parseMediaType } from '../../../transport/media-type.ts';
import {
  isPrettyRequest,
  negotiate,
  type Offer,
  offeredMediaTypes,
  parseAccept,
  type TransformKind,
} from '../../../transport/negotiation.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT } from '../generate/documents.ts';
import { ODD_TEXTS } from '../generate/junk.ts';
import { mutatedText, repetition } from '../generate/mutate-text.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { type Target, Violation } from '../target.ts';

const TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  DIALECT.protobufMediaType,
  '*/*',
  'application/*',
  'text/html',
  'APPLICATION/JSON',
];
const PARAMETERS: readonly string[] = [
  'q=0.5',
  'q=0',
  'q=x',
  'q=1e-9',
  'q=-1',
  'as=Table',
  'as=PartialObjectMetadata',
  'v=v1',
  'v=v1beta1',
  `g=${DIALECT.metaGroup}`,
  'g=meta.k8s.io',
  'stream=watch',
  'pretty=1',
  'sv=x',
  'charset="utf-8"',
  'a="\\";,"',
  'as',
  '=',
];
const PIECES: readonly string[] = [',', ';', '"', '\\', '=', 'q', '/', '*', ' ', '\t', 'q=0.1;', 'a/b,', ...TYPES];
const TRANSFORMS: readonly TransformKind[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

const OFFERS: readonly Offer[] = [false, true].flatMap((isWatch) =>
  [[], TRANSFORMS].map((transforms): Offer => {
    const { protobufMediaType } = DIALECT;
    return { formats: ['json', 'yaml', 'protobuf'], protobufMediaType, transforms, isWatch };
  }),
);

export function acceptText(dice: Dice): string {
  const clauses = Array.from({ length: 1 + dice.small(4) }, () =>
    [dice.pick(TYPES), ...Array.from({ length: dice.small(4) }, () => dice.pick(PARAMETERS))].join(
      dice.pick([';', '; ']),
    ),
  );
  const text = clauses.join(dice.pick([',', ', ']));
  return dice.oneIn(3) ? mutatedText(text, dice, dice.oneIn(4) ? ODD_TEXTS : PIECES) : text;
}

function generate(dice: Dice): Input {
  const accept = dice.oneIn(2000) ? repetition(dice, PIECES, 60_000) : acceptText(dice);
  return { text: { accept, agent: dice.pick(['curl/7', 'kubectl', '', 'Mozilla/5.0 x']) }, body: NO_BYTES };
}

function run({ text: { accept = '', agent = '' } }: Input): void {
  for (const { q } of parseAccept(accept)) if (!(q > 0 && q <= 1)) throw new Violation(`a quality of ${q}`);
  parseMediaType(accept);
  isPrettyRequest(accept, agent);
  for (const offer of OFFERS) {
    const choice = negotiate(accept, offer);
    if (choice === null) continue;
    if (!offer.formats.includes(choice.format)) throw new Violation(`chose ${choice.format}`);
    const offered = offeredMediaTypes(offer).map((type) => type.replace(';stream=watch', ''));
    if (!offered.some((type) => choice.contentType.startsWith(type)))
      throw new Violation(`sends ${choice.contentType}`);
    if (choice.transform !== undefined && !offer.transforms.includes(choice.transform.kind))
      throw new Violation(`shapes into ${choice.transform.kind}`);
  }
}

export const headers: Target = { name: 'headers', weight: 16, generate, run };
