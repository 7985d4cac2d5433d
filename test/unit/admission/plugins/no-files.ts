// Settings of plugins that name no other files.
import { ConfigurationError } from '../../../../config/configuration-file.ts';

function missing(path: string): never {
  throw new ConfigurationError('', `${path} is not there`);
}

/** Of a ConfigurationFile: whatever file is asked for is not there. */
export const NO_FILES = { connection: missing, credentials: missing };
