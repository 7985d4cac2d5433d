// Reads the file of `--encryption-provider-config`, YAML or JSON.
import { readFileSync } from 'node:fs';
import { ConfigurationError } from '../config/configuration-file.ts';
import type { Dialect } from '../config/dialect.ts';
import { type ResourceEncryption, readEncryptionConfiguration } from '../config/encryption-configuration.ts';
import { OrchError } from '../runtime/errors.ts';
import { parseYaml } from '../transport/yaml/read.ts';

const DEPTH_MAX = 16;

/** What a file says is encrypted and how. Throws OrchError BadConfiguration with one line that never quotes a secret. */
export function readEncryptionFile(path: string, dialect: Dialect): readonly ResourceEncryption[] {
  try {
    return readEncryptionConfiguration(parsed(readFileSync(path, 'utf8')), dialect);
  } catch (error) {
    if (error instanceof ConfigurationError) throw unusable(path, error.message);
    const { code } = error as NodeJS.ErrnoException;
    throw unusable(path, code === undefined ? firstLine(error) : `cannot be read (${code})`);
  }
}

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return parseYaml(text, DEPTH_MAX);
  try {
    return JSON.parse(text);
  } catch {
    // Node's own message quotes the text around the mistake, which may be a key.
    throw new ConfigurationError('', 'is not valid JSON');
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0]!;
}

function unusable(path: string, what: string): OrchError {
  return new OrchError('BadConfiguration', `the encryption configuration ${path}: ${what}`);
}
