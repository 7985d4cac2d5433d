// Reads profiles as pprof does, by the field numbers of its profile.proto. The library for it is not among those that the server
// needs: a checkout has it.

const schema = `
syntax = "proto3";
message ValueType { int64 type = 1; int64 unit = 2; }
message Label { int64 key = 1; int64 str = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Location { uint64 id = 1; repeated Line line = 4; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated string string_table = 6;
  int64 time_nanos = 9;
  int64 duration_nanos = 10;
  ValueType period_type = 11;
  int64 period = 12;
}`;

interface Decoded {
  readonly sampleType: readonly { readonly type: number; readonly unit: number }[];
  readonly sample: readonly {
    readonly locationId: readonly number[];
    readonly value: readonly number[];
    readonly label: readonly { readonly key: number; readonly str: number }[];
  }[];
  readonly location: readonly {
    readonly id: number;
    readonly line: readonly { readonly functionId: number; readonly line: number }[];
  }[];
  readonly function: readonly { readonly id: number; readonly name: number; readonly filename: number }[];
  readonly stringTable: readonly string[];
  readonly timeNanos: string;
  readonly durationNanos: string;
  readonly periodType: { readonly type: number; readonly unit: number };
  readonly period: number;
}

export interface ReadProfile {
  readonly valueTypes: readonly string[];
  readonly period: string;
  readonly timeNanos: string;
  readonly durationNanos: string;
  readonly samples: readonly {
    /** `function file:line`, the leaf first. */
    readonly stack: readonly string[];
    readonly values: readonly number[];
    readonly thread: string | undefined;
  }[];
}

/** What the bytes of a profile, not compressed any more, say. */
export async function decodePprof(bytes: Uint8Array): Promise<ReadProfile> {
  const library = await import('protobufjs').catch(() => undefined);
  if (library === undefined) throw new Error('a profile is read with the package protobufjs, which is not installed');
  const type = library.default.parse(schema).root.lookupType('Profile');
  const message = type.decode(bytes);
  const numbers = type.toObject(message, { longs: Number, defaults: true }) as Decoded;
  const exact = type.toObject(message, { longs: String, defaults: true }) as Decoded;
  const texts = numbers.stringTable;
  const valueName = ({ type, unit }: { type: number; unit: number }): string => `${texts[type]}/${texts[unit]}`;
  const functions = new Map(numbers.function.map((one) => [one.id, `${texts[one.name]} ${texts[one.filename]}`]));
  const locations = new Map(
    numbers.location.map(({ id, line: [called] }) => [id, `${functions.get(called!.functionId)}:${called!.line}`]),
  );
  return {
    valueTypes: numbers.sampleType.map(valueName),
    period: `${valueName(numbers.periodType)} ${numbers.period}`,
    timeNanos: exact.timeNanos,
    durationNanos: exact.durationNanos,
    samples: numbers.sample.map(({ locationId, value, label }) => ({
      stack: locationId.map((id) => locations.get(id)!),
      values: value,
      thread: texts[label.find(({ key }) => texts[key] === 'thread')?.str ?? 0],
    })),
  };
}
