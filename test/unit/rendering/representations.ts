// How tests say in which representation an answer goes out.
import type { Representation } from '../../../actors/ingress/reads/representation.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import type { RowType } from '../../../api/table/table.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { valueEncoder } from '../../../rendering/encode-value.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import type { Rendering } from '../../../rendering/rendering.ts';

/** JSON as it is stored, or what `other` says instead. */
export function renderingOf(target: RowType, other: Partial<Rendering> = {}): Rendering {
  return { target, shape: undefined, encoding: 'json', pretty: false, ...other };
}

export function representationOf(rendering: Rendering): Representation {
  const { encoding, pretty } = rendering;
  return {
    encoding,
    pretty,
    contentType: encoding === 'protobuf' ? DIALECTS.orch.protobufMediaType : `application/${encoding}`,
    encode: valueEncoder(encoding, pretty, () => schemaOf(DIALECTS.orch)),
    rendering,
    renderer: new Renderer(rendering, 0),
  };
}
