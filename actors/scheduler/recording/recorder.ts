// Makes the core of a scheduler that is recorded, and owns the file that its record goes to. A record that cannot be written any more,
// or is full, ends: the scheduler goes on.
import type { Logger } from 'pino';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject, asText } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { BoundedFile } from '../../../storage/files/bounded-file.ts';
import type { SchedulerConfiguration } from '../configuration/configuration.ts';
import { writtenConfiguration } from '../configuration/write-configuration.ts';
import type { CoreOptions } from '../core/core-options.ts';
import { shownAddress } from '../extenders/http-extender.ts';
import { RECORD_FORMAT, type RecordHeader } from './entries.ts';
import { RecordingCore } from './recording-core.ts';

export interface RecordSettings {
  readonly path: string;
  readonly bytesMax: number;
}

const SEEDS = 2 ** 32;

export class Recorder {
  readonly core: RecordingCore;
  readonly #file: BoundedFile;

  /** Throws what the file system says. */
  constructor(
    { path, bytesMax }: RecordSettings,
    options: CoreOptions,
    configuration: SchedulerConfiguration,
    log: Logger,
  ) {
    this.#file = new BoundedFile(path, bytesMax, (reason) =>
      log.warn({ path, reason }, 'the record of scheduling ends'),
    );
    const seed = Math.floor(options.random.next() * SEEDS);
    this.#file.append(JSON.stringify(headerOf(configuration, options.dialect, seed)));
    this.core = new RecordingCore({ ...options, random: new SeededRandom(seed) }, (entry) => {
      this.#file.append(JSON.stringify(entry));
      // A slice begins with it: what the one before has decided can be read by now.
      if (entry.op === 'advance') this.#file.flush();
    });
  }

  close(): void {
    this.#file.close();
  }
}

/** Without its connections, and what it shows to extenders. */
function headerOf(configuration: SchedulerConfiguration, dialect: Dialect, seed: number): RecordHeader {
  const { clientConnection: _, ...written } = writtenConfiguration(configuration, dialect) as JsonObject;
  const extenders = asList(written.extenders).map((extender) => {
    const { tlsConfig: __, urlPrefix, ...rest } = asObject(extender);
    return { ...rest, urlPrefix: shownAddress(asText(urlPrefix)) };
  });
  return {
    schedulingRecord: RECORD_FORMAT,
    dialect: dialect.name,
    seed,
    configuration: { ...written, ...(extenders.length === 0 ? {} : { extenders }) },
    gates: configuration.gates,
  };
}
