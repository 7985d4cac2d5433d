// What one object costs to read, complete, check and write, in this process alone: no server, no sockets. The floor is a
// bare parse and stringify of the same bytes in the same run; times are CPU time of this thread. The same messages by
// protobufjs stand beside ours.
import { setImmediate } from 'node:timers/promises';
import { decode } from '../../api/codec/decode.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { decodeEnveloped, encodeEnveloped, encodeProtobuf } from '../../api/codec/protobuf.ts';
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { begun, placedNew } from '../../api/metadata/metadata.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import { validateObjectMeta } from '../../api/metadata/object-meta-rules.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { objectValidation } from '../../api/validation/object-validation.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { decodeJson } from '../../transport/body.ts';
import type { Bench, Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import type { LoadResult } from '../load-protocol.ts';
import { BENCH_NAMESPACE, pod } from '../objects.ts';
import { libraryType } from '../protobuf-library.ts';

const BYTES = 1200;
const COUNT = 20_000;
const WARMUP_SHARE = 0.25;
/** What is measured together: long enough for the clock, short enough for percentiles to mean something. */
const ROUND = 100;

const CREATION = {
  namespace: BENCH_NAMESPACE,
  name: '',
  nowIso: '2021-04-08T12:00:00Z',
  uid: 'c2e1f3a4-0000-4000-8000-000000000000',
  randomSuffix: '',
};

export const codec: Workload = {
  name: 'codec',
  summary: 'Decode, default, validate and encode of a pod, in this process; JSON and Protobuf',
  async run(bench, report) {
    const bytes = bench.options.bytes ?? BYTES;
    const count = bench.options.count ?? COUNT;
    const dialect = DIALECTS.orch;
    const registry = createRegistry(dialect);
    const type = registry.byKind('', 'v1', 'Pod')!;
    const schema = schemaOf(dialect);
    const typeSchema = schema.kind('', 'v1', 'Pod')!;
    const validation = objectValidation(schema, { allowPrivileged: false, gate: () => false });
    const body = Buffer.from(pod('bench-{seq}', bytes, { scheduled: true }).replaceAll('{seq}', '00000001'));

    const written = (): string => {
      const { object } = decode(decodeJson(body), typeSchema);
      const complete = placedNew(object, type, CREATION);
      applyDefaults(complete, typeSchema);
      const canonical = decode(begun(complete, type, CREATION), typeSchema).object;
      const ofMetadata = validateObjectMeta(metadataOf(canonical), type, dialect);
      const errors = [...ofMetadata, ...validation.create(canonical, type)];
      if (errors.length > 0) throw new Error(`the bench's pod is not valid: ${JSON.stringify(errors)}`);
      return encodeStored(canonical as JsonObject & { metadata: JsonObject }, 'v1', 'Pod').text;
    };
    const stored = Buffer.from(written());
    const storedObject = JSON.parse(stored.toString()) as JsonObject;
    const envelope = encodeEnveloped(storedObject, typeSchema);
    const message = encodeProtobuf(storedObject, typeSchema);
    const steps: (readonly [name: string, sizeBytes: number, step: () => unknown])[] = [
      ['codec write', body.length, written],
      ['codec to Protobuf', stored.length, () => encodeEnveloped(storedObject, typeSchema)],
      ['codec stored to Protobuf', stored.length, () => encodeEnveloped(JSON.parse(stored.toString()), typeSchema)],
      ['codec from Protobuf', envelope.length, () => decodeEnveloped(envelope, () => typeSchema)],
    ];
    const library = await libraryType('core.v1.Pod');
    if (library !== undefined) {
      const read = library.decode(message);
      if (!message.equals(library.encode(read).finish())) throw new Error('protobufjs writes another message');
      steps.push(['protobufjs to bytes', stored.length, () => library.encode(read).finish()]);
      steps.push(['protobufjs from bytes', envelope.length, () => library.decode(message)]);
    }
    for (const [workload, sizeBytes, step] of steps) {
      const text = sizeBytes === body.length ? body : stored;
      const bare = await measured(bench, count, () => JSON.stringify(JSON.parse(text.toString())));
      const result = await measured(bench, count, step);
      const floor = bench.wantsFloor ? floorFigures('parse, stringify', bare) : undefined;
      const microseconds = ((result.serverCpuSeconds ?? 0) * 1e6) / result.operations;
      const details = { cpuMicrosecondsEach: microseconds, protobufBytes: envelope.length };
      report(figuresOf({ workload, parameters: { bytes: sizeBytes }, unit: 'objects', result, floor, details }));
    }
  },
};

/** Runs a step over and over; the CPU is this process's. Ends with the bench, which hears of signals between rounds. */
async function measured({ children }: Bench, count: number, step: () => unknown): Promise<LoadResult> {
  for (let i = 0; i < count * WARMUP_SHARE; i++) {
    if (i % ROUND === 0) {
      await setImmediate();
      children.checkOpen();
    }
    step();
  }
  const rounds: number[] = [];
  const beforeCpu = process.cpuUsage();
  const beginMs = performance.now();
  for (let done = 0; done < count; done += ROUND) {
    const fromMs = performance.now();
    for (let i = 0; i < ROUND; i++) step();
    rounds.push((performance.now() - fromMs) / ROUND);
    await setImmediate();
    children.checkOpen();
  }
  const seconds = (performance.now() - beginMs) / 1000;
  const { user, system } = process.cpuUsage(beforeCpu);
  rounds.sort((a, b) => a - b);
  return {
    operations: rounds.length * ROUND,
    writes: 0,
    seconds,
    latency: {
      p50Ms: rounds[rounds.length >>> 1] ?? 0,
      p99Ms: rounds[Math.floor(rounds.length * 0.99)] ?? 0,
      maxMs: rounds.at(-1) ?? 0,
    },
    bodyBytes: 0,
    errors: 0,
    serverCpuSeconds: (user + system) / 1e6,
  };
}
