// The renderings that the pool makes, as they run in its thread: jobs.ts says what for.
import { type JobOutput, PieceWriter } from '../runtime/jobs/job-pieces.ts';
import { mapSlab } from '../storage/records/slab-record.ts';
import type { ListInput, ValueInput } from './jobs.ts';
import { listPieces } from './list-pieces.ts';
import { Renderer } from './renderer.ts';
import { valuePieces } from './value-pieces.ts';

interface Call<Input> {
  readonly input: Input;
  readonly output: JobOutput;
}

export async function renderList({ input, output }: Call<ListInput>): Promise<void> {
  const { envelope, places, slabs, areWhole, rendering, nowMs } = input;
  const items = { places, slabs: slabs.map(mapSlab), areWhole };
  await new PieceWriter(output).writeAll(listPieces(envelope, items, new Renderer(rendering, nowMs)));
}

export async function renderValue({ input, output }: Call<ValueInput>): Promise<void> {
  const { json, rendering, nowMs, isRendered } = input;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  await new PieceWriter(output).writeAll(valuePieces(bytes, new Renderer(rendering, nowMs), isRendered));
}
