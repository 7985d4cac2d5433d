// Lets JSON.stringify write integers that doubles do not hold: those are bigints (api/exact-json.ts), which it refuses of itself.
// For each thread that writes JSON of clients' objects, once, at its start.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Stands for a JSON text that is written as it is. */
type RawJson = (text: string) => object;

let rawJson: RawJson | undefined;

/** Numbers that are bigints are written by their digits from here on. */
export function writeExactIntegers(): void {
  Object.defineProperty(BigInt.prototype, 'toJSON', { value: asRawJson, configurable: true, writable: true });
}

function asRawJson(this: bigint): object {
  rawJson ??= findRawJson();
  return rawJson(this.toString());
}

/** The engine of Node 20 has it behind a flag, which counts for what is made after it was set. */
function findRawJson(): RawJson {
  const known = (JSON as { rawJSON?: RawJson }).rawJSON;
  if (known !== undefined) return known;
  setFlagsFromString('--harmony-json-parse-with-source');
  return runInNewContext('JSON.rawJSON') as RawJson;
}
