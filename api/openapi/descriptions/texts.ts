// How the texts of this folder are written down.
import type { TypeSchema } from '../../schema/schema.ts';

/** `Kind` → what it is; `Kind.field` → what the field is for. Whole sentences, in plain words. */
export type Descriptions = Readonly<Record<string, string>>;

/** The name of a field as the texts have it: with the markers of `Dialect.spell` where the dialect has a brand. */
export function plainName({ dialect }: TypeSchema, name: string): string {
  const { openapiExtensionPrefix, brand, nodeAgent, short } = dialect;
  if (name.startsWith(openapiExtensionPrefix)) return name.replace(brand, '@brand');
  return name.replace(nodeAgent, '@{agent}').replace(short, '@{short}');
}
