// The files that a listener's TLS material is made of, and what they hold as that material. Reading them is the caller's.
import { OrchError } from '../../runtime/errors.ts';
import type { KeyPair, TlsMaterial } from '../http.ts';
import { bundleProblem, pairProblem } from './certificates.ts';

export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Absolute paths. Plain data: it crosses threads. */
export interface TlsFiles extends PairFiles {
  readonly named: readonly (PairFiles & { readonly patterns: readonly string[] })[];
  readonly clientCa: readonly string[];
}

/** The files in the order that `materialOf` takes their texts in. */
export function pathsOf({ certFile, keyFile, named, clientCa }: TlsFiles): readonly string[] {
  return [certFile, keyFile, ...named.flatMap((pair) => [pair.certFile, pair.keyFile]), ...clientCa];
}

/**
 * The material of the texts, with the settings of `settings`. Throws BadConfiguration, naming the file, where a pair does not
 * match or a bundle holds no certificates.
 */
export function materialOf(
  files: TlsFiles,
  texts: readonly string[],
  { minVersion, ciphers }: Pick<TlsMaterial, 'minVersion' | 'ciphers'>,
): TlsMaterial {
  const textOf = new Map(pathsOf(files).map((path, index) => [path, texts[index] ?? '']));
  const pairIn = (pair: PairFiles): KeyPair => pairOf(pair, textOf.get(pair.certFile)!, textOf.get(pair.keyFile)!);
  return {
    ...pairIn(files),
    ...(minVersion === undefined ? {} : { minVersion }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(files.named.length === 0
      ? {}
      : { namedPairs: files.named.map((one) => ({ ...pairIn(one), patterns: one.patterns })) }),
    ...(files.clientCa.length === 0
      ? {}
      : { clientCaPem: files.clientCa.map((path) => bundleOf(path, textOf.get(path)!)).join('') }),
  };
}

/** The texts of a certificate and its key. Throws BadConfiguration, naming the files, where they cannot be used together. */
export function pairOf({ certFile, keyFile }: PairFiles, certPem: string, keyPem: string): KeyPair {
  const pair = { certPem, keyPem };
  const problem = pairProblem(pair);
  if (problem === undefined) return pair;
  throw new OrchError('BadConfiguration', `${certFile} and ${keyFile} cannot be used: ${problem}`);
}

/** The text of a bundle of authorities, to be joined with others. Throws BadConfiguration where it is none. */
export function bundleOf(path: string, pem: string): string {
  const problem = bundleProblem(pem);
  if (problem !== undefined) throw new OrchError('BadConfiguration', `${path} ${problem}`);
  return `${pem.trimEnd()}\n`;
}
